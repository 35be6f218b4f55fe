"""Logging of every process: one JSON object per line on stderr; stdout is left to results."""

import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from typing import BinaryIO, cast

import orjson
import structlog
from structlog.typing import EventDict, Processor

WRITE_INTERVAL_S = 0.05


def configure_logging(
    *, quiet: bool = False, into: "BinaryIO | BufferedLogWriter | None" = None
) -> None:
    """Configure structlog. JSON escaping contains hostile text; no secret is ever bound.

    Args:
        quiet: Log nothing.
        into: Binary file-like object (`write`, `flush`) that receives the lines instead of stderr.
    """
    processors: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        _add_time,
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(serializer=orjson.dumps),
    ]
    least = logging.CRITICAL if quiet else logging.INFO
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.BytesLoggerFactory(cast("BinaryIO", into or _stderr())),
    )


def _stderr() -> BinaryIO:
    """Return the binary stream of stderr; Celery and notebooks put a stream without one there."""
    found = getattr(sys.stderr, "buffer", None) or getattr(sys.__stderr__, "buffer", None)
    return found or open(2, "wb", buffering=0, closefd=False)


class BufferedLogWriter:
    """Buffers log lines and writes them shortly after, in order, from its own thread.

    A thread that serves requests thus never waits for a disk or terminal. `close` writes the rest.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lines: deque[bytes] = deque()
        self._news = threading.Event()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    def write(self, line: bytes) -> int:
        """Buffer a line."""
        self._lines.append(line)
        if not self._news.is_set():
            self._news.set()
        return len(line)

    def note(self, line: dict[str, object]) -> None:
        """Buffer a line of level `info`, bypassing the processors of structlog for speed."""
        self.write(orjson.dumps(_add_time(None, "info", {**line, "level": "info"})) + b"\n")

    def flush(self) -> None:
        """Do nothing: the thread writes soon."""

    def close(self) -> None:
        """Write all buffered lines and stop the thread."""
        self._is_over.set()
        self._news.set()
        self._thread.join()
        self._write()

    def _run(self) -> None:
        while not self._is_over.is_set():
            self._news.wait()
            self._is_over.wait(WRITE_INTERVAL_S)  # lines that arrive meanwhile are written together
            self._news.clear()
            self._write()

    def _write(self) -> None:
        lines = [self._lines.popleft() for _ in range(len(self._lines))]
        if lines:
            self._stream.write(b"".join(lines))
            self._stream.flush()


@contextmanager
def buffered_logging() -> Iterator[BufferedLogWriter]:
    """Log through `BufferedLogWriter` inside this block; all lines are written when it exits."""
    lines = BufferedLogWriter(sys.stderr.buffer)
    configure_logging(into=lines)
    try:
        yield lines
    finally:
        configure_logging()
        lines.close()


def _add_time(_logger: object, _method: str, event: EventDict) -> EventDict:
    now = time.time()
    second = int(now)
    event["timestamp"] = f"{_to_the_second(second)}.{int((now - second) * 1_000_000):06}Z"
    return event


@lru_cache(maxsize=4)
def _to_the_second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
