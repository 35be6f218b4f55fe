"""Two processes open the orchestrator's storage of a new home at the same time."""

from pathlib import Path

from tests.integration.warehouse.together import run_together

PROGRAM = Path(__file__).parent / "programs" / "open_storage.py"


def test_a_new_home_is_opened_by_two_at_once(tmp_path: Path) -> None:
    homes = [(str(tmp_path / "data"),)] * 2
    assert run_together("dagster", PROGRAM, *homes) == ["0 0"] * 2
