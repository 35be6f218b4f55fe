"""What the tests reach of the product: measured in their processes, put together and judged."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import coverage_floor
from tests.branch_coverage import INTO, PRODUCT, ROOT, all_places
from tests.coverage_floor import Reach, reached, together, unexplained

pytestmark = pytest.mark.soak  # `make coverage` is run by hand

MODULE = "warehouse/files.py"
FOLDER = [str(ROOT / "warehouse")]
PROGRAM = """
import os, sys
from pathlib import Path
from tests.branch_coverage import all_places
all_places(sys.argv[2:])  # takes no watch over
from warehouse.files import folder_problem
if os.fork() == 0:
    folder_problem(Path(sys.argv[1]))
    os._exit(0)
os.wait()
"""


def module(branches_run: int, branches: int) -> Reach:
    return Reach(lines=4, branches=branches, lines_run=3, branches_run=branches_run)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, list[str]]]:
    """What a watched program, and a process forked from it, have written."""
    folder = tmp_path_factory.mktemp("measured")
    children = ROOT / "tests" / "measured_children"
    environment = {**os.environ, "PYTHONPATH": str(children), INTO: str(folder)}
    command = [sys.executable, "-c", PROGRAM, str(folder), *FOLDER]
    subprocess.run(command, check=True, cwd=ROOT, env=environment)
    return [json.loads(file.read_bytes()) for file in sorted(folder.iterdir())]


def test_no_process_is_watched_unless_the_plugin_is_asked_for(
    request: pytest.FixtureRequest,
) -> None:
    is_watched = any(type(one).__module__ == all_places.__module__ for one in sys.meta_path)
    is_asked = request.config.pluginmanager.hasplugin("tests.measured")
    is_process = "PYTEST_XDIST_WORKER" in os.environ
    assert is_watched == (is_asked and is_process)


def test_each_process_writes_what_it_ran_of_the_product(
    written: list[dict[str, list[str]]],
) -> None:
    assert len(written) == 2
    assert all(name.startswith(tuple(PRODUCT)) for one in written for name in one)
    function = [set(one[str(ROOT / MODULE)]) for one in written]
    assert function[0] != function[1]
    assert any(">" in place for place in function[0] | function[1])


def test_branch_coverage_of_several_processes_is_merged(
    written: list[dict[str, list[str]]],
) -> None:
    both = reached(written, FOLDER)[MODULE]
    assert 0 < both.branches_run < both.branches  # the folder exists
    assert both.lines_run >= max(reached([one], FOLDER)[MODULE].lines_run for one in written)


def test_modules_that_no_process_loaded_count_with_all_their_branches() -> None:
    unseen = reached([], FOLDER)[MODULE]
    assert unseen.branches > 0
    assert unseen.share == 0.0


def test_compiled_functions_do_not_count() -> None:
    folder = "pipelines/audio/matching"
    kernels = reached([], [str(ROOT / folder)])[f"{folder}/kernels.py"]
    assert kernels.branches == 0


def test_the_share_is_of_branches_and_of_lines_where_there_is_none() -> None:
    assert module(3, 4).share == 75.0
    assert module(0, 0).share == 75.0
    assert Reach(0, 0, 0, 0).share == 100.0


def test_all_modules_together_count_by_their_branches() -> None:
    assert together([module(9, 10), module(0, 90)]).share == 9.0


def test_modules_below_80_percent_are_named_unless_they_have_a_reason() -> None:
    found = {"api/a.py": module(80, 100), "api/b.py": module(799, 1000), "api/c.py": module(1, 2)}
    assert unexplained(found, {}) == ["api/b.py", "api/c.py"]
    assert unexplained(found, {"api/c.py": "runs elsewhere"}) == ["api/b.py"]


@pytest.mark.parametrize(("branches_run", "status"), [(92, 0), (91, 1)])
def test_coverage_floor_fails_below_92_percent_of_all_branches(
    branches_run: int,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = {name: module(0, 0) for name in coverage_floor.BELOW_THE_FLOOR}
    found["api/a.py"] = module(branches_run, 100)
    monkeypatch.setattr(coverage_floor, "reached", lambda _taken: found)
    assert coverage_floor.main() == status
    assert f"{branches_run}.0 % ({branches_run} of 100)" in capsys.readouterr().out


def test_modules_with_a_reason_exist() -> None:
    assert all(Path(ROOT, name).is_file() for name in coverage_floor.BELOW_THE_FLOOR)
