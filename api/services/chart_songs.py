"""Chart songs compared with the platform, and manual links between songs and music ids.

A manual link overrides the automatic rules and can be withdrawn. Blocks. Not here: HTTP,
command-line output, the rules (`pipelines.charts.rules.platform_comparison`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from api.responses.errors import NotFoundError
from api.schemas.extensions import chart_platform
from api.services.series import growth_document
from pipelines.charts.rules import platform_comparison
from pipelines.charts.rules.platform_comparison import LEAD_METHOD
from pipelines.charts.service import (
    compare_songs,
    link_scanned_tracks,
    read_stored_chart,
    update_song_links,
)
from pipelines.documents.videos import to_document, to_time
from pipelines.reads.series import total_over_time
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries import charts
from warehouse.queries.results import read_scanned_tracks
from warehouse.records.charts import SongLinkChoice
from warehouse.records.jobs import Origin
from warehouse.records.values import ReadOnlyRow

PATH = "/api/v1/sametrack/chart"
TABLE = "marts.chart_links"


@dataclass(frozen=True, eq=False)
class ChartSongService:
    """Chart songs and their links in an open lake. `is_demo` marks demo data."""

    engine: Engine
    is_demo: bool

    def song(self, song_key: str) -> chart_platform.ChartSongComparison:
        """Return a song: chart positions, links with reasons, engagement curve, lead or lag.

        Raises:
            NotFoundError: No stored issue has the song in its top 20.
        """
        self.engine.refresh()
        chart = read_stored_chart(self.engine, song_key)
        positions = _find_song(chart, song_key)
        song = positions.song
        links = self._links(chart, song.song_key)

        # The platform side: observations of all videos under the music ids that are the same song.
        music_ids = sorted(row["music_id"] for row in links if row["relation"] == "same")
        observed = charts.read_music_videos(self.engine, music_ids) if music_ids else []
        comparison = platform_comparison.compare_with_platform(
            positions, chart.days, platform_comparison.to_video_likes(observed)
        )
        lead, rise = comparison.lead, comparison.rise
        return {
            "song_key": song.song_key,
            "title": song.title,
            "artist": song.artist,
            "chart": to_document(
                chart_platform.SongOnChart,
                platform_comparison.summarize_positions(positions),
                entry_after_date=comparison.entry_after,
                kept_issue_count=len(chart.days),
                kept_from=chart.days[0],
                kept_to=chart.days[-1],
                positions=[
                    to_document(chart_platform.ChartPosition, place, chart_date=place.day)
                    for place in positions.places
                ],
            ),
            "links": links,
            "said": self.links(song.song_key)["links"],
            "platform": {"music_ids": music_ids, "points": _curve(observed)},
            "lead": to_document(
                chart_platform.SongLead,
                lead,
                lead_days=lead.days,
                is_estimate=True,
                rise_after=rise.after,
                rise_before=rise.before,
                method=LEAD_METHOD,
            ),
            "is_demo_data": self.is_demo,
        }

    def _links(
        self, chart: platform_comparison.StoredChart, song_key: str
    ) -> list[chart_platform.SongLink]:
        """Return the links of a song as the rules make them now, with the newest scans."""
        # Not as they were judged last: a scan since then counts at once.
        stored = {row["music_id"]: row for row in charts.read_chart_platform(self.engine, song_key)}
        scans = read_scanned_tracks(self.engine)
        return [
            to_document(
                chart_platform.SongLink,
                row,
                judged_at=to_time(_stored_at(stored.get(row["music_id"]), row)),
                newest_job_id=scans.get(row["music_id"], {}).get("newest_job_id"),
            )
            for row in compare_songs(self.engine, chart, [song_key])
        ]

    def scanned_tracks(self) -> chart_platform.ChartTrackList:
        """Return the scanned tracks of the stored chart songs, the surest of each song first."""
        self.engine.refresh()
        links = link_scanned_tracks(self.engine, read_stored_chart(self.engine))
        tracks = [
            to_document(
                chart_platform.ChartTrack,
                link,
                **{name: scan[name] for name in ("title", "artist", "newest_job_id")},
                last_result_at=to_time(scan["last_result_at"]),
            )
            for link, scan in links
        ]
        return {"tracks": tracks, "returned_count": len(tracks), "is_demo_data": self.is_demo}

    def decide_link(
        self,
        song_key: str,
        music_id: str,
        decision: SongLinkChoice,
        *,
        said_by: str | None,
        note: str | None,
        origin: Origin,
    ) -> chart_platform.ChartSongComparison:
        """Store a manual link decision and return the updated song.

        Raises:
            NotFoundError: No stored issue has the song in its top 20.
        """
        self.engine.refresh()
        # A decision on a song that is in no issue would never be shown.
        _find_song(read_stored_chart(self.engine, song_key), song_key)
        row = {
            "link_id": str(uuid4()),
            "song_key": song_key,
            "music_id": music_id,
            "said": decision,
            "said_by": (said_by or "").strip() or None,
            "note": (note or "").strip() or None,
            "origin": origin,
            "said_at": datetime.now(UTC),
        }
        self.engine.lake.append(TABLE, [row])
        # The stored links follow from rules and decisions; those of this song are derived anew.
        update_song_links(self.engine, song_key=song_key)
        return self.song(song_key)

    def links(self, song_key: str | None = None) -> chart_platform.LinkDecisionList:
        """Return all manual link decisions, oldest first, optionally of one song."""
        self.engine.refresh()
        rows = charts.read_song_link_decisions(self.engine, song_key)
        return {
            "links": [to_document(chart_platform.LinkDecision, row) for row in rows],
            "returned_count": len(rows),
            "is_demo_data": self.is_demo,
        }

    def judge(self) -> chart_platform.SongLinkUpdate:
        """Judge the links of all stored songs again, from stored data only.

        Raises:
            WarehouseError: The lake cannot be read or written.
        """
        update = update_song_links(self.engine)
        relations = dict(sorted(update.relations.items()))
        return to_document(
            chart_platform.SongLinkUpdate, update, relations=relations, is_demo_data=self.is_demo
        )


def _stored_at(stored: ReadOnlyRow | None, row: ReadOnlyRow) -> datetime | None:
    """Return when a link was stored; None if it was not stored as it is now."""
    names = ("relation", "confidence", "reason", "via_music_id")
    is_stored = stored is not None and all(stored[name] == row[name] for name in names)
    return stored["committed_at"] if stored is not None and is_stored else None


def _find_song(
    chart: platform_comparison.StoredChart, song_key: str
) -> platform_comparison.SongPositions:
    song = chart.songs.get(song_key)
    if song is None:
        raise NotFoundError(
            f"Song {song_key[:100]!r} was not found in the stored chart issues",
            hint="Use the `song_key` of a song in the chart history",
        )
    return song


def _curve(rows: Iterable[ReadOnlyRow]) -> list[chart_platform.CurvePoint]:
    """Sum the likes over all videos observed so far, hour by hour, without interpolation.

    The sum also rises when videos are discovered, so the estimate of the lead does not use it.
    """
    by_video = {(row["observed_at"], row["aweme_id"]): row for row in rows}
    observations = ((*key, by_video[key]) for key in sorted(by_video))
    return [
        to_document(
            chart_platform.CurvePoint,
            point.values,
            observed_at=point.observed_at,
            work_count=point.values["work_count"] or 0,
            growth=growth_document(point.growth),
        )
        for point in total_over_time(observations)
    ]
