"""What the tests reach of the product: measured in their processes, put together and judged."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import coverage_floor
from tests.coverage_floor import branch_share, findings, merged
from tests.measured import EXCLUDED, PRODUCT, ROOT

MEASURING = """
import sys
from pathlib import Path
from types import SimpleNamespace
from tests import measured
measured.FOLDER = Path(sys.argv[1])
from warehouse.home.disk_space import check_free_space
check_free_space(sys.argv[1], free=lambda _folder: 2**40)
config = SimpleNamespace(getoption=lambda name: {"markexpr": "quick"}[name])
measured.pytest_sessionfinish(SimpleNamespace(config=config))
"""


def share(taken: int, missing: int) -> dict[str, int]:
    lines = {"covered_lines": 3, "missing_lines": 1}
    return {"covered_branches": taken, "missing_branches": missing, **lines}


def report(total: dict[str, int], **modules: dict[str, int]) -> dict[str, Any]:
    return {"summary": total, "files": {name: {"summary": one} for name, one in modules.items()}}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a process of the tests writes that called one function of the product."""
    folder = tmp_path_factory.mktemp("measured")
    command = [sys.executable, "-c", MEASURING, str(folder)]
    environment = {**os.environ, "PYTEST_XDIST_WORKER": "gw3"}
    subprocess.run(command, check=True, cwd=ROOT, env=environment)
    found: dict[str, Any] = json.loads((folder / "quick-gw3.json").read_text())
    return found


def test_a_process_writes_the_branches_that_it_took(measured: dict[str, Any]) -> None:
    module = measured["files"]["warehouse/home/disk_space.py"]
    assert module["executed_branches"]
    assert module["missing_branches"]  # that of a full disk, for one
    assert all(name.startswith(("api/", "pipelines/", "warehouse/")) for name in measured["files"])


def test_modules_that_no_process_loaded_count_with_all_their_branches(
    measured: dict[str, Any],
) -> None:
    together = merged([measured])["files"]
    assert together["warehouse/home/disk_space.py"]["executed_branches"]
    assert "pipelines/scan/conclude.py" not in measured["files"]
    unseen = together["pipelines/scan/conclude.py"]
    assert unseen["missing_branches"]
    assert not unseen["executed_branches"]


def test_what_two_processes_took_is_put_together() -> None:
    name = "warehouse/home/disk_space.py"
    nothing = merged([])
    branches = nothing["files"][name]["missing_branches"]
    halves = []
    for one, other in ((0, 1), (1, 0)):
        lines: dict[str, list[int]] = {"executed_lines": [], "missing_lines": []}
        taken = {"executed_branches": [branches[one]], "missing_branches": [branches[other]]}
        halves.append({"meta": nothing["meta"], "files": {name: {**lines, **taken}}})
    together = merged(halves)
    found = together["files"][name]["executed_branches"]
    assert {tuple(branch) for branch in found} >= {tuple(branches[0]), tuple(branches[1])}
    assert together["summary"]["covered_branches"] == 2


def test_compiled_functions_and_bodies_of_protocols_do_not_count() -> None:
    files = merged([])["files"]
    kernels = Path(ROOT, "pipelines/audio/matching/kernels.py").read_text().splitlines()
    compiled = [number for number, line in enumerate(kernels, 1) if "@numba.njit" in line]
    assert compiled
    assert not set(compiled) & set(files["pipelines/audio/matching/kernels.py"]["missing_lines"])
    assert len(EXCLUDED) == 3


def test_the_share_is_of_branches_and_of_lines_where_there_is_none() -> None:
    assert branch_share(share(3, 1)) == 75.0
    assert branch_share(share(0, 0)) == 75.0
    assert branch_share(dict.fromkeys(share(0, 0), 0)) == 100.0


def test_the_product_is_held_to_92_percent_and_each_module_to_80() -> None:
    good = report(share(92, 8), **{"api/a.py": share(8, 2)})
    assert findings(good, {}) == []
    low = report(share(919, 81), **{"api/a.py": share(799, 201)})
    assert findings(low, {}) == [
        "api/a.py: 79.9 % of its branches",
        "all modules: 91.9 % of the branches, 92 are wanted",
    ]


def test_a_reason_excuses_its_module_and_goes_when_it_is_not_needed() -> None:
    found = report(share(95, 5), **{"api/a.py": share(1, 1), "api/b.py": share(9, 1)})
    assert findings(found, {"api/a.py": "runs elsewhere"}) == []
    reasons = {"api/a.py": "runs elsewhere", "api/b.py": "the same"}
    assert findings(found, reasons) == ["api/b.py: needs no reason any more"]


def test_modules_with_a_reason_exist() -> None:
    assert all(Path(ROOT, name).is_file() for name in coverage_floor.BELOW_THE_FLOOR)
    assert all(Path(folder).is_dir() for folder in PRODUCT)
