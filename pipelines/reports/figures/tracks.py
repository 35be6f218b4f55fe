"""Report queries on tracks: their videos, accounts, growth, music ids and evidence.

The counts of a video are those of its newest complete observation, else of its newest one with any
count; an unknown count is null. Videos are the union of all jobs' confirmed videos.
"""

from collections.abc import Mapping

import pyarrow as pa

from pipelines.reads.series import COUNTS, total_over_time
from pipelines.reports.figures.subjects import ReportSubject
from warehouse.engine.duckdb_engine import Engine
from warehouse.records.values import ReadOnlyRow

_CONFIRMED = """
    confirmed as (
        select * from marts.confirmed_videos where music_id = $id
        qualify row_number() over (
            partition by aweme_id order by committed_at desc, job_id desc
        ) = 1
    ),
    newest as (
        select * from seen.videos where aweme_id in (select aweme_id from confirmed)
        qualify row_number() over (
            partition by aweme_id order by
                statistics_complete desc, (digg_count is not null) desc,
                observed_at desc, committed_at desc, surface
        ) = 1
    ),
    works as (
        select
            confirmed.*, "desc" as title, nickname, unique_id, create_time, observed_at,
            digg_count, comment_count, collect_count, share_count,
            digg_count + 4 * comment_count + 3 * collect_count + 8 * share_count as hot_score
        from confirmed left join newest using (aweme_id)
    )
"""


def read_summary(engine: Engine, music_id: str) -> pa.Table:
    """Summarize the track in one row: name, confirmed counts, first and last scan."""
    return engine.table(
        f"""
        with {_CONFIRMED},
        named as (
            select max_by(title, (observed_at, surface)) as title,
                max_by(author, (observed_at, surface)) as author,
                max_by(duration_s, (observed_at, surface)) as duration_s
            from seen.tracks where music_id = $id
        )
        select
            $id as music_id, max(named.title) as title, max(named.author) as author,
            max(named.duration_s) as duration_s,
            count(works.aweme_id) as work_count, count(distinct works.sec_uid) as account_count,
            count(distinct works.source_music_id) as music_id_count,
            cast(sum(hot_score) as bigint) as hot_score,
            count(works.aweme_id) - count(hot_score) as works_without_all_counts,
            (select count(distinct job_id) from marts.job_results where music_id = $id)
                as scan_count,
            (select min(committed_at) from marts.job_results where music_id = $id) as first_scan,
            (select max(committed_at) from marts.job_results where music_id = $id) as last_scan
        from named left join works on true
        """,  # noqa: S608  # constant text
        {"id": music_id},
    )


def read_works(engine: Engine, music_id: str) -> pa.Table:
    """Return every confirmed video by hot score; those without all four counts come last."""
    return engine.table(
        f"""
        with {_CONFIRMED}
        select
            row_number() over (order by hot_score desc nulls last, aweme_id) as place,
            aweme_id, title, nickname, hot_score, digg_count, comment_count, collect_count,
            share_count, link_type, source_music_id,
            to_timestamp(create_time) as published_at, observed_at
        from works order by place
        """,  # noqa: S608  # constant text
        {"id": music_id},
    )


def read_users(engine: Engine, music_id: str) -> pa.Table:
    """Return the accounts of the confirmed videos by the total hot score of their videos."""
    return engine.table(
        f"""
        with {_CONFIRMED},
        profiles as (
            select sec_uid, nickname as profile_name, follower_count from seen.accounts
            qualify row_number() over (
                partition by sec_uid order by (follower_count is not null) desc,
                observed_at desc, committed_at desc, surface
            ) = 1
        )
        select
            coalesce(max(profile_name), max(nickname)) as nickname, sec_uid,
            max(follower_count) as follower_count, count(*) as work_count,
            cast(sum(hot_score) as bigint) as hot_score, cast(sum(digg_count) as bigint)
                as digg_count,
            to_timestamp(min(create_time)) as first_published,
            to_timestamp(max(create_time)) as last_published
        from works left join profiles using (sec_uid)
        where sec_uid is not null
        group by sec_uid order by hot_score desc nulls last, work_count desc, sec_uid
        """,  # noqa: S608  # constant text
        {"id": music_id},
    )


def read_music_ids(engine: Engine, music_id: str) -> pa.Table:
    """Return the music ids that carry the recording, by link type."""
    return engine.table(
        f"""
        with {_CONFIRMED}
        select
            source_music_id, max(source_music_title) as title, link_type,
            count(*) as work_count, cast(sum(hot_score) as bigint) as hot_score,
            min(expansion_round) as found_in_round
        from works group by source_music_id, link_type
        order by sum(count(*)) over (partition by source_music_id) desc, source_music_id, link_type
        """,  # noqa: S608  # constant text
        {"id": music_id},
    )


def read_publication(engine: Engine, music_id: str) -> pa.Table:
    """Count confirmed videos by month of publication, with a running total."""
    return engine.table(
        f"""
        with {_CONFIRMED},
        months as (
            select cast(date_trunc('month', to_timestamp(create_time)) as date) as month,
                count(*) as work_count
            from works where create_time is not null group by month
        )
        select month, work_count,
            cast(sum(work_count) over (order by month) as bigint) as until_then
        from months order by month
        """,  # noqa: S608  # constant text
        {"id": music_id},
    )


