"""The decoder pool: warm child processes that decode files and measure their features.

The children are plain subprocesses, not `multiprocessing` children: the pool also runs in daemonic
processes, which may not start any, and in those of a fork server, which would start another server.
And they get no secret of the environment. A child that crashes, hangs or exceeds its memory limit
fails its own file, not the pool. Not here: decoding itself (`decoder_process.py`, `decoding.py`).
"""

import asyncio
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Self

from pipelines import ONE_THREAD_VARIABLES
from pipelines.audio.decode.limits import DecodeLimits
from pipelines.audio.decode.replies import FRAME, DecoderReply, Task
from pipelines.audio.features.sounds import (
    MeasuredSound,
    NotComparable,
    SoundMeasurement,
    library_version,
    unpack_features,
)
from warehouse.input_files import file_problem

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

    def __init__(self, limits: DecodeLimits, clock: Monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._is_ready = False
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
            env=_child_environment(),
        )

    def wait_until_ready(self) -> None:
        """Wait for the child's ready message on first use."""
        if not self._is_ready:
            self._read_message(self._clock() + _START_S)
            self._is_ready = True

    def ask(self, path: Path, task: Task, stretch: TimeRange | None) -> tuple[DecoderReply, bytes]:
        """Send one request and wait for the reply: packed features, or an encoded excerpt.

        Raises:
            TimeoutError: The file exceeded its wall-clock limit.
            _ChildGoneError: The child died.
        """
        order = {"path": os.fspath(path.absolute()), "task": task, "stretch": stretch}
        request = json.dumps(order).encode() + b"\n"
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(request)
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

    def _read_message(self, deadline: float) -> tuple[DecoderReply, bytes]:
        head_size, packed_size = FRAME.unpack(self._read(FRAME.size, deadline))
        # A child parses files of strangers, so its replies are not trusted either.
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
            left = deadline - self._clock()
            if left <= 0 or not poll.poll(1000 * left):
                raise TimeoutError
            piece = os.read(descriptor, size - len(received))
            if not piece:
                raise _ChildGoneError
            received += piece
        return bytes(received)


class DecoderPool:
    """Decodes and measures files in `workers` child processes. Use it as a context manager.

    A child starts with the first file that needs it, or with `start`: 40 MB each that an idle
    process does not hold.

    Args:
        workers: Number of child processes; each has one thread.
        limits: Resource limits per file.
        clock: Monotonic clock for the timeouts.
    """

    def __init__(
        self, workers: int, *, limits: DecodeLimits | None = None, clock: Monotonic = time.monotonic
    ) -> None:
        self._limits = limits or DecodeLimits()
        self._clock = clock
        self._workers = workers
        self._mine = threading.local()
        self._children: set[_DecoderChild] = set()
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._together: threading.Barrier | None = None

    def __enter__(self) -> Self:
        self._executor = ThreadPoolExecutor(self._workers, thread_name_prefix="listening")
        return self

    def __exit__(self, *_exc: object) -> None:
        executor = self._threads
        # The threads wait for their children: they can be joined once those are killed.
        executor.shutdown(wait=False, cancel_futures=True)
        if self._together is not None:
            self._together.abort()
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
        self._together = threading.Barrier(self._workers)
        threads = self._threads
        return [
            threads.submit(self._start_with_others, self._together) for _ in range(self._workers)
        ]

    async def measure(self, path: Path) -> SoundMeasurement:
        """Measure one file. An undecodable file gives `NotComparable`.

        Raises:
            OSError: No child can be started.
        """
        return await _awaited(self.submit(path))

    def submit(self, path: Path) -> Future[SoundMeasurement]:
        """Measure one file from code without an event loop."""
        return self._threads.submit(self._measure, path)

    async def cut(self, path: Path, *, start_s: float, duration_s: float) -> bytes | None:
        """Return an excerpt of a file as MP3, or None if it cannot be decoded."""
        return await _awaited(self.submit_cut(path, start_s, duration_s))

    def submit_cut(self, path: Path, start_s: float, duration_s: float) -> Future[bytes | None]:
        """Cut an excerpt as `cut` does, from code without an event loop."""
        return self._threads.submit(self._cut, path, (start_s, duration_s))

    def _cut(self, path: Path, stretch: TimeRange) -> bytes | None:
        answer, encoded = self._asked(path, "cut", stretch)
        return None if "reason" in answer else encoded

    def _start_with_others(self, together: threading.Barrier) -> None:
        try:
            self._own_child()
        finally:
            together.wait()

    def _own_child(self) -> _DecoderChild:
        """Return the child of this thread; start one if it has none.

        The parent-death signal follows the thread that starts a child, not the process.
        """
        child: _DecoderChild | None = getattr(self._mine, "child", None)
        if child is None:
            child = self._mine.child = _DecoderChild(self._limits, self._clock)
            with self._lock:
                self._children.add(child)
        return child

    def _drop_child(self) -> None:
        """End this thread's child; the next file that needs one starts another."""
        child: _DecoderChild = self._mine.child
        self._mine.child = None
        with self._lock:
            self._children.discard(child)
        child.stop()

    def _measure(self, path: Path) -> SoundMeasurement:
        return _to_sound(*self._asked(path, "measure"))

    def _asked(
        self, path: Path, task: Task, stretch: TimeRange | None = None
    ) -> tuple[DecoderReply, bytes]:
        """Return the child's reply; a child that is gone or too slow is dropped."""
        problem = file_problem(path)
        if problem is not None:
            return DecoderReply(sha256=None, reason=problem.reason), b""
        try:
            return self._ready_child().ask(path, task, stretch)
        except TimeoutError:
            reason = "decoder_timed_out"
        except _ChildGoneError:
            reason = "decoder_crashed"
        self._drop_child()
        return DecoderReply(sha256=None, reason=reason), b""

    def _ready_child(self) -> _DecoderChild:
        """Return this thread's child; replace one that died while idle, so no file is blamed."""
        if self._own_child().process.poll() is not None:
            self._drop_child()
        child = self._own_child()
        child.wait_until_ready()
        return child


def _awaited[T](future: Future[T]) -> Awaitable[T]:
    return asyncio.wrap_future(future)


def _to_sound(answer: DecoderReply, packed: bytes) -> SoundMeasurement:
    if "reason" in answer:
        return NotComparable(sha256=answer["sha256"], reason=answer["reason"])
    sha256 = answer["sha256"]
    assert sha256 is not None, "a measured file has a hash"
    return MeasuredSound(
        sha256=sha256,
        features=unpack_features(packed),
        duration_s=answer["duration_s"],
        sample_rate_hz=answer["sample_rate_hz"],
        codec=answer["codec"],
        library_version=library_version(),
        cpu_ms=answer["cpu_ms"],
    )


def _child_environment() -> dict[str, str]:
    """Pass on only what a child needs: the process that parses untrusted files sees no secret."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in _INHERITED_VARIABLES or name.startswith("PYTHON")
    }
    return kept | dict.fromkeys(ONE_THREAD_VARIABLES, "1")
