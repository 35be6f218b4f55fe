"""The document of the stand-in platform names every surface, every fault and every path."""

from pathlib import Path

import pytest

from sandbox.server.app import SURFACES
from sandbox.server.faults import KINDS
from sandbox.server.switches import MODES, SWITCHES, value_hint
from tests.switch_outcomes import FURTHER_OUTCOMES, OUTCOMES

pytestmark = pytest.mark.full

TEXT = (Path(__file__).parents[3] / "docs" / "sandbox.md").read_text(encoding="utf-8")


def test_every_fault_is_described() -> None:
    assert [kind for kind in KINDS if f"`{kind}`" not in TEXT] == []


def test_the_table_of_switches_is_that_of_the_declaration() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("| `")]
    declared = [
        f"| `{switch.name}`{value_hint(switch)} | {switch.effect} | {outcome.to_sentence()} |"
        for switch, outcome in zip(SWITCHES, OUTCOMES, strict=True)
    ]
    declared += [f"| `{row.name}` | {row.to_sentence()} |" for row in FURTHER_OUTCOMES]
    assert [row for row in declared if row not in rows] == []
    assert [name for name in MODES["autumn-2026"] if f"`{name}`" not in TEXT] == []


def test_every_surface_and_every_path_of_its_own_is_described() -> None:
    own = [
        path.removeprefix("/_world/")
        for surface in SURFACES if surface.name == "control" for path in surface.paths
    ]  # fmt: skip
    names = {surface.name for surface in SURFACES} - {"control"}
    missing = {path.replace(":int", "") for path in own if path.split("{")[0] not in TEXT}
    assert sorted(name for name in names if f"`{name}`" not in TEXT) == []
    assert sorted(missing) == []
