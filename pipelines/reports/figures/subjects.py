"""Choose the subject of a report: the given tracks or account, or a default.

Holds the choice and a helpful error for unknown ids. An id that is typed plainly reaches a notebook
as a number, so ids are accepted as both. Not here: the queries of a report.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches

import pyarrow as pa

from pipelines.documents.html_pages import plain_text
from pipelines.reads.series import total_over_time
from warehouse.engine.duckdb_engine import Engine
from warehouse.records.errors import InvalidParameterError, NothingToReportError
from warehouse.records.videos import COUNTS

# Tables of tracks that SQL cannot make in a few lines: counts over time, several tracks.


def add_up(observed: pa.Table, label: str) -> pa.Table:
    """Sum the counts of all videos observed so far, for each hour with an observation.

    A video is included from its first complete observation; before that its counts are unknown.
    `gained_likes` is what the same videos gained since then: a newly found one adds nothing to it.

    Args:
        observed: Complete observations in time order: time, video id and the four counts.
        label: The name of the track, in the first column.
    """
    points = total_over_time(
        (row["observed_at"], row["aweme_id"], row) for row in observed.to_pylist()
    )
    # The types are given, because a column whose first values are unknown would have none.
    schema = pa.schema(
        [
            ("track", pa.string()),
            ("observed_at", pa.timestamp("us", tz="UTC")),
            ("observed_works", pa.int64()),
            *((name, pa.int64()) for name in COUNTS),
            ("gained_likes", pa.int64()),
            ("followed_works", pa.int64()),
        ]
    )
    rows = [
        {
            "track": label,
            "observed_at": point.observed_at,
            "observed_works": point.values["work_count"],
            **{count: point.values[count] for count in COUNTS},
            "gained_likes": point.growth.values["digg_count"],
            "followed_works": point.growth.followed_count,
        }
        for point in points
    ]
    return pa.Table.from_pylist(rows, schema=schema)


def join_by_track(tables: Mapping[str, pa.Table]) -> pa.Table:
    """Concatenate tables of several tracks, with the track as first column."""
    parts = [
        table.add_column(0, "track", pa.array([label] * table.num_rows, pa.string()))
        for label, table in tables.items()
    ]
    return pa.concat_tables(parts)


MOST_TRACKS = 6
"""There are as many colours, dashes and shapes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSubject:
    """A track or an account: its id and last known name."""

    id: str
    name: str | None

    @property
    def label(self) -> str:
        """The name and the end of the id, because names are not unique."""
        return f"{self.name or '(no name)'} …{self.id[-4:]}"


def read_tracks(engine: Engine) -> list[ReportSubject]:
    """Return the tracks with a stored result of a scan, latest first."""
    rows = engine.rows(
        """
        select track_music_id, title from marts.tracks where last_result_at is not null
        order by last_result_at desc, track_music_id
        """
    )
    return [ReportSubject(id=str(row["track_music_id"]), name=_text(row["title"])) for row in rows]


def read_accounts(engine: Engine) -> list[ReportSubject]:
    """Return the observed accounts, those with most confirmed videos first."""
    rows = engine.rows(
        """
        with users as (
            select sec_uid, count(distinct aweme_id) as videos from marts.confirmed_videos
            where sec_uid is not null group by sec_uid
        ),
        named as (
            select sec_uid, max_by(nickname, (observed_at, aweme_id, surface)) as nickname
            from seen.videos where sec_uid is not null group by sec_uid
        ),
        profiles as (
            select sec_uid, max_by(nickname, (observed_at, committed_at, surface)) as nickname
            from seen.accounts group by sec_uid
        )
        select sec_uid, coalesce(profiles.nickname, named.nickname) as nickname
        from named full join profiles using (sec_uid) left join users using (sec_uid)
        order by users.videos desc nulls last, sec_uid
        """
    )
    return [ReportSubject(id=str(row["sec_uid"]), name=_text(row["nickname"])) for row in rows]


def choose_track(engine: Engine, music_id: str | int) -> ReportSubject:
    """Return the given track; for an empty id, the track of the latest completed scan.

    Raises:
        InvalidParameterError: The track was never scanned, or no track was.
    """
    return _choose(read_tracks(engine), music_id, what="track", parameter="music_id")


def choose_tracks(engine: Engine, music_ids: str | int) -> list[ReportSubject]:
    """Return the tracks of a comma-separated list; for an empty list, the latest three.

    Raises:
        InvalidParameterError: A track is unknown, or there are fewer than two or too many.
    """
    tracks = read_tracks(engine)
    ids = [music_id.strip() for music_id in str(music_ids).split(",") if music_id.strip()]
    chosen = [
        _choose(tracks, music_id, what="track", parameter="music_ids")
        for music_id in dict.fromkeys(ids)
    ] or tracks[:3]
    if not 2 <= len(chosen) <= MOST_TRACKS:  # noqa: PLR2004  # a comparison has two sides
        raise (InvalidParameterError if ids else NothingToReportError)(
            f"music_ids: a comparison needs 2 to {MOST_TRACKS} scanned tracks, "
            f"there are {len(chosen)}"
        )
    return chosen


def choose_account(engine: Engine, sec_uid: str | int) -> ReportSubject:
    """Return the given account; for an empty id, the one with the most confirmed videos.

    Raises:
        InvalidParameterError: The account was never observed, or no account was.
    """
    return _choose(read_accounts(engine), sec_uid, what="account", parameter="sec_uid")


def parse_range(first: str, last: str) -> tuple[date | None, date | None]:
    """Parse the first and last day of a range; None leaves an end open.

    Raises:
        InvalidParameterError: A text is not a date, or the order is wrong.
    """
    begin, end = _day("first", first), _day("last", last)
    if begin is not None and end is not None and begin > end:
        raise InvalidParameterError(f"first ({begin}) is after last ({end})")
    return begin, end


def _day(name: str, text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip()) if text.strip() else None
    except ValueError as error:
        raise InvalidParameterError(f"{name}: {text!r} is not a date like 2026-11-01") from error


def _choose(
    subjects: list[ReportSubject], subject_id: str | int, *, what: str, parameter: str
) -> ReportSubject:
    by_id = {subject.id: subject for subject in subjects}
    # An id that is typed without quotes reaches a notebook as a number.
    subject_id = str(subject_id).strip()
    if not subjects:
        raise NothingToReportError(f"{parameter}: no {what} was seen until this moment")
    if not subject_id:
        return subjects[0]
    if subject_id in by_id:
        return by_id[subject_id]
    # Without a cutoff there is always a nearest id, which shows what an id looks like.
    near = get_close_matches(subject_id, by_id, n=1, cutoff=0.0)
    raise InvalidParameterError(
        f"{parameter}: no {what} {subject_id!r} was seen until this moment; "
        f"of {len(subjects):,} known the nearest is {near[0]} ({by_id[near[0]].name or 'no name'})"
    )


def _text(value: object) -> str | None:
    return None if value is None else plain_text(value)
