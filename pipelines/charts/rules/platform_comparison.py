"""A song of the chart beside a music id of the platform: its places, the works' likes, the lead.

Pure. Here: putting rows of both sides together, as rows of the mart and as documents. Not here:
the rules of linking (`chart_links`) and of the estimate (`chart_lead`), reading (`warehouse`).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from typing import Any

from pipelines.charts.rules.history import song_key
from pipelines.charts.rules.lead import (
    LEAD_METHOD,
    Lead,
    Rise,
    WorkLikes,
    estimate_lead,
    find_entry,
)
from pipelines.charts.rules.song_links import LINK_METHOD, Link, Song
from pipelines.documents.videos import Document, to_time
from pipelines.reads.series import total_over_time
from warehouse.records.charts import ChartSong
from warehouse.records.song_links import Sound

METHOD = f"{LINK_METHOD} {LEAD_METHOD}"

type Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a song stood in a kept issue."""

    day: date
    volid: str
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Charted:
    """A song with its places in the kept issues, oldest first; never without one."""

    song: Song
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """All that is kept of the chart: its songs by their key, the days of its issues in order."""

    songs: Mapping[str, Charted]
    days: tuple[date, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """A song beside works of the platform: entry, rise, lead, and the moments looked at."""

    entry_after: date | None
    rise: Rise
    lead: Lead
    first_observed_at: datetime | None
    last_observed_at: datetime | None


def to_chart(rows: Iterable[Row], *, days: Iterable[date] = ()) -> Chart:
    """Songs and days out of rows of places (`day, volid, rank, title, artist, song_hash`), which
    come oldest first: a song has the names that it was shown with last.

    `days`: those of further issues, where the rows are not of all.
    """
    places: dict[str, dict[date, Place]] = defaultdict(dict)
    named: dict[str, Row] = {}
    all_days = set(days)
    for row in rows:
        all_days.add(row["day"])
        names = {name: row[name] for name in ("rank", "title", "artist", "song_hash")}
        key = song_key(ChartSong(**names))
        named[key] = row
        before = places[key].get(row["day"])
        if before is None or row["rank"] < before.rank:
            places[key][row["day"]] = Place(day=row["day"], volid=row["volid"], rank=row["rank"])
    songs = {
        key: Charted(
            song=Song(song_key=key, title=row["title"], artist=row["artist"]),
            places=tuple(places[key][day] for day in sorted(places[key])),
        )
        for key, row in named.items()
    }
    return Chart(songs=songs, days=tuple(sorted(all_days)))


def to_works(rows: Iterable[Row]) -> list[WorkLikes]:
    """Likes of each work out of rows of observations, which come oldest first.

    A work that stands under two music ids is one work.
    """
    seen: dict[str, dict[datetime, int]] = defaultdict(dict)
    published: dict[str, int | None] = {}
    for row in rows:
        published[row["aweme_id"]] = row["create_time"]
        seen[row["aweme_id"]][row["observed_at"]] = row["digg_count"]
    return [
        WorkLikes(
            published_at=None if moment is None else datetime.fromtimestamp(moment, UTC),
            seen=tuple(sorted(seen[aweme_id].items())),
        )
        for aweme_id, moment in published.items()
    ]


def set_beside(charted: Charted, days: Sequence[date], works: Sequence[WorkLikes]) -> Beside:
    """A song beside works that carry it."""
    entry = find_entry([place.day for place in charted.places], days)
    lead, rise = estimate_lead(entry, works)
    moments = [moment for work in works for moment, _ in work.seen]
    return Beside(
        entry_after=entry.after,
        rise=rise,
        lead=lead,
        first_observed_at=min(moments, default=None),
        last_observed_at=max(moments, default=None),
    )


def to_platform_row(
    link: Link, charted: Charted, beside: Beside, sound: Sound | None
) -> dict[str, Any]:
    """A row of `marts.chart_platform`, but for when it was committed."""
    is_seen = beside.first_observed_at is not None
    lead = asdict(beside.lead)
    return {
        **asdict(link),
        "title": charted.song.title,
        "artist": charted.song.artist,
        "music_title": None if sound is None else sound.title,
        "music_author": None if sound is None else sound.author,
        **to_standing(charted),
        "entry_after_date": beside.entry_after,
        **{name: lead[name] for name in ("work_count", "observation_count", "observed_day_count")},
        "digg_count": beside.rise.digg_count if is_seen else None,
        "first_observed_at": beside.first_observed_at,
        "last_observed_at": beside.last_observed_at,
        "rise_after": beside.rise.after,
        "rise_before": beside.rise.before,
        "lead_days": beside.lead.days,
        "lead_low_days": beside.lead.low_days,
        "lead_high_days": beside.lead.high_days,
        "direction": beside.lead.direction,
        "lead_reason": beside.lead.reason,
        "method": METHOD,
    }


def to_standing(charted: Charted) -> dict[str, Any]:
    """How often, how high, and from when to when a song was on the kept issues."""
    return {
        "issue_count": len(charted.places),
        "best_rank": min(place.rank for place in charted.places),
        "first_chart_date": charted.places[0].day,
        "last_chart_date": charted.places[-1].day,
    }


def to_lead_document(beside: Beside) -> Document:
    """The estimate with its bounds and what stands behind it, as answers have it."""
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


def to_curve(rows: Iterable[Row]) -> list[Document]:
    """The sum over all works seen so far, hour by hour: what was known, nothing filled in.

    It also grows when works are found; the estimate does not use it.
    """
    by_work = {(row["observed_at"], row["aweme_id"]): row for row in rows}
    observations = ((at, aweme_id, row) for (at, aweme_id), row in sorted(by_work.items(), key=_at))
    return [
        {"observed_at": to_time(point.observed_at), **point.values}
        for point in total_over_time(observations)
    ]


def _at(entry: tuple[tuple[datetime, str], Row]) -> tuple[datetime, str]:
    return entry[0]
