"""Open the chart service from the settings, for Dagster and the command line."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from pipelines.captures.chart import ChartCaptures
from pipelines.charts.backfill import HELD_FOR_S, Backfill
from pipelines.charts.link_songs import LinkingResult, update_song_links
from pipelines.charts.rules.backfill_plan import BackfillProgress, BackfillResult
from pipelines.charts.rules.history import Span
from pipelines.open_stores import open_control_of, open_engine_of
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import build_chart_provider, choose_profile
from pipelines.settings import Settings
from warehouse.control import ControlStore
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import open_home
from warehouse.records.worlds import is_demo_world

_NO_AUTO_FLUSH = 100_000
"""Disables automatic flushing (rows, seconds): a back-fill writes once per batch."""


@dataclass(frozen=True, slots=True)
class ChartService:
    """Back-fills the chart and links its songs over open stores. Blocking."""

    settings: Settings
    profile: PlatformProfile
    control: ControlStore
    engine: Engine

    @property
    def is_demo(self) -> bool:
        """Whether the chart is demo data."""
        return is_demo_world(self.profile.name)

    def fill(
        self,
        span: Span,
        *,
        on_progress: Callable[[BackfillProgress], None] = lambda _progress: None,
        cancelled: Callable[[], bool] = lambda: False,
        hold_s: float = HELD_FOR_S,
    ) -> BackfillResult:
        """Read the missing issues of a date range.

        Raises:
            UpstreamError, WarehouseError, RunCancelledError: As `Backfill.run`.
            ProviderUnsupportedError: The configured source has no chart.
        """
        backfill = Backfill(
            open_chart=self._open,
            engine=self.engine,
            store=self.control,
            on_progress=on_progress,
            cancelled=cancelled,
            hold_s=hold_s,
        )
        return asyncio.run(backfill.run(span))

    def judge(self) -> LinkingResult:
        """Link all songs to music ids.

        Raises:
            WarehouseError: The lake cannot be read or written.
        """
        return update_song_links(self.engine)

    @asynccontextmanager
    async def _open(self, cancelled: Callable[[], bool]) -> AsyncIterator[ChartCaptures]:
        # Building a provider reads the stores, which would block the event loop.
        provider = await asyncio.to_thread(
            lambda: build_chart_provider(
                self.settings,
                self.profile,
                control=self.control,
                engine=self.engine,
            )
        )
        async with ChartCaptures(
            provider=provider,
            lake=self.engine.lake,
            engine=self.engine,
            control=self.control,
            cancelled=cancelled,
            flush_every=_NO_AUTO_FLUSH,
            flush_after_s=_NO_AUTO_FLUSH,
        ) as captures:
            yield captures


@contextmanager
def open_chart_service(settings: Settings) -> Iterator[ChartService]:
    """Open the chart service of the selected world; close its stores afterwards.

    Raises:
        ProfileNotChosenError: No platform profile is selected.
        WarehouseError: A store cannot be opened.
    """
    profile = choose_profile(settings)
    home = open_home(settings.data_home, profile.name)
    with open_control_of(settings, home) as control, open_engine_of(settings, home) as engine:
        yield ChartService(settings, profile, control, engine)
