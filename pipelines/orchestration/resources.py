"""Dagster resources: thin wrappers that give assets a plain object. No logic."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from dagster import (
    DagsterExecutionInterruptedError,
    DagsterInstance,
    InitResourceContext,
    resource,
)

from pipelines.catalog.open_service import open_catalog_service, request_catalog_run
from pipelines.catalog.service import CatalogStatus
from pipelines.charts.open_service import ChartService, open_chart_service
from pipelines.doctor.health_check import check_machine
from pipelines.doctor.probes.probe_round import probe_all_surfaces
from pipelines.open_stores import open_chosen_home, open_engine_of
from pipelines.orchestration.failures import to_failure
from pipelines.orchestration.outages import ResourceWait, awaited_resource
from pipelines.orchestration.worker.job_run import ScanOutcome
from pipelines.orchestration.worker.maintenance import (
    MaintenanceReport,
    open_maintainer,
)
from pipelines.platform.providers import choose_profile
from pipelines.reports.catalogue import Notebook
from pipelines.scan.rules.expansion import ConfirmedVideo
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.service.open_service import open_scan_service
from pipelines.scan.service.service import ScanService
from pipelines.settings import Settings
from pipelines.watchlists.open_service import open_watchlist_runner
from pipelines.watchlists.run import WatchlistRunner
from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.published_database import PublishedDatabase, database_path, publish_database
from warehouse.extras import need_extra
from warehouse.maintenance.table_review import TableReview, review_table
from warehouse.records.errors import InputError, RunCancelledError, SametrackError
from warehouse.records.health import SurfaceHealth
from warehouse.records.jobs import STAGES
from warehouse.records.values import Document
from warehouse.tables import Table

if TYPE_CHECKING:
    from pipelines.reports.build import RenderedReport


NO_SCAN = "No scan runs in this process"
STARTED_WITH = "choose a track as the partition, or start the job `request_scan`"
NOTHING_CONFIRMED = "This run confirms no videos that could be checked"
CHECKED_WITH = "materialize marts/confirmed_videos of the track, which runs its checks"


class ScanServiceResource:
    """Opens the scan service; the stores are open only while it is used."""

    @contextmanager
    def open(self) -> Iterator[ScanService]:
        """Open the scan service of the configured world.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
            WarehouseError: A store cannot be opened.
        """
        with open_scan_service(Settings()) as scan_service:
            yield scan_service


class HealthResource:
    """Probes the surfaces; the stores are open only while it does."""

    def ask_all(self) -> tuple[list[SurfaceHealth], dict[str, datetime]]:
        """Probe all surfaces; return their health and when each worked last before.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
            InvalidParameterError: The world has its own data: there is nothing to probe.
            WarehouseError: A store cannot be opened.
        """
        settings = Settings()
        return probe_all_surfaces(settings, choose_profile(settings), asked_by="canaries")


class PublishingResource:
    """Publishes the marts; the stores are open only while it does."""

    def publish(self) -> PublishedDatabase:
        """Write the database of the configured world.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
            WarehouseError: The lake cannot be read, or the file cannot be written.
        """
        settings = Settings()
        home = open_chosen_home(settings)
        with open_engine_of(settings, home) as engine:
            return publish_database(engine, database_path(home))


class ReviewResource:
    """Reviews tables with one engine per run, which is opened for the first of them."""

    def __init__(self, open_engine: Callable[[], Engine]) -> None:
        self._open_engine = cache(open_engine)

    def review(self, table: Table, *, now: datetime) -> TableReview:
        """Check the rows of a table.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
            WarehouseError: The lake cannot be opened or read.
        """
        return review_table(self._open_engine(), table, now=now)


@resource(description="The lake, opened once for all tables that a run checks.")
def reviews_of_run(_context: InitResourceContext) -> Iterator[ReviewResource]:
    """Provide the table checks of a run with the lake of the configured world."""
    with ExitStack() as stack:

        def open_engine() -> Engine:
            settings = Settings()
            return stack.enter_context(open_engine_of(settings, open_chosen_home(settings)))

        yield ReviewResource(open_engine)


class MaintenanceResource:
    """Runs maintenance and the doctor; the stores are open only while it does."""

    def maintain(self, instance: DagsterInstance) -> MaintenanceReport:
        """Run maintenance once on the configured world.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
            WarehouseError: A store cannot be opened, read or written.
        """
        settings = Settings()
        with ExitStack() as stack:
            return open_maintainer(settings, open_chosen_home(settings), instance, stack).maintain()

    def examine(self) -> Document:
        """Check this machine and the stores without probing surfaces.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
        """
        return check_machine(Settings())


class WatchlistResource:
    """Opens the watchlist service; the stores are open only while it is used."""

    @contextmanager
    def open(self) -> Iterator[WatchlistRunner]:
        """Open the watchlist service of the configured world.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
            WarehouseError: A store cannot be opened.
        """
        with open_watchlist_runner(Settings()) as watcher:
            yield watcher


class CatalogResource:
    """Names catalogues and requests their runs; the store is open only while it does."""

    def names(self) -> list[str]:
        """Return the names of all catalogues of the configured world.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
            WarehouseError: The store cannot be opened.
        """
        with open_catalog_service(Settings()) as service:
            return service.names()

    def request_run(self, name: str) -> CatalogStatus:
        """Ask the workers to run a catalogue; return where it stands.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
            InvalidParameterError: There is no such catalogue.
            WarehouseError: The store cannot be opened.
        """
        return request_catalog_run(Settings(), name)


class CurrentScan:
    """Holds the scan that runs in this process, if any; a process runs one scan at a time.

    Every scan begins as a row of the job queue, and its run puts the session here. Without a
    session, as in the code server, scan assets fail with a hint.
    """

    def __init__(self) -> None:
        self.session: ScanRun | None = None
        self.clear()

    def clear(self) -> None:
        """Reset the outcome of the previous scan."""
        self.error: SametrackError | None = None
        self.wait: ResourceWait | None = None
        self.has_failed = False
        self.was_cancelled = False
        self.was_interrupted = False
        self.last_stage: str | None = None

    def refuse(self, error: SametrackError) -> None:
        """Let the first step of the run fail with this error: there is no scan to run."""
        self.has_failed = True
        self.error = error

    def outcome(self) -> ScanOutcome:
        """Return how the scan ended, by its last stage: a failed check leaves no error.

        Lost if neither a stage nor a check has failed: what runs the stages has, because Dagster's
        storage cannot be reached for example.
        """
        if self.was_cancelled:
            return ScanOutcome("cancelled")
        if self.was_interrupted:
            return ScanOutcome("queued")
        if self.has_failed:
            return ScanOutcome("failed", self.error, self.wait)
        return ScanOutcome("completed" if self.last_stage == STAGES[-1] else "lost")

    def note_check(self, *, passed: bool) -> None:
        """Record the result of a check: one that fails ends the scan."""
        self.has_failed = self.has_failed or not passed

    def confirmed(self) -> list[ConfirmedVideo]:
        """Return the videos that the running scan has confirmed.

        Raises:
            Failure: No scan has confirmed videos in this run.
        """
        if self.session is None or "confirmed_videos" not in self.session.state.steps:
            error = InputError(NOTHING_CONFIRMED, hint=CHECKED_WITH)
            self.refuse(error)
            raise to_failure(error)
        return list(self.session.state.confirmed.values())

    @contextmanager
    def stage(self, name: str) -> Iterator[ScanRun]:
        """Run the body of an asset as one stage of the scan; record why it ended.

        Raises:
            Failure: No scan runs in this process, or it fails for a reason that it states.
            DagsterExecutionInterruptedError: Cancellation was requested.
        """
        if self.session is None:
            raise to_failure(self.error or InputError(NO_SCAN, hint=STARTED_WITH))
        try:
            self.session.enter(name)
            yield self.session
            self.last_stage = name
        except RunCancelledError as error:
            self.was_cancelled = True
            self.session.on_canceling()
            # After another error Dagster would first go through all other steps, without them.
            raise DagsterExecutionInterruptedError from error
        # SIGTERM or Ctrl-C, as Dagster or Python raises it: the job goes on in another process.
        except (DagsterExecutionInterruptedError, KeyboardInterrupt):
            self.was_interrupted = True
            raise
        except SametrackError as error:
            self.refuse(error)
            self.wait = awaited_resource(error)
            raise to_failure(error) from error
        except Exception as error:
            self.has_failed = True
            self.error = None
            self.wait = awaited_resource(error)
            raise


class ChartResource:
    """Opens the chart service."""

    @contextmanager
    def open(self) -> Iterator[ChartService]:
        """Open the chart service of the configured world.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
            WarehouseError: A store cannot be opened.
        """
        with open_chart_service(Settings()) as chart_service:
            yield chart_service


class ReportResource:
    """Renders reports of the configured world; opens the stores only while it does."""

    def make(
        self, report: Notebook, config: Mapping[str, object], *, run_id: str
    ) -> "RenderedReport":
        """Render a report with a run's config: its parameters, `as_of`, `language` and `with_pdf`.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
            InvalidParameterError: A parameter is invalid.
            SametrackError: The notebook or the printing failed.
        """
        need_extra("analysis", f"the report {report.name!r}")
        # Running notebooks needs a second of imports, which the code server should not pay.
        from pipelines.reports.build import ReportRequest, build_report  # noqa: PLC0415

        names = {one.name for one in report.parameters}
        asked = ReportRequest(
            report=report,
            parameters={name: value for name, value in config.items() if name in names},
            as_of=str(config["as_of"]),
            language=str(config["language"]),
            with_pdf=bool(config["with_pdf"]),
            run_id=run_id,
        )
        return build_report(Settings(), asked, progress=lambda _: None)
