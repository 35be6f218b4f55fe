"""Dagster resources: thin wrappers that give assets a plain object. No logic."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime

from dagster import DagsterInstance, InitResourceContext, resource

from pipelines.doctor.checks.machine_report import examine_machine
from pipelines.doctor.probes.probe_round import ask_all_surfaces
from pipelines.documents.videos import Document
from pipelines.orchestration.worker.job_run import Outcome
from pipelines.orchestration.worker.maintenance import Swept, chosen_home, open_keeper
from pipelines.platform.providers import choose_profile
from pipelines.scan.rules.expansion import Confirmed
from pipelines.scan.scan_run import ScanSession
from pipelines.scan.service.open_service import build_desk
from pipelines.scan.service.service import ScanDesk
from pipelines.settings import Settings
from pipelines.watchlists.open_service import open_watcher
from pipelines.watchlists.run import Watcher
from warehouse.control import open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.published_database import Published, database_path, publish_database
from warehouse.home.folder import open_home
from warehouse.lake.store import open_lake
from warehouse.maintenance.table_review import Review, review_table
from warehouse.records.errors import RunCancelledError, SametrackError
from warehouse.records.health import SurfaceHealth
from warehouse.records.jobs import STAGES
from warehouse.tables import Table


class DeskResource:
    """Opens the scan service; the stores are open only while it is used."""

    @contextmanager
    def open(self) -> Iterator[ScanDesk]:
        """Open the scan service of the configured world.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
            WarehouseError: A store cannot be opened.
        """
        settings = Settings()
        profile = choose_profile(settings)
        home = open_home(settings.data_home, profile.name)
        with ExitStack() as stack:
            control = open_control(settings.control_url or home.control_url, world=home.world)
            stack.enter_context(closing(control))
            lake = open_lake(settings.lake_url or home.lake_url, world=home.world)
            engine = stack.enter_context(closing(Engine(lake)))
            yield build_desk(settings, profile, control=control, open_engine=lambda: engine)


class HealthResource:
    """Probes the surfaces; the stores are open only while it does."""

    def ask_all(self) -> tuple[list[SurfaceHealth], dict[str, datetime]]:
        """Probe all surfaces; return their health and when each worked last before.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
            WarehouseError: A store cannot be opened.
        """
        settings = Settings()
        return ask_all_surfaces(settings, choose_profile(settings), asked_by="canaries")


class PublishingResource:
    """Publishes the marts; the stores are open only while it does."""

    def publish(self) -> Published:
        """Write the database of the configured world.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
            WarehouseError: The lake cannot be read, or the file cannot be written.
        """
        settings = Settings()
        home = open_home(settings.data_home, choose_profile(settings).name)
        lake = open_lake(settings.lake_url or home.lake_url, world=home.world)
        with closing(Engine(lake)) as engine:
            return publish_database(engine, database_path(home))


class ReviewResource:
    """Reviews tables with one engine per run."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def review(self, table: Table, *, now: datetime) -> Review:
        """Check the rows of a table.

        Raises:
            WarehouseUnavailableError: The lake cannot be read.
        """
        return review_table(self._engine, table, now=now)


@resource(description="The lake, opened once for all tables that a run checks.")
def reviews_of_run(_context: InitResourceContext) -> Iterator[ReviewResource]:
    """Open the lake of the configured world for the table checks of a run.

    Raises:
        ProfileNotChosenError: No platform profile is selected.
        WarehouseError: The lake cannot be opened.
    """
    settings = Settings()
    home = chosen_home(settings)
    lake = open_lake(settings.lake_url or home.lake_url, world=home.world)
    with closing(Engine(lake)) as engine:
        yield ReviewResource(engine)


class UpkeepResource:
    """Runs maintenance and the doctor; the stores are open only while it does."""

    def maintain(self, instance: DagsterInstance) -> Swept:
        """Run maintenance once on the configured world.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
            WarehouseError: A store cannot be opened, read or written.
        """
        settings = Settings()
        with ExitStack() as stack:
            return open_keeper(settings, chosen_home(settings), instance, stack).maintain()

    def examine(self) -> Document:
        """Check this machine and the stores without probing surfaces.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
        """
        return examine_machine(Settings())


class WatchResource:
    """Opens the watchlist service; the stores are open only while it is used."""

    @contextmanager
    def open(self) -> Iterator[Watcher]:
        """Open the watchlist service of the configured world.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
            WarehouseError: A store cannot be opened.
        """
        with open_watcher(Settings()) as watcher:
            yield watcher


class ScanSlot:
    """Holds the scan that runs in this process, if any; a process runs one scan at a time.

    Every scan begins as a row of the job queue, and its run puts the session here. Without a
    session, as in the code server, scan assets fail with a hint.
    """

    def __init__(self) -> None:
        self.session: ScanSession | None = None
        self.clear()

    def clear(self) -> None:
        """Reset the outcome of the previous scan."""
        self.error: SametrackError | None = None
        self.was_cancelled = False
        self.last_stage: str | None = None

    def outcome(self) -> Outcome:
        """Return how the scan ended, by its last stage: a failed check leaves no error."""
        if self.was_cancelled:
            return Outcome("cancelled")
        is_done = self.error is None and self.last_stage == STAGES[-1]
        return Outcome("completed") if is_done else Outcome("failed", self.error)

    def confirmed(self) -> list[Confirmed]:
        """Return the videos confirmed so far by the running scan; empty without a scan."""
        return [] if self.session is None else list(self.session.findings.confirmed.values())

    @contextmanager
    def stage(self, name: str) -> Iterator[ScanSession]:
        """Run the body of an asset as one stage of the scan; record why it ended.

        Raises:
            RuntimeError: No scan runs in this process.
            RunCancelledError: Cancellation was requested.
        """
        if self.session is None:
            raise RuntimeError("no scan runs in this process: start the job `request_scan` instead")
        try:
            self.session.enter(name)
            yield self.session
            self.last_stage = name
        except RunCancelledError:
            self.was_cancelled = True
            self.session.report_canceling()
            raise
        except SametrackError as error:
            self.error = error
            raise
