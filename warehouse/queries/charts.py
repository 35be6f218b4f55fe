"""Queries of the chart: its issues and songs over time, and what links them with music ids.

Which issue belongs to which day, the rules of linking and the lead estimate are in
`pipelines.charts.rules`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from warehouse.engine.duckdb_engine import Engine
from warehouse.engine.sql import released_songs
from warehouse.lake.record_rows import SONG_COLUMNS, chart_issue_from_row, chart_song_from_row
from warehouse.records import charts
from warehouse.records.values import Row

_UNDATED = "select volid from seen.chart_issues group by volid having count(chart_date) = 0"
# An issue that is listed without a date has that of its songs, once they are read.
_DATED_BY_SONGS = f"""
    select volid, max_by(chart_date, observed_at) as songs_date
    from {released_songs()}
    where chart_date is not null and volid in ({_UNDATED})
    group by volid
"""  # noqa: S608  # our text
_KNOWN_ISSUES = f"""
with issues as (
    select listed.* replace (coalesce(chart_date, songs_date) as chart_date)
    from seen.chart_issues as listed
    left join ({_DATED_BY_SONGS}) using (volid)
),
listed as (
    select
        volid,
        max(observed_at) as observed_at,
        max_by(
            {{
                'name': name, 'chart_date': chart_date, 'surface': surface,
                'scheduled_at': scheduled_at
            }},
            observed_at
        ) as said
    from issues
    where chart_date is not null
    group by volid
),
summary as (
    select
        max(said.chart_date) as latest,
        max_by(said.scheduled_at, said.chart_date) as latest_scheduled_at,
        max(observed_at) as listed_at
    from listed
)
select latest, latest_scheduled_at, listed_at, volid, observed_at, unnest(said)
from summary left join listed on said.chart_date between $first and $last
order by said.chart_date desc, volid
"""  # noqa: S608  # our text

_OF_ISSUES = "volid in (select unnest($volids::varchar[]))"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownIssues:
    """Issues of some days, the day of the newest issue, and when a list was last read.

    `scheduled_at` is when that newest issue is to be released, if the source says so.
    """

    issues: tuple[charts.ChartIssue, ...]
    latest: date
    listed_at: datetime
    scheduled_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSongs:
    """First songs of an issue as last read; `chart_date` is the date given with the songs."""

    songs: tuple[charts.ChartSong, ...]
    chart_date: date | None


def read_known_issues(engine: Engine, *, first: date, last: date) -> KnownIssues | None:
    """Return issues dated between two days, as last listed. None before the first list."""
    rows = engine.rows(_KNOWN_ISSUES, first=first, last=last)
    latest, listed_at = rows[0]["latest"], rows[0]["listed_at"]
    if latest is None:
        return None
    return KnownIssues(
        issues=tuple(chart_issue_from_row(row) for row in rows if row["volid"] is not None),
        latest=latest,
        listed_at=listed_at,
        scheduled_at=rows[0]["latest_scheduled_at"],
    )


def read_songs_of_issues(
    engine: Engine, volids: Sequence[str], *, limit: int
) -> Mapping[str, KnownSongs]:
    """Return the first songs of each issue, from its newest capture.

    Issues that were not read since their release are absent.
    """
    rows = engine.rows(
        f"""
        select volid, chart_date, {", ".join(SONG_COLUMNS)} from {released_songs(_OF_ISSUES)}
        where rank <= $limit
        qualify row_number() over (
            partition by volid, rank order by observed_at desc, committed_at desc
        ) = 1
        order by volid, rank
        """,  # noqa: S608  # the columns are constants
        volids=list(volids),
        limit=limit,
    )
    by_issue: dict[str, list[Row]] = {}
    for row in rows:
        by_issue.setdefault(row["volid"], []).append(row)
    return {
        volid: KnownSongs(
            songs=tuple(chart_song_from_row(row) for row in rows),
            chart_date=rows[0]["chart_date"],
        )
        for volid, rows in by_issue.items()
    }


def read_stored_issues(engine: Engine, volids: Sequence[str]) -> Mapping[str, date | None]:
    """Return which of these issues have songs in the lake, with the date given with the songs.

    Songs that were read before their issue was released do not count.
    """
    rows = engine.rows(
        f"""
        select volid, max_by(chart_date, observed_at) as chart_date
        from {released_songs(_OF_ISSUES)}
        where rank <= $limit
        group by volid
        """,  # noqa: S608  # our text
        volids=list(volids),
        limit=charts.SONG_LIMIT,
    )
    return {row["volid"]: row["chart_date"] for row in rows}


def read_undated_count(engine: Engine) -> int:
    """Return the number of listed issues whose date neither the list nor their songs give."""
    rows = engine.rows(
        f"""
        select count(*) as n from ({_UNDATED})
        where volid not in (select volid from ({_DATED_BY_SONGS}))
        """,  # noqa: S608  # our text
    )
    return int(rows[0]["n"])


def read_unread_undated(engine: Engine, *, first: date, last: date) -> list[str]:
    """Return the issues listed without a date that may be of these days, unless songs are stored.

    Ids grow with time, so an issue lies between the dated ones with the next lower and higher ids.
    """
    rows = engine.rows(
        f"""
        with numbered as (
            select volid, max(chart_date) as chart_date from seen.chart_issues group by volid
        ),
        placed as (
            select volid, chart_date,
                max(chart_date) over (order by len(volid), volid) as after_date,
                min(chart_date) over (
                    order by len(volid), volid rows between current row and unbounded following
                ) as before_date
            from numbered
        )
        select volid from placed
        where chart_date is null
            and coalesce(after_date <= $last, true) and coalesce(before_date >= $first, true)
            and volid not in (select volid from {released_songs()})
        order by len(volid), volid
        """,  # noqa: S608  # our text
        first=first,
        last=last,
    )
    return [row["volid"] for row in rows]


_KEPT_SONGS = f"""
    with kept as (
        select volid, rank, title, artist, song_hash,
               coalesce(listed_date, chart_date) as day
        from {released_songs()}
        where rank <= $limit
        qualify row_number() over (
            partition by volid, rank order by observed_at desc, committed_at desc
        ) = 1
    )
