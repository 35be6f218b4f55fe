"""What the tests reach of the product, as `make coverage` prints and judges it.

Branches are judged, not lines: a branch that no test takes is a rule that nobody holds. A module
under the floor of its own is printed, with the reason if it is named here. That does not fail: not
every process is watched (`tests.measured`), and one that is killed writes nothing, so each share is
a lower bound.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import orjson

from tests.branch_coverage import FOLDER, PRODUCT, ROOT, all_places

TOTAL_FLOOR = 92.0
MODULE_FLOOR = 80.0
_COMMAND = "a command that tests run as a process"
_SERVICE = "tests ask a service in a process of its own"
_RUN = "what runs it is a process of the worker or of Dagster"
_PROGRAM = "a program of its own"
_KERNEL = "notebooks and drawing processes run it"
BELOW_THE_FLOOR: dict[str, str] = {
    "api/cli/commands/mcp.py": _COMMAND,
    "api/cli/commands/system/init.py": _COMMAND,
    "api/cli/commands/system/dagster_ui.py": _COMMAND,
    "api/cli/commands/system/services.py": _COMMAND,
    "api/cli/main.py": _COMMAND,
    "api/cli/processes/dagster_ui.py": _SERVICE,
    "api/routes/extensions/evidence.py": _SERVICE,
    "api/services/evidence/excerpts.py": _SERVICE,
    "api/services/job_feed.py": _SERVICE,
    "pipelines/audio/compile_loops.py": _PROGRAM,
    "pipelines/audio/decode/decoder_process.py": _PROGRAM,
    "pipelines/audio/decode/excerpt_process.py": _PROGRAM,
    "pipelines/catalog/background.py": _RUN,
    "pipelines/definitions.py": _RUN,
    "pipelines/orchestration/catalog_runs.py": _RUN,
    "pipelines/orchestration/runs/celery_runs.py": _RUN,
    "pipelines/orchestration/runs/run_session.py": _RUN,
    "pipelines/platform/providers/__init__.py": _SERVICE,
    "pipelines/reports/drawing.py": _KERNEL,
    "pipelines/reports/figures/report.py": _KERNEL,
    "sandbox/__main__.py": _PROGRAM,
    "warehouse/exports/package_contents/report_numbers.py": _PROGRAM,
    "pipelines/scan/service/open_service.py": _COMMAND,
}
"""Modules below the floor, each with the reason why no watched process takes more of it."""


@dataclass(frozen=True)
class Reach:
    """Lines and branches of a module, or of all, and how many of them have run."""

    lines: int
    branches: int
    lines_run: int
    branches_run: int

    @cached_property
    def share(self) -> float:
        """Share of the branches, in percent; a module without branches counts its lines."""
        if self.branches:
            return 100.0 * self.branches_run / self.branches
        return 100.0 * self.lines_run / self.lines if self.lines else 100.0


def reached(
    taken: Iterable[Mapping[str, Iterable[str]]], folders: Sequence[str] = PRODUCT
) -> dict[str, Reach]:
    """Return what processes ran together, by module; modules that none has loaded too.

    `taken` are the files of the processes: `12` for a line, `12>15` for a branch. `folders` have
    the modules.
    """
    run: dict[str, set[str]] = {}
    for one in taken:
        for name, seen in one.items():
            run.setdefault(name, set()).update(seen)
    modules = all_places(folders)
    return {
        name: _reach(
            one["missing_lines"], one["missing_branches"], run.get(str(ROOT / name), set())
        )
        for name, one in sorted(modules.items())
    }


def _reach(lines: list[int], branches: list[tuple[int, int]], run: set[str]) -> Reach:
    lines_run = run & set(map(str, lines))
    branches_run = run & {f"{start}>{end}" for start, end in branches}
    return Reach(len(lines), len(branches), len(lines_run), len(branches_run))


def together(modules: Iterable[Reach]) -> Reach:
    """Return the sums over modules."""
    counts = [(one.lines, one.branches, one.lines_run, one.branches_run) for one in modules]
    return Reach(*map(sum, zip(*counts, strict=True)))


def unexplained(modules: Mapping[str, Reach], reasons: Mapping[str, str]) -> list[str]:
    """Return the modules below their floor that have no reason."""
    return [
        name for name, one in modules.items() if one.share < MODULE_FLOOR and name not in reasons
    ]


def main() -> int:
    files = sorted(FOLDER.glob("*.json"))
    modules = reached(orjson.loads(file.read_bytes()) for file in files)
    total = together(modules.values())
    print(
        f"branches that ran in {len(files)} processes: {total.share:.1f} % "
        f"({total.branches_run} of {total.branches})"
    )
    for name, reason in sorted(BELOW_THE_FLOOR.items()):
        if modules[name].share < MODULE_FLOOR:
            print(f"  {modules[name].share:3.0f} % {name}: {reason}")
    for name in unexplained(modules, BELOW_THE_FLOOR):
        print(
            f"  {modules[name].share:3.0f} % {name}: no reason is given (tests/coverage_floor.py)"
        )
    if total.share < TOTAL_FLOOR:
        print(f"too few: {TOTAL_FLOOR:.0f} % are wanted")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
