"""Resources: thin wrappers that hand a plain object to the assets. No logic."""

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
    """Where a launched job hands in a scan; opens the stores only while it does."""

    @contextmanager
    def open(self) -> Iterator[ScanDesk]:
        """The desk of the world that the settings name.

        Raises:
            ProfileNotChosenError: No profile is chosen.
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
    """How the surfaces fare; opens the stores only while they are asked."""

    def ask_all(self) -> tuple[list[SurfaceHealth], dict[str, datetime]]:
        """What became of every surface, and when each had worked before.

        Raises:
            ProfileNotChosenError: No profile is chosen.
            WarehouseError: A store cannot be opened.
        """
        settings = Settings()
        return ask_all_surfaces(settings, choose_profile(settings), asked_by="canaries")


class PublishingResource:
    """Where the marts are published; opens the stores only while it is done."""

    def publish(self) -> Published:
        """Write the database of the world that the settings name.

        Raises:
            ProfileNotChosenError: No profile is chosen.
            WarehouseError: The lake cannot be read, or the file not be written.
        """
        settings = Settings()
        home = open_home(settings.data_home, choose_profile(settings).name)
        lake = open_lake(settings.lake_url or home.lake_url, world=home.world)
        with closing(Engine(lake)) as engine:
            return publish_database(engine, database_path(home))


class ReviewResource:
    """Where tables are looked at; one for all of them in a run."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def review(self, table: Table, *, now: datetime) -> Review:
        """How a table stands.

        Raises:
            WarehouseUnavailableError: The lake cannot be read.
        """
        return review_table(self._engine, table, now=now)


@resource(description="The lake, opened once for all tables that a run looks at.")
def reviews_of_run(_context: InitResourceContext) -> Iterator[ReviewResource]:
    """Opens the lake of the world that the settings name.

    Raises:
        ProfileNotChosenError: No profile is chosen.
        WarehouseError: The lake cannot be opened.
    """
    settings = Settings()
    home = chosen_home(settings)
    lake = open_lake(settings.lake_url or home.lake_url, world=home.world)
    with closing(Engine(lake)) as engine:
        yield ReviewResource(engine)


class UpkeepResource:
    """Where upkeep is done; opens the stores only while it is."""

    def maintain(self, instance: DagsterInstance) -> Swept:
        """One round over the world that the settings name.

        Raises:
            ProfileNotChosenError: No profile is chosen.
            WarehouseError: A store cannot be opened, read or written.
        """
        settings = Settings()
        with ExitStack() as stack:
            return open_keeper(settings, chosen_home(settings), instance, stack).maintain()

    def examine(self) -> Document:
        """How this machine and the stores fare; no surface is asked.

        Raises:
            ProfileNotChosenError: No profile is chosen.
        """
        return examine_machine(Settings())


class WatchResource:
    """Where runs of watchlists are worked on; opens the stores only while they are."""

    @contextmanager
    def open(self) -> Iterator[Watcher]:
        """The watcher of the world that the settings name.

        Raises:
            ProfileNotChosenError: No profile is chosen.
            WarehouseError: A store cannot be opened.
        """
        with open_watcher(Settings()) as watcher:
            yield watcher


class ScanSlot:
    """The scan that runs in this process, where one does: a process runs one at a time.

    A scan begins as a job row, so that everybody shares one queue; the worker puts its session
    here. In the code server the slot is empty, and an asset that is started there says so.
    """

    def __init__(self) -> None:
        self.session: ScanSession | None = None
        self.clear()

    def clear(self) -> None:
        """Forget how the scan before ended."""
        self.error: SametrackError | None = None
        self.was_cancelled = False
        self.last_stage: str | None = None

    def outcome(self) -> Outcome:
        """How the scan ended, judged by its last stage. A check that stops it leaves no error."""
        if self.was_cancelled:
            return Outcome("cancelled")
        is_done = self.error is None and self.last_stage == STAGES[-1]
        return Outcome("completed") if is_done else Outcome("failed", self.error)

    def confirmed(self) -> list[Confirmed]:
        """What the running scan has confirmed so far; nothing where no scan runs."""
        return [] if self.session is None else list(self.session.findings.confirmed.values())

    @contextmanager
    def stage(self, name: str) -> Iterator[ScanSession]:
        """One stage of the scan, for the body of an asset. Remembers why it ended, if it did.

        Raises:
            RuntimeError: No scan runs here.
            RunCancelledError: Somebody asked the scan to stop.
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
