"""Link songs of the chart to music ids and store changed links in the mart; open what this needs.

Blocking. Concurrent runs are harmless because the newest row of a pair wins. Not here: the rules
(`rules/platform_comparison.py`), reading the chart (`backfill.py`).
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from pipelines.captures.chart import ChartCaptures
from pipelines.charts.backfill import HELD_FOR_S, Backfill
from pipelines.charts.rules import platform_comparison
from pipelines.charts.rules.backfill_plan import BackfillProgress, BackfillResult
from pipelines.charts.rules.history import Span
from pipelines.charts.rules.platform_comparison import Relation, link_songs
from pipelines.open_stores import open_control_of, open_engine_of
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import build_chart_provider, choose_profile
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.settings import Settings
from warehouse.control import ControlStore
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import is_demo_world, open_home
from warehouse.queries import charts
from warehouse.queries.results import read_scanned_tracks
from warehouse.records.charts import PlatformMusic
from warehouse.records.values import ReadOnlyRow, Row

TABLE = "marts.chart_platform"
_ENDED = {"relation": "none", "confidence": "low", "reason": "no_longer_linked"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkingResult:
    """Counts of one linking run; `relations` counts the pairs by relation."""

    song_count: int
    issue_count: int
    lead_count: int
    row_count: int
    relations: Mapping[Relation, int] = field(default_factory=dict)


def update_song_links(engine: Engine, *, song_key: str | None = None) -> LinkingResult:
    """Link every song of the stored issues, or one of them; append only changed rows.

    Raises:
        WarehouseError: The lake cannot be read or written.
    """
    engine.refresh()
    chart = read_stored_chart(engine, song_key)
    rows = compare_songs(engine, chart, [song_key] if song_key is not None else list(chart.songs))
    stored = {
        _pair(row): {name: value for name, value in row.items() if name != "committed_at"}
        for row in charts.read_chart_platform(engine, song_key)
    }
    changed = [row for row in rows if stored.get(_pair(row)) != row]
    # A pair that no rule links any longer keeps its last row, marked as ended.
    linked = {_pair(row) for row in rows}
    ended = [row | _ENDED for pair, row in stored.items() if pair not in linked]
    engine.lake.append(TABLE, [*changed, *ended])
    engine.refresh()
    return LinkingResult(
        song_count=len(chart.songs) if song_key is None else int(song_key in chart.songs),
        issue_count=len(chart.days),
        lead_count=sum(row["lead_days"] is not None for row in rows),
        row_count=len(changed) + len(ended),
        relations=Counter(row["relation"] for row in rows),
    )


def read_stored_chart(
    engine: Engine, song_key: str | None = None
) -> platform_comparison.StoredChart:
    """Read the stored chart: all songs (or at least `song_key`) and the days of all issues.

    Raises:
        WarehouseError: The lake cannot be read.
    """
    days = () if song_key is None else charts.read_stored_days(engine)
    return platform_comparison.to_chart(charts.read_stored_songs(engine, song_key), days=days)


def compare_songs(
    engine: Engine, chart: platform_comparison.StoredChart, song_keys: Iterable[str]
) -> list[Row]:
    """Link songs of the chart to music ids; return the row of each pair, the surest first.

    Stores nothing.
    """
    positions = [chart.songs[key] for key in song_keys if key in chart.songs]
    if not positions:
        return []
    sounds = {sound.music_id: sound for sound in charts.read_platform_music(engine)}
    links = _link(engine, positions, sounds.values())
    # The likes of all videos that carry a linked music id, read at once.
    videos: dict[str, list[Row]] = defaultdict(list)
    for row in charts.read_music_videos(engine, [link.music_id for link in links]):
        videos[row["music_id"]].append(row)
    rows = []
    for link in sorted(links, key=platform_comparison.by_relation):
        song, likes = (
            chart.songs[link.song_key],
            platform_comparison.to_video_likes(videos[link.music_id]),
        )
        comparison = platform_comparison.compare_with_platform(song, chart.days, likes)
        rows.append(
            platform_comparison.to_platform_row(link, song, comparison, sounds.get(link.music_id))
        )
    return rows


def link_scanned_tracks(
    engine: Engine, chart: platform_comparison.StoredChart
) -> list[tuple[platform_comparison.SongMatch, Row]]:
    """Link songs of the chart to scanned tracks, the surest link of each song first.

    With each link, the newest scan of its track. Only names of scanned tracks are compared, which
    makes this quick; tracks that are not the song are left out.
    """
    scans = {
        music_id: row
        for music_id, row in read_scanned_tracks(engine).items()
        if row["newest_job_id"] is not None
    }
    sounds = charts.read_platform_music(engine, list(scans))
    links = _link(engine, chart.songs.values(), sounds)
    return [
        (link, scans[link.music_id])
        for link in sorted(links, key=platform_comparison.by_relation)
        if link.music_id in scans and link.relation in {"same", "possible"}
    ]


def _link(
    engine: Engine,
    positions: Iterable[platform_comparison.SongPositions],
    sounds: Iterable[PlatformMusic],
) -> tuple[platform_comparison.SongMatch, ...]:
    statements = [
        charts.to_song_link_decision(row) for row in charts.read_song_link_decisions(engine)
    ]
    return link_songs(
        (entry.song for entry in positions),
        sounds,
        charts.read_audio_matches(engine),
        statements,
    )


def _pair(row: ReadOnlyRow) -> tuple[str, str]:
    return row["song_key"], row["music_id"]


# Open the chart service from the settings, for Dagster and the command line.

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
                ProviderDependencies(
                    settings=self.settings,
                    profile=self.profile,
                    control=self.control,
                    engine=self.engine,
                )
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
