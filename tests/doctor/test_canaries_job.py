"""The canaries as the orchestrator runs them, against the real stand-in platform."""

from contextlib import closing
from pathlib import Path

import pytest

from pipelines.orchestration.definitions import build_definitions
from warehouse.control import jobs, open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import open_home
from warehouse.lake.store import open_lake
from warehouse.queries.surface_health import read_latest_health
from warehouse.records.health import SURFACE_USES

pytestmark = pytest.mark.full


def test_a_round_of_canaries_is_kept_and_starts_no_scan(
    platform: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    monkeypatch.setenv("SANDBOX_PORT", str(platform))
    ended = build_definitions().resolve_job_def("canaries").execute_in_process()
    assert ended.success
    assert all(check.passed for check in ended.get_asset_check_evaluations())
    home = open_home(tmp_path, "sandbox")
    with closing(Engine(open_lake(home.lake_url, world="sandbox"))) as engine:
        kept = read_latest_health(engine)
    assert {name: (one.outcome, one.asked_by) for name, one in kept.items()} == dict.fromkeys(
        SURFACE_USES, ("works", "canaries")
    )
    with closing(open_control(home.control_url, world="sandbox")) as control:
        assert jobs.newest(control, limit=1) == []
