"""Link songs of the chart to music ids and store changed links in the mart.

Blocking. Concurrent runs are harmless because the newest row of a pair wins. Not here: the rules
(`rules/song_links.py`, `rules/platform_comparison.py`), reading the chart (`backfill`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pipelines.charts.rules import platform_comparison
from pipelines.charts.rules.song_links import Relation, link_songs
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries import charts
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
    rows = _compare_songs(engine, chart, [song_key] if song_key is not None else list(chart.songs))
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


def _compare_songs(
    engine: Engine, chart: platform_comparison.StoredChart, song_keys: Iterable[str]
) -> list[Row]:
    """Link songs of the chart to music ids; return the row of each pair."""
    positions = [chart.songs[key] for key in song_keys if key in chart.songs]
    if not positions:
        return []
    sounds = {sound.music_id: sound for sound in charts.read_platform_music(engine)}
    statements = [
        charts.to_song_link_decision(row) for row in charts.read_song_link_decisions(engine)
    ]
    links = link_songs(
        (entry.song for entry in positions),
        sounds.values(),
        charts.read_audio_matches(engine),
        statements,
    )
    # The likes of all videos that carry a linked music id, read at once.
    videos: dict[str, list[Row]] = defaultdict(list)
    for row in charts.read_music_videos(engine, [link.music_id for link in links]):
        videos[row["music_id"]].append(row)
    rows = []
    for link in links:
        song, likes = (
            chart.songs[link.song_key],
            platform_comparison.to_video_likes(videos[link.music_id]),
        )
        comparison = platform_comparison.compare_with_platform(song, chart.days, likes)
        rows.append(
            platform_comparison.to_platform_row(link, song, comparison, sounds.get(link.music_id))
        )
    return rows


def _pair(row: ReadOnlyRow) -> tuple[str, str]:
    return row["song_key"], row["music_id"]