"""  # noqa: S608  # our text


def read_stored_songs(engine: Engine, song_key: str | None = None) -> list[Row]:
    """Return each position of each stored issue with a date, by date and rank.

    Columns: `day, volid, rank, title, artist, song_hash`. With a `song_key` only positions that can
    be that song: of its hash, or without a hash.
    """
    kind, _, mark = (song_key or "").partition(":")
    return engine.rows(
        f"""
        {_KEPT_SONGS}
        select day, volid, rank, title, artist, song_hash from kept
        where day is not null
            and ($kind = '' or lower(coalesce(song_hash, '')) = if($kind = 'hash', $mark, ''))
        order by day, volid, rank
        """,  # noqa: S608  # values are parameters
        limit=charts.SONG_LIMIT,
        kind=kind,
        mark=mark,
    )


def read_stored_days(engine: Engine) -> list[date]:
    """Return the dates of the issues with songs in the lake, oldest first."""
    rows = engine.rows(
        f"""
        select distinct max(coalesce(listed_date, chart_date)) as day from {released_songs()}
        where rank <= $limit
        group by volid having day is not null
        order by day
        """,  # noqa: S608  # our text
        limit=charts.SONG_LIMIT,
    )
    return [row["day"] for row in rows]


def read_platform_music(
    engine: Engine, music_ids: Sequence[str] | None = None
) -> Iterator[charts.PlatformMusic]:
    """Yield music ids with a known title, as last observed on their own pages or with a video.

    All of them, or those of `music_ids`.
    """
    rows = engine.rows(
        """
        with shown as (
            select music_id, title, author, is_original_sound, observed_at, true as is_own
            from seen.tracks where title is not null
            union all
            select music_id, music_title, max_by(music_author, observed_at),
                   max_by(music_is_original_sound, observed_at), max(observed_at), false
            from seen.videos where music_id is not null and music_title is not null
            group by music_id, music_title
        )
        select music_id, title, author, is_original_sound from shown
        where $ids is null or music_id in (select unnest($ids::varchar[]))
        qualify row_number() over (
            partition by music_id order by is_own desc, observed_at desc, title
        ) = 1
        order by music_id
        """,
        ids=None if music_ids is None else list(music_ids),
    )
    for row in rows:
        yield charts.PlatformMusic(**row)


def read_audio_matches(engine: Engine) -> list[charts.AudioMatch]:
    """Return the music ids that scans confirmed by audio to carry the recording of another."""
    rows = engine.rows(
        """
        select distinct music_id as track, source_music_id as music_id, false as is_variant
        from marts.confirmed_videos
        where source_music_id <> music_id
        union all
        select distinct music_id, source_music_id, true from marts.variants
        where source_music_id <> music_id
        order by all
        """,
    )
    return [charts.AudioMatch(row["track"], row["music_id"], row["is_variant"]) for row in rows]


def read_music_videos(engine: Engine, music_ids: Sequence[str]) -> list[Row]:
    """Return observed counts of videos confirmed for these music ids, as track or as own sound.

    `music_id, aweme_id, create_time, observed_at` and the four counts, oldest first. Only
    observations of all four counts, as in the series of a track; of one time, the last written.
    """
    return engine.rows(
        """
        with works as (
            select music_id, aweme_id from marts.confirmed_videos
            where music_id in (select unnest($ids::varchar[]))
            union
            select source_music_id, aweme_id from marts.confirmed_videos
            where source_music_id in (select unnest($ids::varchar[]))
        ),
        counted as (
            select aweme_id, observed_at,
                   digg_count, comment_count, collect_count, share_count,
                   min(create_time) over (partition by aweme_id) as create_time
            from seen.videos
            where statistics_complete and aweme_id in (select aweme_id from works)
            qualify row_number() over (
                partition by aweme_id, observed_at order by committed_at desc, surface
            ) = 1
        )
        select * from works join counted using (aweme_id)
        order by observed_at, aweme_id, music_id
        """,
        ids=sorted(set(music_ids)),
    )


def read_song_link_decisions(engine: Engine, song_key: str | None = None) -> list[Row]:
    """Return the users' decisions about songs and music ids, oldest first; of one song or all."""
    return engine.rows(
        """
        select link_id, song_key, music_id, said, said_by, note, origin, said_at
        from marts.chart_links where $key is null or song_key = $key
        order by said_at, link_id
        """,
        key=song_key,
    )


