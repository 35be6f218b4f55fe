"""Logging of every process: one JSON object per line on stderr; stdout is left to results.

Each line has `time`, `level`, `logger` and `message`, then what it is about (`job_id`, …); an
exception is the field `exception`. Of paths only what follows the folder of the installation or of
the data is kept.
"""

import json
import logging
import os
import re
import sys
import sysconfig
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Protocol, cast, override

import orjson
import structlog
from structlog.typing import EventDict, Processor

WRITE_INTERVAL_S = 0.05
FIELDS = "fields"
"""Attribute of a record of `logging` with what its line is about."""
_KEYS = ("time", "level", "logger", "message")
_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
_DAGSTER_RECORD = re.compile(
    rb"[0-9-]{10} [0-9:]{8} [+-][0-9]{4} - (?P<logger>dagster[\w.-]*) - (?P<level>[A-Z]+) - "
)
_STATED_FAILURE = "dagster._core.definitions.events.Failure: "
"""A reason that a user reads, for whom a traceback says nothing."""
_TRACEBACK = "Traceback (most recent call last):"


class LineWriter(Protocol):
    """What takes whole lines."""

    def write(self, line: bytes, /) -> object: ...
    def flush(self) -> None: ...


class _Lines:
    """What structlog writes to: a stream, and the name of the module that logs."""

    def __init__(self, stream: LineWriter, name: str) -> None:
        self._stream, self.name = stream, name

    def msg(self, line: bytes) -> None:
        """Write a line. A log that nobody reads any more ends no program."""
        write_line(self._stream, line)

    debug = info = warning = error = exception = critical = fatal = warn = msg


class _LineHandler(logging.Handler):
    """Writes what libraries log as lines like ours."""

    def __init__(self, stream: LineWriter) -> None:
        super().__init__()
        self._stream = stream

    @override
    def emit(self, record: logging.LogRecord) -> None:
        write_line(self._stream, _record_line(record))


def configure_logging(*, quiet: bool = False, into: LineWriter | None = None) -> None:
    """Configure structlog. JSON escaping contains hostile text; no secret is ever bound.

    Args:
        quiet: Log nothing.
        into: Binary file-like object (`write`, `flush`) that receives the lines instead of stderr.
    """
    stream = into or cast("LineWriter", _stderr())
    processors: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.format_exc_info,
        structlog.processors.EventRenamer("message"),
        _add_time,
        _to_line,
    ]
    least = logging.CRITICAL if quiet else logging.INFO
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=lambda *names: _Lines(stream, names[0] if names else "sametrack"),
    )


def configure_process_logging(*, into: LineWriter | None = None) -> None:
    """Log all that this process says as JSON lines: warnings, libraries, uncaught errors too.

    For services, workers and runs, not for commands, whose reader is a person.
    """
    configure_logging(into=into)
    handler = _LineHandler(into or cast("LineWriter", _stderr()))
    root = logging.getLogger()
    for before in [one for one in root.handlers if isinstance(one, _LineHandler)]:
        root.removeHandler(before)
    root.addHandler(handler)
    for name in ("dagster", "dagit", "dagster-webserver"):  # its daemon has handlers of its own
        logging.getLogger(name).handlers.clear()
    logging.captureWarnings(True)
    sys.excepthook = _log_uncaught
    threading.excepthook = lambda args: _log_uncaught(
        args.exc_type, args.exc_value, args.exc_traceback
    )
    sys.unraisablehook = lambda args: _log_uncaught(
        args.exc_type, args.exc_value, args.exc_traceback
    )


def to_log_lines(text: bytes, *, logger: str) -> Iterator[bytes]:
    """Convert the output of a program to JSON lines: what is none yet is wrapped in one.

    Neighbouring lines of text, such as those of a traceback, become one object; so does each record
    of Dagster's programs, and of runs that are launched from its UI.
    """
    plain: list[str] = []
    for raw in _COLOUR.sub(b"", text).splitlines():
        is_line = _is_log_line(raw)
        if is_line or _DAGSTER_RECORD.match(raw):
            yield from _wrapped(plain, logger)
            plain = []
        if is_line:
            yield raw + b"\n"
        elif raw.strip():
            plain.append(raw.decode("utf-8", "replace"))
    yield from _wrapped(plain, logger)


