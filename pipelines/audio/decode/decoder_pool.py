"""The listening pool: warm children that turn files into sounds, and that may die safely.

The children are plain subprocesses, not multiprocessing children, because the pool also lives
inside worker processes that are daemonic and may have none. A child that crashes, hangs or eats
too much costs its file, not the pool. Not here: decoding (`listener.py`, `decoding.py`).
"""

import asyncio
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from pipelines.audio.decode.decoder_process import FRAME, Answer
from pipelines.audio.decode.limits import DecodeLimits
from pipelines.audio.features.sounds import Heard, NotComparable, Sound, unpack_features

_START_S = 60.0
_LARGEST_ANSWER = 64 << 20
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_KEPT_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}
"""A child measures one sound like the other: memory that it keeps costs a quarter less time than
memory that it gives back and is given again, page by page."""

type Stretch = tuple[float, float]
type Monotonic = Callable[[], float]
"""Seconds since some moment, like `time.monotonic`."""


class _ChildGoneError(Exception):
    """The child closed its pipe or broke the protocol."""


class _Child:
    """One listening child. Used by one thread, the one that started it."""

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
        """Read the child's greeting once."""
        if not self._is_ready:
            self._read_message(self._clock() + _START_S)
            self._is_ready = True

    def ask(self, path: Path, cut: Stretch | None = None) -> tuple[Answer, bytes]:
        """Send one path and wait for the answer: features, or the stretch that is to be cut.

        Raises:
            TimeoutError: The wall time of one file is over.
            _ChildGoneError: The child died.
        """
        order = {"path": os.fspath(path.absolute()), "cut": cut}
        request = json.dumps(order).encode() + b"\n"
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(request)
            self.process.stdin.flush()
        except OSError as exc:
            raise _ChildGoneError from exc
        return self._read_message(self._clock() + self._limits.wall_s)

    def stop(self) -> None:
        """End the child at once and free its pipes."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except OSError:
                continue  # bytes that a dead child never read

    def _read_message(self, deadline: float) -> tuple[Answer, bytes]:
        head_size, packed_size = FRAME.unpack(self._read(FRAME.size, deadline))
        if head_size + packed_size > _LARGEST_ANSWER:
            raise _ChildGoneError
        head = self._read(head_size, deadline)
        return json.loads(head), self._read(packed_size, deadline)

    def _read(self, size: int, deadline: float) -> bytes:
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
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


class ListeningPool:
    """Listens to files in `workers` child processes. Use it as a context manager.

    Args:
        workers: Children, each with one thread.
        limits: What one file may cost.
        clock: Tells when the time of a file is over.
    """

    def __init__(
        self, workers: int, *, limits: DecodeLimits | None = None, clock: Monotonic = time.monotonic
    ) -> None:
        self._limits = limits or DecodeLimits()
        self._clock = clock
        self._workers = workers
        self._mine = threading.local()
        self._children: set[_Child] = set()
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        # a child is tied to the life of the thread that starts it: that must be a pool's thread
        self._executor = ThreadPoolExecutor(
            self._workers, thread_name_prefix="listening", initializer=self._start_child
        )
        together = threading.Barrier(self._workers + 1)
        for _ in range(self._workers):
            self._executor.submit(together.wait)
        together.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._executor is not None
        self._executor.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            for child in self._children:
                child.process.kill()
        self._executor.shutdown(wait=True)
        for child in self._children:
            child.stop()
        self._children.clear()
        self._executor = None

    @property
    def child_pids(self) -> list[int]:
        """Process ids of the children alive."""
        with self._lock:
            return [child.process.pid for child in self._children]

    async def measure(self, path: Path) -> Heard:
        """Listen to one file. A file that cannot be compared is an answer, never an error."""
        return await asyncio.wrap_future(self.submit(path))

    async def measure_many(self, paths: Iterable[Path]) -> list[Heard]:
        """Listen to many files at once; answers are in the order of the paths."""
        return list(await asyncio.gather(*(self.measure(path) for path in paths)))

    def submit(self, path: Path) -> Future[Heard]:
        """Listen to one file from code that has no event loop."""
        assert self._executor is not None, "the pool is entered first"
        return self._executor.submit(self._measure, path)

    async def cut(self, path: Path, *, start_s: float, duration_s: float) -> bytes | None:
        """A stretch of a file as MP3; None when it cannot be decoded."""
        assert self._executor is not None, "the pool is entered first"
        future = self._executor.submit(self._cut, path, (start_s, duration_s))
        return await asyncio.wrap_future(future)

    def _cut(self, path: Path, stretch: Stretch) -> bytes | None:
        try:
            answer, encoded = self._ready_child().ask(path, stretch)
        except (TimeoutError, _ChildGoneError):
            self._replace_child()
            return None
        return None if "reason" in answer else encoded

    def _start_child(self) -> None:
        child = _Child(self._limits, self._clock)
        self._mine.child = child
        with self._lock:
            self._children.add(child)

    def _replace_child(self) -> None:
        child: _Child = self._mine.child
        with self._lock:
            self._children.discard(child)
        child.stop()
        self._start_child()

    def _measure(self, path: Path) -> Heard:
        try:
            answer, packed = self._ready_child().ask(path)
        except TimeoutError:
            self._replace_child()
            return NotComparable(sha256=None, reason="decoder_timed_out")
        except _ChildGoneError:
            self._replace_child()
            return NotComparable(sha256=None, reason="decoder_crashed")
        return _heard(answer, packed)

    def _ready_child(self) -> _Child:
        """The child of this thread; one that died while idle is replaced: no file is to blame."""
        if self._mine.child.process.poll() is not None:
            self._replace_child()
        child: _Child = self._mine.child
        child.wait_until_ready()
        return child


def _heard(answer: Answer, packed: bytes) -> Heard:
    if "reason" in answer:
        return NotComparable(sha256=answer["sha256"], reason=answer["reason"])
    sha256 = answer["sha256"]
    assert sha256 is not None, "what was heard was hashed"
    return Sound(
        sha256=sha256,
        features=unpack_features(packed),
        duration_s=answer["duration_s"],
        sample_rate_hz=answer["sample_rate_hz"],
        codec=answer["codec"],
        library_version=answer["library_version"],
        cpu_ms=answer["cpu_ms"],
    )


def _child_environment() -> dict[str, str]:
    """Only what a child needs: no token or cookie reaches the process that reads foreign files."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in _PASSED_ON or name.startswith("PYTHON")
    }
    return kept | dict.fromkeys(_ONE_THREAD, "1") | _KEPT_MEMORY
