"""The decoder pool: warm child processes that decode files and measure their features.

The children are plain subprocesses, not `multiprocessing` children: the pool also runs in daemonic
processes, which may not start any, and in those of a fork server, which would start another server.
The children see no secret of the environment. If a child crashes, hangs or exceeds its memory
limit, its own file fails, not the pool. Not here: decoding itself (`decoder_process.py`).
"""

import asyncio
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Self

from pipelines import ONE_THREAD_VARIABLES
from pipelines.audio.decode import protocol
from pipelines.audio.features import sounds
from warehouse.files import file_problem

_START_S = 60.0
_MAX_REPLY_BYTES = 64 << 20
_INHERITED_VARIABLES = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "VIRTUAL_ENV",
)

type TimeRange = tuple[float, float]
type Monotonic = Callable[[], float]
"""A clock in seconds from an arbitrary origin, like `time.monotonic`."""


class _ChildGoneError(Exception):
    """The child process closed its pipe or sent a malformed message."""


class _DecoderChild:
    """One decoder child process, used only by the thread that started it."""

    def __init__(self, limits: protocol.DecodeLimits, clock: Monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._is_ready = False
        # This process parses untrusted files, so it gets only the variables that it needs.
        environment = {
            name: value
            for name, value in os.environ.items()
            if name in _INHERITED_VARIABLES or name.startswith("PYTHON")
        }
        self.process = subprocess.Popen(  # noqa: S603 - our own module, our own arguments
            [
                sys.executable,
                "-m",
                "pipelines.audio.decode.decoder_process",
                str(os.getpid()),
                limits.to_json(),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment | dict.fromkeys(ONE_THREAD_VARIABLES, "1"),
        )

    def wait_until_ready(self) -> None:
        """Wait for the child's ready message on first use."""
        if not self._is_ready:
            self._read_message(self._clock() + _START_S)
            self._is_ready = True

    def request(
        self, path: Path, task: protocol.Task, stretch: TimeRange | None
    ) -> tuple[protocol.DecoderReply, bytes]:
        """Send one request and wait for the reply: packed features, or an encoded excerpt.

        Raises:
            TimeoutError: The file exceeded its wall-clock limit.
            _ChildGoneError: The child died.
        """
        request = protocol.DecoderRequest(
            path=os.fspath(path.absolute()), task=task, stretch=stretch and list(stretch)
        )
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except OSError as exc:
            raise _ChildGoneError from exc
        return self._read_message(self._clock() + self._limits.wall_s)

    def stop(self) -> None:
        """Kill the child and close its pipes."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except OSError:
                continue  # flushing bytes that the dead child never read fails; nothing to save

    def _read_message(self, deadline: float) -> tuple[protocol.DecoderReply, bytes]:
        head_size, packed_size = protocol.FRAME.unpack(self._read(protocol.FRAME.size, deadline))
        # A child parses untrusted files, so its replies are not trusted either.
        if head_size + packed_size > _MAX_REPLY_BYTES:
            raise _ChildGoneError
        head = self._read(head_size, deadline)
        return json.loads(head), self._read(packed_size, deadline)

    def _read(self, size: int, deadline: float) -> bytes:
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        # `select.select` cannot watch descriptors above 1023.
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        received = bytearray()
        while len(received) < size:
            remaining_s = deadline - self._clock()
            if remaining_s <= 0 or not poll.poll(1000 * remaining_s):
                raise TimeoutError
            chunk = os.read(descriptor, size - len(received))
            if not chunk:
                raise _ChildGoneError
            received += chunk
        return bytes(received)


class DecoderPool:
    """Decodes and measures files in `workers` child processes. Use it as a context manager.

    A child starts with the first file that needs it, or with `start`, so that an idle process does
    not hold 40 MB for each of them.

    Args:
        workers: Number of child processes; each has one thread.
        limits: Resource limits per file.
        clock: Monotonic clock for the timeouts.
    """

    def __init__(
        self,
        workers: int,
        *,
        limits: protocol.DecodeLimits | None = None,
        clock: Monotonic = time.monotonic,
    ) -> None:
        self._limits = limits or protocol.DecodeLimits()
        self._clock = clock
        self._workers = workers
        self._of_thread = threading.local()
        self._children: set[_DecoderChild] = set()
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._barrier: threading.Barrier | None = None

    def __enter__(self) -> Self:
        self._executor = ThreadPoolExecutor(self._workers, thread_name_prefix="decoding")
        return self

    def __exit__(self, *_exc: object) -> None:
        executor = self._threads
        # The threads wait for their children: they can be joined once those are killed.
        executor.shutdown(wait=False, cancel_futures=True)
        if self._barrier is not None:
            self._barrier.abort()
        with self._lock:
            for child in self._children:
                child.process.kill()
        executor.shutdown(wait=True)
        for child in self._children:
            child.stop()
        self._children.clear()
        self._executor = None

    @property
    def _threads(self) -> ThreadPoolExecutor:
        assert self._executor is not None, "enter the pool before use"
        return self._executor

    def start(self) -> list[Future[None]]:
        """Start all children before the first file needs one.

        A future ends when its child runs, with `OSError` if it cannot be started.
        """
        # An executor starts a thread only if no other is idle: the barrier keeps all of them busy.
        barrier = self._barrier = threading.Barrier(self._workers)

        def start_child() -> None:
            try:
                self._own_child()
            finally:
                barrier.wait()

        return [self._threads.submit(start_child) for _ in range(self._workers)]

    async def measure(self, path: Path) -> sounds.SoundMeasurement:
        """Measure one file. An undecodable file gives `NotComparable`.

        Raises:
            OSError: No child can be started.
        """
        return await asyncio.wrap_future(self.submit(path))

    def submit(self, path: Path) -> Future[sounds.SoundMeasurement]:
        """Measure one file from code without an event loop."""
        return self._threads.submit(self._measure, path)

    async def cut(self, path: Path, *, start_s: float, duration_s: float) -> bytes | None:
        """Return an excerpt of a file as MP3, or None if it cannot be decoded."""
        return await asyncio.wrap_future(self.submit_cut(path, start_s, duration_s))

    def submit_cut(self, path: Path, start_s: float, duration_s: float) -> Future[bytes | None]:
        """Cut an excerpt as `cut` does, from code without an event loop."""
        return self._threads.submit(self._cut, path, (start_s, duration_s))

    def _measure(self, path: Path) -> sounds.SoundMeasurement:
        reply, packed = self._request(path, "measure")
        if "reason" in reply:
            return sounds.NotComparable(sha256=reply["sha256"], reason=reply["reason"])
        sha256 = reply["sha256"]
        assert sha256 is not None, "a measured file has a hash"
        return sounds.MeasuredSound(
            sha256=sha256,
            features=sounds.unpack_features(packed),
            duration_s=reply["duration_s"],
            sample_rate_hz=reply["sample_rate_hz"],
            codec=reply["codec"],
            library_version=sounds.library_version(),
            cpu_ms=reply["cpu_ms"],
        )

    def _cut(self, path: Path, stretch: TimeRange) -> bytes | None:
        reply, encoded = self._request(path, "cut", stretch)
        return None if "reason" in reply else encoded

    def _request(
        self, path: Path, task: protocol.Task, stretch: TimeRange | None = None
    ) -> tuple[protocol.DecoderReply, bytes]:
        """Return the reply of this thread's child; a child that is gone or too slow is dropped."""
        problem = file_problem(path)
        if problem is not None:
            return protocol.DecoderReply(sha256=None, reason=problem.reason), b""
        # A child that died while it was idle is replaced, so that no file is blamed.
        if self._own_child().process.poll() is not None:
            self._drop_child()
        try:
            child = self._own_child()
            child.wait_until_ready()
            return child.request(path, task, stretch)
        except TimeoutError:
            reason = "decoder_timed_out"
        except _ChildGoneError:
            reason = "decoder_crashed"
        self._drop_child()
        return protocol.DecoderReply(sha256=None, reason=reason), b""

    def _own_child(self) -> _DecoderChild:
        """Return the child of this thread; start one if it has none.

        Each thread has its own child, because the parent-death signal follows the thread that
        starts a child, not the process.
        """
        child: _DecoderChild | None = getattr(self._of_thread, "child", None)
        if child is None:
            child = self._of_thread.child = _DecoderChild(self._limits, self._clock)
            with self._lock:
                self._children.add(child)
        return child

    def _drop_child(self) -> None:
        """End this thread's child; the next file that needs one starts another."""
        child: _DecoderChild = self._of_thread.child
        self._of_thread.child = None
        with self._lock:
            self._children.discard(child)
        child.stop()