def to_plain_text(lines: Iterable[str]) -> Iterator[str]:
    """Convert log lines to what a person reads in a terminal."""
    for line in lines:
        if not _is_log_line(line.encode("utf-8", "replace")):
            yield line
            continue
        entry = orjson.loads(line)
        rest = {name: value for name, value in entry.items() if name not in {*_KEYS, "exception"}}
        about = " ".join(f"{name}={value}" for name, value in rest.items())
        yield f"{entry['message']} {about}".rstrip()
        yield from str(entry.get("exception") or "").splitlines()


def write_line(stream: LineWriter, line: bytes) -> None:
    """Write a line in one piece, unless nobody reads the stream any more."""
    try:
        stream.write(line + b"\n")
        stream.flush()
    except (OSError, ValueError):  # a closed pipe, a closed file
        return


def _wrapped(plain: list[str], logger: str) -> Iterator[bytes]:
    if not plain:
        return
    text = "\n".join(plain)
    record = _DAGSTER_RECORD.match(plain[0].encode())
    message, _, trace = text.partition("Stack Trace:\n")
    level = "info"
    if record:
        level, logger = record["level"].decode().lower(), record["logger"].decode()
        message = message[record.end() :]
    elif _TRACEBACK in text:
        message, trace, level = plain[-1], text, "error"
    entry: dict[str, object] = {"level": level, "logger": logger, "message": message.strip()}
    if trace and _STATED_FAILURE not in message:
        entry["exception"] = trace
    yield _to_line(None, "", _add_time(None, "", entry)) + b"\n"


def _is_log_line(raw: bytes) -> bool:
    if not raw.startswith(b"{"):
        return False
    try:
        entry = orjson.loads(raw)
    except ValueError:
        return False
    return isinstance(entry, dict) and entry.keys() >= set(_KEYS)


def _record_line(record: logging.LogRecord) -> bytes:
    entry: EventDict = {
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": record.getMessage(),
        **structlog.contextvars.get_contextvars(),
        **getattr(record, FIELDS, {}),
    }
    if record.exc_info:
        entry["exc_info"] = record.exc_info
    entry = structlog.processors.format_exc_info(None, record.levelname, entry)
    return _to_line(None, "", _add_time(None, "", entry))


def _log_uncaught(
    kind: type[BaseException], error: BaseException | None, trace: TracebackType | None
) -> None:
    if issubclass(kind, KeyboardInterrupt | SystemExit):
        return
    exc_info = (kind, error or kind(), trace)
    logging.getLogger("uncaught").error("%s: %s", kind.__name__, error, exc_info=exc_info)


def _to_line(_logger: object, _method: str, entry: EventDict) -> bytes:
    """Return the line without its end, what every line has first."""
    entry = {**{name: entry[name] for name in _KEYS if name in entry}, **entry}
    try:
        line = orjson.dumps(entry, default=repr, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:  # a lone surrogate, or a number of more than 64 bits
        line = json.dumps(entry, default=repr, ensure_ascii=False).encode("utf-8", "replace")
    return _local_paths().sub(b"", line)


@cache
def _local_paths() -> re.Pattern[bytes]:
    """Return what to cut from paths: where packages, the project and the data are."""
    places = {*sys.path, *sysconfig.get_paths().values(), sys.prefix, sys.base_prefix}
    places |= {str(Path(__file__).parents[1]), str(Path.cwd()), os.environ.get("DATA_HOME", "")}
    places |= {str(Path(place).resolve()) for place in places if place} | {str(Path.home())}
    named = sorted((place.rstrip("/") for place in places if place.count("/") > 1), key=len)
    longest_first = "|".join(re.escape(place) for place in reversed(named))
    return re.compile(rf"(?<![\w./-])(?:{longest_first})/".encode())


def _stderr() -> BinaryIO:
    """Return the binary stream of stderr; Celery and notebooks put a stream without one there."""
    buffer = getattr(sys.stderr, "buffer", None) or getattr(sys.__stderr__, "buffer", None)
    return buffer or open(2, "wb", buffering=0, closefd=False)


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
        """Buffer a line about `line["event"]`, bypassing the processors of structlog for speed."""
        about = {"level": "info", "logger": "requests", "message": line.get("event")}
        rest = {name: value for name, value in line.items() if name != "event"}
        self.write(orjson.dumps(_add_time(None, "info", about | rest)) + b"\n")

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
    configure_process_logging(into=lines)
    try:
        yield lines
    finally:
        configure_process_logging()
        lines.close()


def _add_time(_logger: object, _method: str, event: EventDict) -> EventDict:
    now = time.time()
    second = int(now)
    moment = f"{_to_the_second(second)}.{int((now - second) * 1_000_000):06}Z"
    return {"time": moment, **event}


@lru_cache(maxsize=4)
def _to_the_second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
