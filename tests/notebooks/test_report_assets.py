"""Reports as the orchestrator makes them: parameters by run config, one page each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, override

import pytest
from dagster import AssetKey, DagsterInstance, DefaultScheduleStatus

from pipelines.orchestration.definitions import build_definitions
from pipelines.orchestration.resources import ReportResource
from pipelines.reports.build import RenderedReport
from pipelines.reports.catalogue import Notebook, read_catalogue
from warehouse.records.errors import InvalidParameterError, NothingToReportError

pytestmark = pytest.mark.full

NAMES = {one.name for one in read_catalogue()}


@dataclass
class Printer(ReportResource):
    """Makes a small file of every report but those of whom nobody is known."""

    folder: Path
    unknown: frozenset[str] = frozenset()
    unwritable: frozenset[str] = frozenset()
    asked: dict[str, Mapping[str, object]] = field(default_factory=dict)

    @override
    def make(
        self, report: Notebook, config: Mapping[str, object], *, run_id: str
    ) -> RenderedReport:
        self.asked[report.name] = config
        if report.name in self.unknown:
            raise NothingToReportError("music_id: no track was seen until this moment")
        if report.name in self.unwritable:
            raise InvalidParameterError("track.html cannot be written: No space left on device")
        page = self.folder / f"{report.name}.html"
        page.write_text(run_id)
        return RenderedReport(page=page, pdf=None, tables=(), run_id=run_id, is_demo=True)


def run(printer: Printer, config: dict[str, Any] | None = None, **selected: Any) -> Any:
    job = build_definitions(reports=printer).resolve_job_def("render_reports")
    with DagsterInstance.ephemeral() as instance:
        return job.execute_in_process(
            instance=instance, run_config=config, raise_on_error=False, **selected
        )


def test_one_click_makes_every_report_with_its_usual_parameters(tmp_path: Path) -> None:
    printer = Printer(tmp_path)
    ended = run(printer)
    assert ended.success
    assert set(printer.asked) == NAMES
    assert printer.asked["matcher"] == {
        "music_id": "", "top": 20, "viral_line": 10_000, "as_of": "", "language": "en",
        "with_pdf": False,
    }  # fmt: skip
    reported = ended.asset_materializations_for_node("reports__track")[0].metadata
    assert reported["page"].value == "reports/track.html in the home of this world"
    assert reported["is_demo_data"].value is True
    assert (tmp_path / "track.html").read_text() == ended.run_id


def test_parameters_come_by_run_config(tmp_path: Path) -> None:
    printer = Printer(tmp_path)
    config = {"ops": {"reports__track": {"config": {"music_id": "7", "as_of": "2026-01-01"}}}}
    ended = run(printer, config, asset_selection=[AssetKey(["reports", "track"])])
    assert ended.success
    assert printer.asked["track"]["music_id"] == "7"
    assert printer.asked["track"]["as_of"] == "2026-01-01"


def test_a_world_without_a_track_is_no_fault_of_a_scheduled_run(tmp_path: Path) -> None:
    ended = run(Printer(tmp_path, unknown=frozenset({"track"})))
    assert ended.success
    assert ended.asset_materializations_for_node("reports__track") == []
    assert len(ended.asset_materializations_for_node("reports__quality")) == 1


def test_a_report_that_cannot_be_written_is_a_fault(tmp_path: Path) -> None:
    ended = run(Printer(tmp_path, unwritable=frozenset({"track"})))
    assert not ended.success


def test_a_track_that_was_asked_for_and_is_not_there_is_a_fault(tmp_path: Path) -> None:
    config = {"ops": {"reports__track": {"config": {"music_id": "7"}}}}
    selected = [AssetKey(["reports", "track"])]
    ended = run(Printer(tmp_path, unknown=frozenset({"track"})), config, asset_selection=selected)
    assert not ended.success


def test_the_schedule_is_stopped_unless_a_setting_says_how_often() -> None:
    for hours, status in ((0, DefaultScheduleStatus.STOPPED), (24, DefaultScheduleStatus.RUNNING)):
        schedule = build_definitions(hours={"reports": hours}).resolve_schedule_def(
            "reports_schedule"
        )
        assert schedule.default_status == status
        assert schedule.job_name == "render_reports"
