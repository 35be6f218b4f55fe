"""Watches which branches of the product run in a process, and in those forked from it.

SlipCover stops watching a line once it has run, so it costs some percent of the time, where tracing
costs twice the time. Each process writes a file that `tests.coverage_floor` reads. Who is watched:
`tests.measured`.
"""

import ast
import atexit
import hashlib
import marshal
import os
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, NoReturn

import orjson
from slipcover import Slipcover
from slipcover.branch import decode_branch, is_branch, preinstrument

if TYPE_CHECKING:
    from slipcover.schemas import CoverageFile

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "coverage"
COMPILED = ROOT / "build" / "coverage-code"
PACKAGES = ("api", "pipelines", "sandbox", "warehouse")
PRODUCT = [str(ROOT / name) for name in PACKAGES]
EXCLUDED = [
    r"^ +\.\.\.$",  # the body of a Protocol's method
    r"if __name__ == .__main__.:",
    r"@_(fast_)?loop$",  # compiled: no interpreter sees its lines
]
INTO = "MEASURED_INTO"
"""The environment variable that names the folder to a child; `measured_children` reads it."""
_TAKEN: dict[str, set[int]] = defaultdict(set)
"""Lines that have run in this process, and branches as SlipCover numbers them, by file."""


def all_places(folders: Sequence[str]) -> "dict[str, CoverageFile]":
    """Return the lines and branches of all modules in these folders, all as missing."""
    measure = Slipcover(branch=True, source=[*folders], exclude_also=EXCLUDED)
    _note_lines()  # what runs in this process is reported to `measure` until here
    modules: dict[str, CoverageFile] = measure.get_coverage()["files"]
    return modules


def watch(folder: Path) -> None:
    """Watch this process from now on, and those forked from it; each writes a file at its end."""
    sys.monitoring.use_tool_id(sys.monitoring.COVERAGE_ID, "SlipCover")
    _note_lines()
    sys.meta_path.insert(0, _Finder())
    atexit.register(write, folder)
    exit_at_once = os._exit

    def write_and_exit(status: int) -> NoReturn:
        write(folder)
        exit_at_once(status)

    os._exit = write_and_exit  # how a forked process ends


def _note_lines() -> None:
    sys.monitoring.register_callback(
        sys.monitoring.COVERAGE_ID, sys.monitoring.events.LINE, _note_line
    )


def _note_line(code: CodeType, line: int) -> object:
    _TAKEN[code.co_filename].add(line)
    return sys.monitoring.DISABLE


class _Finder(MetaPathFinder):
    """Finds the modules of the product; all others are left to the finders that follow."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in PACKAGES:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(fullname, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    """Loads a module whose lines and branches report that they run.

    SlipCover's own loader parses each module in each process, which takes seconds, and lists its
    lines, which `tests.coverage_floor` does once.
    """

    def get_code(self, fullname: str) -> CodeType:
        code = _compiled(self.path, self.get_data(self.path))
        _report_lines(code)
        return code


def _compiled(path: str, source: bytes) -> CodeType:
    """Return the code with its branches marked as lines, compiled once for all processes."""
    digest = hashlib.sha256(b"\0".join((sys.version.encode(), path.encode(), source)))
    kept = COMPILED / digest.hexdigest()
    if kept.exists():
        code: CodeType = marshal.loads(kept.read_bytes())
        return code
    code = compile(preinstrument(ast.parse(source)), path, "exec")
    COMPILED.mkdir(parents=True, exist_ok=True)
    new = kept.with_suffix(f".{os.getpid()}")
    new.write_bytes(marshal.dumps(code))
    new.replace(kept)
    return code


def _report_lines(code: CodeType) -> None:
    sys.monitoring.set_local_events(sys.monitoring.COVERAGE_ID, code, sys.monitoring.events.LINE)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            _report_lines(inner)


def write(folder: Path) -> None:
    """Write the lines and branches that have run, by file."""
    taken = {name: sorted(map(_as_text, seen)) for name, seen in _TAKEN.items()}
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{os.getpid()}-{time.monotonic_ns()}.json"
    part = file.with_suffix(".part")  # a process that is killed here leaves no half file
    part.write_bytes(orjson.dumps(taken))
    part.replace(file)


def _as_text(place: int) -> str:
    """A line as `12`, a branch from a line to another as `12>15`."""
    if not is_branch(place):
        return str(place)
    start, end = decode_branch(place)
    return f"{start}>{end}"
