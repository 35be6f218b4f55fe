"""Chart songs compared with the platform, and manual links between songs and music ids.

A manual link overrides the automatic rules and can be withdrawn. Blocks. Not here: HTTP,
command-line output, the rules (`pipelines.charts.rules.song_links`).
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from uuid import uuid4

from api.responses.errors import NotFoundError
from api.schemas.extensions.chart_platform import (
    ChartSongComparison,
    CurvePoint,
    LinkDecision,
    LinkDecisionList,
    SongLead,
    SongLink,
    SongLinkUpdate,
)
from api.services.series import growth_document
from pipelines.charts.link_songs import read_stored_chart, update_song_links
from pipelines.charts.rules.lead import LEAD_METHOD
from pipelines.charts.rules.platform_comparison import (
    PlatformComparison,
    SongPositions,
    StoredChart,
    compare_with_platform,
    summarize_positions,
    to_video_likes,
)
from pipelines.documents.videos import to_time
from pipelines.reads.series import total_over_time
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries.charts import (
    read_chart_platform,
    read_music_videos,
    read_song_link_decisions,
)
from warehouse.records.charts import SongLinkChoice
from warehouse.records.jobs import Origin
from warehouse.records.values import ReadOnlyRow

PATH = "/api/v1/sametrack/chart"
TABLE = "marts.chart_links"


class ChartSongService:
    """Chart songs and their links in an open lake. `is_demo` marks demo data."""

    def __init__(self, engine: Engine, *, is_demo: bool) -> None:
        self._engine = engine
        self._is_demo = is_demo

    def song(self, song_key: str) -> ChartSongComparison:
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
    ) -> ChartSongComparison:
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

    def links(self, song_key: str | None = None) -> LinkDecisionList:
        """Return all manual link decisions, oldest first, optionally of one song."""
        self._engine.refresh()
        found = read_song_link_decisions(self._engine, song_key)
        return {
            "links": [_decision_document(row) for row in found],
            "returned_count": len(found),
            "is_demo_data": self._is_demo,
        }

    def judge(self) -> SongLinkUpdate:
        """Judge the links of all stored songs again, from stored data only.

        Raises:
            WarehouseError: The lake cannot be read or written.
        """
        judged = update_song_links(self._engine)
        return {
            "song_count": judged.song_count,
            "issue_count": judged.issue_count,
            "lead_count": judged.lead_count,
            "row_count": judged.row_count,
            "relations": dict(sorted(judged.relations.items())),
            "is_demo_data": self._is_demo,
        }

    def _document(self, chart: StoredChart, charted: SongPositions) -> ChartSongComparison:
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
                "issue_count": standing.issue_count,
                "best_rank": standing.best_rank,
                "first_chart_date": standing.first_chart_date.isoformat(),
                "last_chart_date": standing.last_chart_date.isoformat(),
                "entry_after_date": _day(beside.entry_after),
                "kept_issue_count": len(chart.days),
                "kept_from": chart.days[0].isoformat(),
                "kept_to": chart.days[-1].isoformat(),
                "positions": [
                    {"chart_date": place.day.isoformat(), "volid": place.volid, "rank": place.rank}
                    for place in charted.places
                ],
            },
            "links": [_link_document(row) for row in links],
            "said": self.links(song.song_key)["links"],
            "platform": {"music_ids": same, "points": _curve(observed)},
            "lead": _lead_document(beside),
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


def _link_document(row: ReadOnlyRow) -> SongLink:
    return {
        "music_id": row["music_id"],
        "via_music_id": row["via_music_id"],
        "relation": row["relation"],
        "confidence": row["confidence"],
        "reason": row["reason"],
        "music_title": row["music_title"],
        "music_author": row["music_author"],
        "judged_at": to_time(row["committed_at"]),
    }


def _decision_document(row: ReadOnlyRow) -> LinkDecision:
    return {
        "link_id": row["link_id"],
        "song_key": row["song_key"],
        "music_id": row["music_id"],
        "said": row["said"],
        "said_by": row["said_by"],
        "note": row["note"],
        "origin": row["origin"],
        "said_at": to_time(row["said_at"]),
    }


def _lead_document(beside: PlatformComparison) -> SongLead:
    lead, rise = beside.lead, beside.rise
    return {
        "lead_days": lead.days,
        "low_days": lead.low_days,
        "high_days": lead.high_days,
        "direction": lead.direction,
        "reason": lead.reason,
        "is_estimate": True,
        "work_count": lead.work_count,
        "observation_count": lead.observation_count,
        "observed_day_count": lead.observed_day_count,
        "rise_after": to_time(rise.after),
        "rise_before": to_time(rise.before),
        "method": LEAD_METHOD,
    }


def _curve(rows: Iterable[ReadOnlyRow]) -> list[CurvePoint]:
    """Sum the likes over all videos observed so far, hour by hour, without interpolation.

    The sum also rises when videos are discovered, so the estimate does not use it.
    """
    by_video = {(row["observed_at"], row["aweme_id"]): row for row in rows}
    observations = ((*place, by_video[place]) for place in sorted(by_video))
    return [
        {
            "observed_at": to_time(point.observed_at),
            "work_count": point.values["work_count"] or 0,
            "digg_count": point.values["digg_count"],
            "comment_count": point.values["comment_count"],
            "collect_count": point.values["collect_count"],
            "share_count": point.values["share_count"],
            "growth": growth_document(point.growth),
        }
        for point in total_over_time(observations)
    ]


def _day(day: date | None) -> str | None:
    return None if day is None else day.isoformat()
