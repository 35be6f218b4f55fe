"""The document of the stand-in platform names every surface, every fault and every path."""

from pathlib import Path

from starlette.routing import Route

from pipelines.sandbox.server.addresses import SandboxUrls
from pipelines.sandbox.server.app import SURFACES
from pipelines.sandbox.server.faults import KINDS
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.server.switches import MODES, SWITCHES, value_hint
from pipelines.sandbox.world.world import SandboxWorld
from tests.switch_outcomes import FURTHER_OUTCOMES, OUTCOMES

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


def test_every_surface_and_every_path_of_its_own_is_described(tmp_path: Path) -> None:
    platform = SandboxPlatform(SandboxWorld(31, 0.2), cache_dir=tmp_path, addresses=SandboxUrls(1))
    routes = [
        route for surface in SURFACES for route in surface(platform) if isinstance(route, Route)
    ]
    platform.close()
    own = [route.path.removeprefix("/_world/") for route in routes if route.name == "control"]
    names = {route.name for route in routes} - {"control"}
    missing = {path.replace(":int", "") for path in own if path.split("{")[0] not in TEXT}
    assert sorted(name for name in names if f"`{name}`" not in TEXT) == []
    assert sorted(missing) == []
