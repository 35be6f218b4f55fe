"""Chart songs compared with the platform, and manual links between songs and music ids.

A manual link overrides the automatic rules and can be withdrawn. Blocks. Not here: HTTP,
command-line output, the rules (`pipelines.charts.rules.song_links`).
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from api.responses.errors import NotFoundError
from pipelines.charts.link_songs import read_stored_chart, update_song_links
from pipelines.charts.rules.platform_comparison import (
    SongPositions,
    StoredChart,
    compare_with_platform,
    summarize_positions,
    to_curve,
    to_lead_document,
    to_video_likes,
)
from pipelines.documents.videos import to_time
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries.charts.platform import (
    read_chart_platform,
    read_music_videos,
    read_song_link_decisions,
)
from warehouse.records.charts import SongLinkChoice
from warehouse.records.jobs import Origin
from warehouse.records.values import Document

PATH = "/api/v1/sametrack/chart"
TABLE = "marts.chart_links"

type ChartLinkRow = Mapping[str, Any]


class ChartSongService:
    """Chart songs and their links in an open lake. `is_demo` marks demo data."""

    def __init__(self, engine: Engine, *, is_demo: bool) -> None:
        self._engine = engine
        self._is_demo = is_demo

    def song(self, song_key: str) -> Document:
        """Return a song: chart positions, links with reasons, engagement curve, lead or lag.

        Raises:
            NotFoundError: No stored issue has the song in its top 20.
        """
        self._engine.refresh()
        chart = read_stored_chart(self._engine, song_key)
        return self._document(chart, _find_song(chart, song_key))

    def say(
        self,
        song_key: str,
        music_id: str,
        said: SongLinkChoice,
        *,
        said_by: str | None,
        note: str | None,
        origin: Origin,
    ) -> Document:
        """Store a manual link decision and return the updated song.

        Raises:
            NotFoundError: No stored issue has the song in its top 20.
        """
        self._engine.refresh()
        _find_song(read_stored_chart(self._engine, song_key), song_key)
        row = {
            "link_id": str(uuid4()),
            "song_key": song_key,
            "music_id": music_id,
            "said": said,
            "said_by": (said_by or "").strip() or None,
            "note": (note or "").strip() or None,
            "origin": origin,
            "said_at": datetime.now(UTC),
        }
        self._engine.lake.append(TABLE, [row])
        update_song_links(self._engine, song_key=song_key)
        return self.song(song_key)

    def links(self, song_key: str | None = None) -> Document:
        """Return all manual link decisions, oldest first, optionally of one song."""
        self._engine.refresh()
        found = read_song_link_decisions(self._engine, song_key)
        return {
            "links": [_decision_document(row) for row in found],
            "returned_count": len(found),
            "is_demo_data": self._is_demo,
        }

    def _document(self, chart: StoredChart, charted: SongPositions) -> Document:
        song = charted.song
        links = read_chart_platform(self._engine, song.song_key)
        same = sorted(row["music_id"] for row in links if row["relation"] == "same")
        observed = read_music_videos(self._engine, same) if same else []
        beside = compare_with_platform(charted, chart.days, to_video_likes(observed))
        standing = summarize_positions(charted)
        return {
            "song_key": song.song_key,
            "title": song.title,
            "artist": song.artist,
            "chart": {
                **standing,
                "first_chart_date": standing["first_chart_date"].isoformat(),
                "last_chart_date": standing["last_chart_date"].isoformat(),
                "entry_after_date": _day(beside.entry_after),
                "kept_issue_count": len(chart.days),
                "kept_from": _day(chart.days[0]),
                "kept_to": _day(chart.days[-1]),
                "positions": [
                    {"chart_date": place.day.isoformat(), "volid": place.volid, "rank": place.rank}
                    for place in charted.places
                ],
            },
            "links": [_link_document(row) for row in links],
            "said": self.links(song.song_key)["links"],
            "platform": {"music_ids": same, "points": to_curve(observed)},
            "lead": to_lead_document(beside),
            "is_demo_data": self._is_demo,
        }


def _find_song(chart: StoredChart, song_key: str) -> SongPositions:
    found = chart.songs.get(song_key)
    if found is None:
        raise NotFoundError(
            f"Song {song_key[:100]!r} was not found in the stored chart issues",
            hint="Use the `song_key` of a song in the chart history",
        )
    return found


def _link_document(row: ChartLinkRow) -> Document:
    names = (
        "music_id", "via_music_id", "relation", "confidence", "reason", "music_title",
        "music_author",
    )  # fmt: skip
    return {**{name: row[name] for name in names}, "judged_at": to_time(row["committed_at"])}


def _decision_document(row: ChartLinkRow) -> Document:
    return {**row, "said_at": to_time(row["said_at"])}


def _day(day: Any) -> str | None:
    return None if day is None else str(day.isoformat())
