"""What a process has in use: what was allocated and is not freed.

Memory by share (PSS) holds also what allocators keep for the next request, which at rest varies by
tens of megabytes. A growth of a megabyte an hour is seen only in what is in use. Started as `python
-m benchmarks.load.in_use SOCKET …`, this runs `sametrack …` and tells whoever connects to the Unix
socket what is in use once all bounded caches are empty and the garbage is collected. Full, they
differ from one rest to the next: by 30 to 40 MB with the footers that the database keeps, by some
megabytes with the results and responses of jobs, with the pages of SQLite that each pooled
connection keeps, and with compiled statements.
"""

import ctypes
import gc
import math
import os
import socket
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from threading import Lock, Thread
from typing import Any, NamedTuple
from unittest.mock import patch
from weakref import WeakSet

import _duckdb
import pyarrow as pa
import sqlalchemy

from api.cli.main import main
from api.server.response_cache import ResponseCache
from api.services.job_document import JobResponses
from pipelines.scan.service.service import ResultCache
from warehouse.engine.duckdb_engine import Engine

WITH_ALL_IN_ONE_HEAP = {
    "PYTHONMALLOC": "malloc",
    "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0",
}
"""Python's objects are in the heap of the C library, which says what is in use. Its threads keep no
freed chunks to themselves, which it would count as in use: up to 0.2 MB each."""
MB = 1024.0**2
READINGS = 5
PAUSE_S = 1.0
_CACHES: WeakSet[Any] = WeakSet()
"""All objects of `_EMPTY` in this process."""
_MADE_OR_READ = Lock()


class InUse(NamedTuple):
    """What a process has in use, in megabytes.

    `own_mb`: the heap of the C library, with Python's objects, and Arrow's pool. `database_mb`:
    DuckDB's heap, which differs by up to 3 MB each time that the database is opened anew.
    """

    own_mb: float
    database_mb: float


class _MallocInfo(ctypes.Structure):
    """glibc's `struct mallinfo2`."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd",
            "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip


def measured_command(folder: Path, command: str, *arguments: str) -> list[str]:
    """Return a command line of `sametrack` that tells what it has in use, at a socket."""
    variables = [f"{name}={value}" for name, value in WITH_ALL_IN_ONE_HEAP.items()]
    module = [sys.executable, "-m", "benchmarks.load.in_use", str(_socket(folder, command))]
    return ["env", *variables, *module, command, *arguments]


def read_in_use_mb(folder: Path, command: str) -> InUse:
    """Ask a command that was started so, in megabytes.

    The least of several readings, a second apart: a thread that is at work, such as one that lists
    files, has something in use for a moment.
    """
    readings = []
    for _ in range(READINGS):
        readings.append(_ask(_socket(folder, command)))
        time.sleep(PAUSE_S)
    return min(readings)


def _ask(place: Path) -> InUse:
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(place))
        own, database = line.makefile("rb").read().split()
        return InUse(float(own), float(database))


def _socket(folder: Path, command: str) -> Path:
    return folder / f"{command}.socket"


def can_tell() -> bool:
    """Whether the C library (glibc from 2.33 on) and DuckDB's heap say what is in use."""
    libraries = {None: "mallinfo2", _duckdb.__file__: "duckdb_je_mallctl"}
    return all(hasattr(ctypes.CDLL(file), name) for file, name in libraries.items())


def in_use() -> InUse:
    """What this process has in use; not a number where no library can tell."""
    if not can_tell():
        return InUse(math.nan, math.nan)
    _empty_caches()
    gc.collect()  # after the list of caches is gone: it would keep what nothing else refers to
    own = _heap_bytes() + int(pa.total_allocated_bytes())
    return InUse(own / MB, _database_bytes() / MB)


def _empty_caches() -> None:
    with _MADE_OR_READ:
        caches = list(_CACHES)
    for cache in caches:
        _EMPTY[type(cache)](cache)


def _heap_bytes() -> int:
    read = ctypes.CDLL(None).mallinfo2
    read.restype = _MallocInfo
    found = read()
    return int(found.uordblks + found.hblkhd)


def _database_bytes() -> int:
    control = ctypes.CDLL(_duckdb.__file__).duckdb_je_mallctl
    epoch, found, size = ctypes.c_uint64(1), ctypes.c_size_t(0), ctypes.c_size_t(8)
    nothing = ctypes.c_size_t(0)
    control(b"epoch", None, None, ctypes.byref(epoch), size)
    failed = control(
        b"stats.allocated", ctypes.byref(found), ctypes.byref(size), None, nothing
    )  # fmt: skip
    if failed:
        raise OSError(failed, "DuckDB's heap does not say what is in use")
    return found.value


def _forget_files(engine: Engine) -> None:
    """Open the database anew, as it does whenever it keeps too many footers."""
    with engine._listing:
        engine._reopen()


def _forget_responses(cache: ResponseCache) -> None:
    cache._entries.clear()
    cache._size = 0


def _forget_pages_and_statements(engine: sqlalchemy.Engine) -> None:
    engine.dispose()
    engine.clear_compiled_cache()


_EMPTY: dict[type[Any], Callable[[Any], None]] = {
    Engine: _forget_files,
    ResponseCache: _forget_responses,
    JobResponses: lambda cache: cache._kept.clear(),
    ResultCache: lambda cache: cache._kept.clear(),
    sqlalchemy.Engine: _forget_pages_and_statements,
}


def _remember_caches() -> None:
    for kind in _EMPTY:
        patch.object(kind, "__init__", _remembering(kind.__init__)).start()


def _remembering(begin: Callable[..., None]) -> Callable[..., None]:
    def begin_and_remember(cache: object, *arguments: Any, **options: Any) -> None:
        begin(cache, *arguments, **options)
        remember(cache)

    return begin_and_remember


def remember(cache: object) -> None:
    """Empty a cache before each reading, as long as something else refers to it."""
    with _MADE_OR_READ:
        _CACHES.add(cache)


def _answer_always(listener: socket.socket) -> None:
    while True:
        line, _ = listener.accept()
        with line:
            found = _read_once()
            line.sendall(f"{found.own_mb} {found.database_mb}".encode())


def _read_once() -> InUse:
    """What is in use; more than all other readings if a store was closed meanwhile."""
    try:
        return in_use()
    except Exception:  # noqa: BLE001  # whatever it is: another reading tells, or all say why
        traceback.print_exc()
        return InUse(math.inf, math.inf)


if __name__ == "__main__":
    for name in WITH_ALL_IN_ONE_HEAP:
        os.environ.pop(name)  # what this process starts is as users have it
    _remember_caches()
    place, *arguments = sys.argv[1:]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place)
    listener.listen()
    Thread(target=_answer_always, args=(listener,), daemon=True).start()
    sys.argv = ["sametrack", *arguments]
    main()
