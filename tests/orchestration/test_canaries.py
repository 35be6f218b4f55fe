"""The canaries in the orchestrator: an asset with a check per surface, a job, a schedule."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from dagster import DefaultScheduleStatus, ExecuteInProcessResult

from pipelines.doctor.probes import probe_round
from pipelines.orchestration.assets.health import SURFACE_HEALTH, check_name
from pipelines.orchestration.definitions import build_definitions
from pipelines.orchestration.resources import HealthResource
from pipelines.orchestration.schedules import build_schedules
from warehouse.home import OWN_WORLDS
from warehouse.records.errors import InvalidParameterError
from warehouse.records.health import SURFACE_USES, ProbeOutcome, SurfaceHealth
from warehouse.tables.column import MEANINGS

NOW = datetime(2026, 1, 31, tzinfo=UTC)


class Told:
    """A health resource that was told what to find."""

    def __init__(self, **outcomes: ProbeOutcome) -> None:
        self.outcomes = outcomes

    def ask_all(self) -> tuple[list[SurfaceHealth], dict[str, datetime]]:
        found = [
            SurfaceHealth(
                surface=surface,
                outcome=self.outcomes.get(surface, "works"),
                reason="<b>bold</b>",
                observed_at=NOW,
            )
            for surface in SURFACE_USES
        ]
        return found, {"media": NOW}


def run(reported: Told) -> ExecuteInProcessResult:
    job = build_definitions(health=reported).resolve_job_def("canaries")
    return job.execute_in_process()


def test_every_surface_has_a_check_that_blocks_nothing() -> None:
    graph = build_definitions().resolve_asset_graph()
    checks = [key for key in graph.asset_check_keys if key.asset_key == SURFACE_HEALTH]
    of_surfaces = {key.name for key in checks if key.name not in MEANINGS}
    assert of_surfaces == {check_name(surface) for surface in SURFACE_USES}
    assert not any(graph.get(key).blocking for key in checks)


def test_a_round_shows_a_table_and_what_each_check_says() -> None:
    ended = run(Told(media="refused", music_list="changed", user_info="not_asked"))
    assert ended.success
    (shown,) = ended.asset_materializations_for_node("marts__surface_health")
    counts = {name: shown.metadata[name].value for name in ("works", "broken")}
    assert counts == {"works": len(SURFACE_USES) - 3, "broken": 2}
    found = {check.check_name: check for check in ended.get_asset_check_evaluations()}
    assert len(found) == len(SURFACE_USES)
    failed = {name: check.severity.value for name, check in found.items() if not check.passed}
    assert failed == {
        "media_answers": "WARN", "user_info_answers": "WARN", "music_list_answers": "ERROR",
    }  # fmt: skip


def test_the_canaries_are_all_that_their_job_runs() -> None:
    definitions = build_definitions()
    assert list(definitions.resolve_job_def("canaries").graph.node_dict) == [
        "marts__surface_health"
    ]
    assert "marts__surface_health" not in definitions.resolve_job_def("scan").graph.node_dict


@pytest.mark.parametrize(
    ("every_h", "cron", "status"),
    [
        (0, "17 */6 * * *", DefaultScheduleStatus.STOPPED),
        (3, "17 */3 * * *", DefaultScheduleStatus.RUNNING),
        (48, "17 5 */2 * *", DefaultScheduleStatus.RUNNING),
    ],
)
def test_the_schedule_rests_unless_a_setting_names_hours(
    every_h: int, cron: str, status: DefaultScheduleStatus
) -> None:
    schedule = next(one for one in build_schedules({"canaries": every_h}) if "canaries" in one.name)
    assert (schedule.cron_schedule, schedule.default_status) == (cron, status)


@pytest.mark.parametrize("source", sorted(OWN_WORLDS))
def test_a_world_with_data_of_its_own_has_nothing_to_probe(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_PROVIDER", source)
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    monkeypatch.setattr(probe_round, "PROBE_BY_SURFACE", {})  # whatever happens, nobody is asked
    with pytest.raises(InvalidParameterError, match="own world: no host is contacted"):
        HealthResource().ask_all()