def to_song_link_decision(row: Row) -> charts.SongLinkDecision:
    """Convert a row to the record that the rules use."""
    names = ("link_id", "song_key", "music_id", "said", "said_at")
    return charts.SongLinkDecision(**{name: row[name] for name in names})


def read_chart_platform(engine: Engine, song_key: str | None = None) -> list[Row]:
    """Return the newest row of every song and music id; of one song or all.

    For notebooks: like the mart, without superseded rows and without pairs that are no longer
    linked (`relation` none).
    """
    return engine.rows(
        """
        select * from (
            select * from marts.chart_platform where $key is null or song_key = $key
            qualify row_number() over (
                partition by song_key, music_id order by committed_at desc
            ) = 1
        )
        where relation <> 'none'
        order by song_key, music_id
        """,
        key=song_key,
    )


# All observations of a video, an account, or the videos of a track.
#
# `pipelines/reads/series.py` turns them into points.

MOST_POINTS = 5000
MOST_OBSERVATIONS = 200_000


def read_video_series(engine: Engine, aweme_id: str) -> list[Row]:
    """Return the observations of a video that have at least one count, oldest first.

    Limited to the newest `MOST_POINTS`.
    """
    return engine.rows(
        """
        select * from (
            select observed_at, surface, job_id, "desc" as name, is_exact,
                   digg_count, comment_count, collect_count, share_count
            from seen.videos
            where aweme_id = $id
                and coalesce(digg_count, comment_count, collect_count, share_count) is not null
            order by observed_at desc limit $most
        ) order by observed_at
        """,
        id=aweme_id,
        most=MOST_POINTS,
    )


def read_account_series(engine: Engine, sec_uid: str) -> list[Row]:
    """Return the observations of an account that have at least one count, oldest first.

    Limited to the newest `MOST_POINTS`.
    """
    return engine.rows(
        """
        select * from (
            select observed_at, surface, job_id, nickname as name, true as is_exact,
                   follower_count, total_favorited, aweme_count, following_count
            from seen.accounts
            where sec_uid = $id
                and coalesce(follower_count, total_favorited, aweme_count) is not null
            order by observed_at desc limit $most
        ) order by observed_at
        """,
        id=sec_uid,
        most=MOST_POINTS,
    )


def read_track_series(engine: Engine, music_id: str) -> list[Row]:
    """Return complete observations of all videos confirmed for a track, oldest first.

    Limited to the newest `MOST_OBSERVATIONS`.
    """
    return engine.rows(
        """
        select * from (
            select observed_at, committed_at, aweme_id, job_id,
                   digg_count, comment_count, collect_count, share_count
            from seen.videos
            where statistics_complete and aweme_id in (
                select distinct aweme_id from marts.confirmed_videos where music_id = $id
            )
            order by observed_at desc, committed_at desc limit $most
        ) order by observed_at, committed_at
        """,
        id=music_id,
        most=MOST_OBSERVATIONS,
    )
