"""What a process has in use: what was allocated and is not freed.

Memory by share (PSS) holds also what allocators keep for the next request, which at rest varies by
tens of megabytes. A growth of a megabyte an hour is seen only in what is in use. Started as
`python -m tests.load.in_use SOCKET …`, this runs `sametrack …` and tells whoever connects to the
Unix socket what is in use after a collection of garbage, and after the engine has opened its
database anew, as it does whenever the database keeps the footers of 500 files that are gone: up to
then they are 30 MB more, or less.
"""

import ctypes
import gc
import os
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any
from unittest.mock import patch
from weakref import WeakSet

import _duckdb
import pyarrow as pa

from api.cli.main import main
from warehouse.engine.duckdb_engine import Engine

WITH_ALL_IN_ONE_HEAP = {"PYTHONMALLOC": "malloc"}
"""Python's objects are in the heap of the C library, which says what is in use."""
MB = 1024.0**2
_ENGINES: WeakSet[Engine] = WeakSet()


class _MallocInfo(ctypes.Structure):
    """glibc's `struct mallinfo2`."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd",
            "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class InUse:
    """The command lines of `sametrack` that tell what they have in use at sockets in a folder."""

    folder: Path

    def __call__(self, command: str, *arguments: str) -> list[str]:
        place = _socket(self.folder, command)
        variables = [f"{name}={value}" for name, value in WITH_ALL_IN_ONE_HEAP.items()]
        module = [sys.executable, "-m", "tests.load.in_use", str(place)]
        return ["env", *variables, *module, command, *arguments]


def read_in_use_mb(folder: Path, command: str) -> float:
    """Ask a command that was started so, in megabytes."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(_socket(folder, command)))
        return int(line.makefile("rb").read()) / MB


def _socket(folder: Path, command: str) -> Path:
    return folder / f"{command}.socket"


def in_use_bytes() -> int:
    """Heap of the C library, heap of DuckDB, and Arrow's pool."""
    for engine in _ENGINES:
        with engine._listing:
            engine._reopen()
    gc.collect()
    return _heap_bytes() + _database_bytes() + int(pa.total_allocated_bytes())


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


def _remember_engines() -> None:
    begin = Engine.__init__

    def begin_and_remember(engine: Engine, *arguments: Any, **options: Any) -> None:
        begin(engine, *arguments, **options)
        _ENGINES.add(engine)

    patch.object(Engine, "__init__", begin_and_remember).start()


def _answer_always(listener: socket.socket, look: Callable[[], int]) -> None:
    while True:
        line, _ = listener.accept()
        with line:
            line.sendall(b"%d" % look())


if __name__ == "__main__":
    for name in WITH_ALL_IN_ONE_HEAP:
        os.environ.pop(name)  # what this process starts is as users have it
    _remember_engines()
    place, *arguments = sys.argv[1:]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place)
    listener.listen()
    Thread(target=_answer_always, args=(listener, in_use_bytes), daemon=True).start()
    sys.argv = ["sametrack", *arguments]
    main()
