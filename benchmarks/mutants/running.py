"""One mutant, one process: forked from this one, which has all libraries loaded already.

The child puts the mutated source before Python's own import of that one module and runs the tests
that are named for it; no file of the checkout is touched. It may spend five times the processor
time that the tests need on the original, and ten seconds; a mutant that runs beyond it is killed
by the clock, and counts as killed. Properties are tried with fewer examples than in the suite, the
same ones each time, and are not shrunk: that there is a counterexample is all that is asked.
"""

import gc
import importlib
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

import pytest

from benchmarks.mutants.modules import MODULES
from benchmarks.mutants.mutants import ROOT, Mutant, to_module_name

OUR_OWN = frozenset(
    {
        "api",
        "benchmarks",
        "pipelines",
        "sandbox",
        "warehouse",
        "tests",
        "conftest",
        "__main__",
        "__mp_main__",
    }
)
FAILED = frozenset({1, 2, 3, 4})  # a test, a module of tests, pytest itself, a conftest
NOT_LOADED, NO_PROCESS = 90, 91
MEMORY = 4 << 30  # a loop that never ends must not take the machine with it
EXAMPLES = 40
PYTEST = (
    "-x", "-q", "--assert=plain", "--no-header",
    "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist",
    "-W", "ignore::pytest.PytestAssertRewriteWarning",
)  # fmt: skip


@dataclass(frozen=True)
class Ending:
    """How the tests of a mutant ended, and the processor time that they took."""

    mutant: Mutant | None
    code: int
    spent_s: float
    said: str

    @property
    def outcome(self) -> str:
        """What it means; `broken`: the gate itself failed, so nothing is known."""
        if self.code in FAILED:
            return "killed"
        if self.code == 0:
            return "survived"
        return "timeout" if self.code < 0 else "broken"


class _Given(SourceFileLoader):
    """Compiles a source that is given, under the path of the module."""

    def __init__(self, path: str, source: str) -> None:
        super().__init__(to_module_name(path), str(ROOT / path))
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._source, self.path, "exec", dont_inherit=True)


class _Swap(MetaPathFinder):
    """First of all finders: whoever imports the one module gets the source that is given."""

    def __init__(self, path: str, source: str) -> None:
        self.loader = _Given(path, source)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.loader.name:
            return None
        return spec_from_file_location(fullname, self.loader.path, loader=self.loader)

    @property
    def was_asked(self) -> bool:
        """Whether the module in use is the one given here."""
        module = sys.modules.get(self.loader.name)
        return module is not None and module.__loader__ is self.loader


class _Quick:
    """Plain tests first: most mutants die of them, and properties cost the most."""

    def pytest_configure(self) -> None:
        from hypothesis import Phase, settings  # noqa: PLC0415 -- after the suite's own profile

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile(
            "mutants", database=None, derandomize=True, max_examples=EXAMPLES, phases=phases
        )
        settings.load_profile("mutants")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: hasattr(getattr(item, "function", None), "hypothesis"))


@dataclass
class _Child:
    mutant: Mutant | None
    pid: int
    home: Path
    ends_at: float


class Runner:
    """Runs tests in forked children, so many at a time."""

    def __init__(self, *, children: int) -> None:
        self._children = children
        self._home = Path(tempfile.mkdtemp(prefix="mutants-"))

    def close(self) -> None:
        shutil.rmtree(self._home, ignore_errors=True)

    def original(self, path: str) -> Ending:
        """The tests of a module as it is; loads here what libraries they needed."""
        child = self._start(path, None, cpu_s=600)
        ending = next(self._ended([child]))
        libraries = child.home / "libraries"
        for name in libraries.read_text().split() if libraries.exists() else ():
            with suppress(Exception):  # what cannot be loaded early is loaded late
                importlib.import_module(name)
        gc.freeze()  # a child need not go through them when it cleans up
        return ending

    def endings(self, mutants: Sequence[Mutant], *, cpu_s: float) -> Iterator[Ending]:
        """The ending of each mutant of one module, as they come."""
        running: list[_Child] = []
        for mutant in mutants:
            if len(running) == self._children:
                yield next(self._ended(running))
            running.append(self._start(mutant.path, mutant, cpu_s=cpu_s))
        while running:
            yield next(self._ended(running))

    def _start(self, path: str, mutant: Mutant | None, *, cpu_s: float) -> _Child:
        home = Path(tempfile.mkdtemp(dir=self._home))
        pid = os.fork()
        if pid == 0:
            os._exit(_run(path, mutant, home, cpu_s=cpu_s))
        # a processor shared with others gives less than its time; a wait without end takes none
        return _Child(mutant, pid, home, time.monotonic() + 60 + 10 * cpu_s)

    def _ended(self, running: list[_Child]) -> Iterator[Ending]:
        while running:
            for child in running:
                pid, status, usage = os.wait4(child.pid, os.WNOHANG)
                if pid == 0 and time.monotonic() > child.ends_at:
                    os.killpg(child.pid, signal.SIGKILL)
                if pid == 0:
                    continue
                running.remove(child)
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)  # what its tests left behind
                said = (child.home / "said").read_text(errors="replace")
                spent = usage.ru_utime + usage.ru_stime
                yield Ending(child.mutant, os.waitstatus_to_exitcode(status), spent, said)
                break
            else:
                time.sleep(0.02)


def _run(path: str, mutant: Mutant | None, home: Path, *, cpu_s: float) -> int:
    try:
        os.setsid()
        said = os.open(home / "said", os.O_WRONLY | os.O_CREAT)
        os.dup2(said, 1)
        os.dup2(said, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_s) + 1, int(cpu_s) + 2))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        source = (ROOT / path).read_text(encoding="utf-8") if mutant is None else mutant.source
        swap = _Swap(path, source)
        sys.meta_path.insert(0, swap)
        tests = [str(ROOT / test) for test in MODULES[path]]
        code = int(pytest.main([*PYTEST, f"--basetemp={home / 'tmp'}", *tests], [_Quick()]))
        if code == 0 and not swap.was_asked:
            return NOT_LOADED
        (home / "libraries").write_text("\n".join(_libraries()))
        sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001 -- a child ends here, whatever happened
        os.write(2, repr(error).encode())
        return NO_PROCESS
    return code


def _libraries() -> list[str]:
    return [
        name
        for name, module in sys.modules.items()
        if name.split(".")[0] not in OUR_OWN and not name.startswith("test_")
        and getattr(module, "__spec__", None) is not None
    ]  # fmt: skip