def read_growth(engine: Engine, subject: ReportSubject) -> pa.Table:
    """Sum the counts of all confirmed videos, for each hour with an observation.

    A video is included from its first complete observation; before that its counts are unknown.
    """
    found = engine.rows(
        """
        select observed_at, aweme_id, digg_count, comment_count, collect_count, share_count
        from seen.videos
        where statistics_complete and aweme_id in (
            select distinct aweme_id from marts.confirmed_videos where music_id = $id
        )
        order by observed_at, aweme_id, committed_at, surface
        """,
        {"id": subject.id},
    )
    observations = ((row["observed_at"], row["aweme_id"], row) for row in found)
    points = total_over_time(observations)
    schema = pa.schema(
        [
            ("track", pa.string()),
            ("observed_at", pa.timestamp("us", tz="UTC")),
            ("observed_works", pa.int64()),
            *((name, pa.int64()) for name in COUNTS),
        ]
    )
    rows = [_growth_row(subject.label, point.observed_at, point.values) for point in points]
    return pa.Table.from_pylist(rows, schema=schema)


def read_evidence(engine: Engine, music_id: str) -> pa.Table:
    """Return every pair of the newest scan with comparisons, closest first."""
    return engine.table(
        """
        with newest as (
            select max_by(job_id, (committed_at, job_id)) as job_id
            from marts.audio_comparisons where track_music_id = $id
        )
        select
            verdict, reason, segment, chroma_distance, mfcc_distance, overlap_s, score, speed,
            semitones, observation, candidate_aweme_id, candidate_music_id, reference_aweme_id,
            limits, algorithm, comparison_id
        from marts.audio_comparisons
        where track_music_id = $id and job_id = (select job_id from newest)
        order by chroma_distance nulls last, comparison_id
        """,
        {"id": music_id},
    )


def read_variants(engine: Engine, music_id: str) -> pa.Table:
    """Return videos with the recording at another speed or pitch, which are not confirmed."""
    return engine.table(
        """
        with heard as (
            select * from marts.variants where music_id = $id
            qualify row_number() over (
                partition by aweme_id order by committed_at desc, job_id desc
            ) = 1
        ),
        named as (
            select aweme_id, max_by("desc", (observed_at, surface)) as title,
                max_by(nickname, (observed_at, surface)) as nickname,
                max_by(digg_count, (observed_at, surface)) as digg_count
            from seen.videos where aweme_id in (select aweme_id from heard) group by aweme_id
        )
        select kind, speed, semitones, aweme_id, title, nickname, digg_count, source_music_id
        from heard left join named using (aweme_id)
        order by kind, speed, semitones, aweme_id
        """,
        {"id": music_id},
    )


def read_coverage(engine: Engine, music_id: str) -> pa.Table:
    """Return the coverage of all scans of the track by source and stop reason."""
    return engine.table(
        """
        select
            surface, stop_reason, count(distinct job_id) as scans,
            cast(sum(requests) as bigint) as requests, cast(sum(pages) as bigint) as pages,
            cast(sum(items) as bigint) as items, cast(sum(new_items) as bigint) as new_items
        from marts.coverage
        where job_id in (select job_id from marts.job_results where music_id = $id)
        group by surface, stop_reason order by surface, stop_reason
        """,
        {"id": music_id},
    )


def read_shared(engine: Engine, music_ids: list[str]) -> pa.Table:
    """Return accounts that use more than one of the tracks, with their number of videos."""
    return engine.table(
        """
        with uses as (
            select distinct music_id, aweme_id, sec_uid from marts.confirmed_videos
            where music_id in (select unnest($ids::varchar[])) and sec_uid is not null
        ),
        named as (
            select sec_uid, max_by(nickname, (observed_at, aweme_id, surface)) as nickname
            from seen.videos where sec_uid is not null group by sec_uid
        )
        select
            max(nickname) as nickname, sec_uid, count(distinct music_id) as track_count,
            count(distinct aweme_id) as work_count,
            list(distinct music_id order by music_id) as music_ids
        from uses left join named using (sec_uid)
        group by sec_uid having count(distinct music_id) > 1
        order by track_count desc, work_count desc, sec_uid
        """,
        {"ids": music_ids},
    )


def joined(tables: Mapping[str, pa.Table], *, name: str = "track") -> pa.Table:
    """Concatenate tables of several subjects, with the subject as first column."""
    parts = [
        table.add_column(0, name, pa.array([label] * table.num_rows, pa.string()))
        for label, table in tables.items()
    ]
    return pa.concat_tables(parts)


def _growth_row(label: str, observed_at: object, values: ReadOnlyRow) -> dict[str, object]:
    return {
        "track": label,
        "observed_at": observed_at,
        "observed_works": values["work_count"],
        **{count: values[count] for count in COUNTS},
    }
