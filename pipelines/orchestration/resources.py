"""Dagster resources: thin wrappers that give assets a plain object. No logic."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from dagster import DagsterInstance, InitResourceContext, resource

from pipelines.catalog.open_service import open_catalog_service, request_catalog_run
from pipelines.catalog.service import CatalogStatus
from pipelines.charts.service import ChartService, open_chart_service
from pipelines.doctor.health_check import check_machine
from pipelines.doctor.probes.probe_round import probe_all_surfaces
from pipelines.open_stores import open_chosen_home, open_engine_of
from pipelines.orchestration.worker.maintenance import MaintenanceReport, open_maintainer
from pipelines.platform.providers import choose_profile
from pipelines.reports.catalogue import Notebook
from pipelines.scan.service.open_service import open_scan_service
from pipelines.scan.service.service import ScanService
from pipelines.settings import Settings
from pipelines.watchlists.open_service import open_watchlist_runner
from pipelines.watchlists.run import WatchlistRunner
from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.published_database import PublishedDatabase, database_path, publish_database
from warehouse.extras import need_extra
from warehouse.maintenance.table_review import TableReview, review_table
from warehouse.records.health import SurfaceHealth
from warehouse.records.values import Document
from warehouse.tables import Table

if TYPE_CHECKING:
    from pipelines.reports.build import RenderedReport


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
            InvalidParameterError: The world generates its data, so there is nothing to probe.
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
        with open_watchlist_runner(Settings()) as runner:
            yield runner


class CatalogResource:
    """Lists catalogues and requests their runs; the store is open only while it does."""

    def names(self) -> list[str]:
        """Return the names of all catalogues of the configured world.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
            WarehouseError: The store cannot be opened.
        """
        with open_catalog_service(Settings()) as service:
            return service.names()

    def request_run(self, name: str) -> CatalogStatus:
        """Ask the workers to run a catalogue; return its status.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
            InvalidParameterError: There is no such catalogue.
            WarehouseError: The store cannot be opened.
        """
        return request_catalog_run(Settings(), name)


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

        names = {parameter.name for parameter in report.parameters}
        request = ReportRequest(
            report=report,
            parameters={name: value for name, value in config.items() if name in names},
            as_of=str(config["as_of"]),
            language=str(config["language"]),
            with_pdf=bool(config["with_pdf"]),
            run_id=run_id,
        )
        return build_report(Settings(), request, progress=lambda _: None)
