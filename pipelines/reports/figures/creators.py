"""Report queries on an account: its profile over time, its videos, the tracks they use."""

import pyarrow as pa

from warehouse.engine.duckdb_engine import Engine


def read_profile(engine: Engine, sec_uid: str) -> pa.Table:
    """Summarize the account in one row, from its last profile and its videos."""
    return engine.table(
        """
        with profile as (
            select * from seen.accounts where sec_uid = $id
            order by observed_at desc, committed_at desc, surface limit 1
        ),
        met as (
            select max_by(nickname, (observed_at, aweme_id, surface)) as nickname,
                max_by(unique_id, (observed_at, aweme_id, surface)) as unique_id,
                count(distinct aweme_id) as observed_works,
                min(observed_at) as first_observed, max(observed_at) as last_observed
            from seen.videos where sec_uid = $id
        )
        select
            coalesce(profile.nickname, met.nickname) as nickname,
            coalesce(profile.unique_id, met.unique_id) as unique_id, $id as sec_uid,
            follower_count, total_favorited, aweme_count as published_works,
            met.observed_works, met.first_observed, met.last_observed,
            profile.observed_at as profile_read_at
        from met left join profile on true
        """,
        {"id": sec_uid},
    )


def read_profile_series(engine: Engine, sec_uid: str) -> pa.Table:
    """Return every observation of the profile, oldest first."""
    return engine.table(
        """
        select observed_at, follower_count, total_favorited, aweme_count, surface
        from seen.accounts where sec_uid = $id
        order by observed_at, committed_at, surface
        """,
        {"id": sec_uid},
    )


def read_creator_works(engine: Engine, sec_uid: str) -> pa.Table:
    """Return every observed video of the account with its last known counts, newest first."""
    return engine.table(
        """
        with newest as (
            select * from seen.videos where sec_uid = $id
            qualify row_number() over (
                partition by aweme_id order by
                    statistics_complete desc, (digg_count is not null) desc,
                    observed_at desc, committed_at desc, surface
            ) = 1
        )
        select
            to_timestamp(create_time) as published_at, aweme_id, "desc" as title,
            digg_count + 4 * comment_count + 3 * collect_count + 8 * share_count as hot_score,
            digg_count, comment_count, collect_count, share_count, statistics_complete,
            music_id, music_title, observed_at
        from newest order by create_time desc nulls last, aweme_id
        """,
        {"id": sec_uid},
    )


def read_tracks_used(engine: Engine, sec_uid: str) -> pa.Table:
    """Return the scanned tracks that the account's videos use, by link type."""
    return engine.table(
        """
        with used as (
            select * from marts.confirmed_videos where sec_uid = $id
            qualify row_number() over (
                partition by music_id, aweme_id order by committed_at desc, job_id desc
            ) = 1
        ),
        named as (
            select music_id, max_by(title, (observed_at, surface)) as title from seen.tracks
            group by music_id
        )
        select
            max(title) as title, used.music_id, link_type, count(*) as work_count,
            list(aweme_id order by aweme_id) as aweme_ids
        from used left join named using (music_id)
        group by used.music_id, link_type
        order by work_count desc, used.music_id, link_type
        """,
        {"id": sec_uid},
    )


def read_surfaces(engine: Engine, sec_uid: str) -> pa.Table:
    """Count the observations of the account's videos by surface, with their completeness."""
    return engine.table(
        """
        select
            surface, count(*) as observations, count(distinct aweme_id) as works,
            count_if(statistics_complete) as with_all_counts,
            min(observed_at) as first_observed, max(observed_at) as last_observed
        from seen.videos where sec_uid = $id group by surface order by surface
        """,
        {"id": sec_uid},
    )
