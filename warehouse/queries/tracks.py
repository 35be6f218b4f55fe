"""Queries of the page of a track: its music ids, usage count, scans, creators, regions, variants.

Each returns rows of the star for one track, by the music id that was asked for. What they mean
together is in `api/services/tracks.py`.
"""

from typing import Final

from warehouse.engine.duckdb_engine import Engine
from warehouse.records.values import Row

MOST_SCANS = 100
MOST_VARIANTS = 20
_CARRYING: Final = """
    carrying as (
        select $id as music_id
        union
        select source_music_id from marts.track_videos where track_music_id = $id
    )
"""
"""The music ids that carry the recording of a track: its own, and those of confirmed videos."""


def read_track_names(engine: Engine, music_id: str) -> Row | None:
    """Return what is known of a music id: names, birth and newest usage count; None: nothing is."""
    rows = engine.rows("select * from marts.music_ids where music_id = $id", id=music_id)
    return rows[0] if rows else None


def read_music_ids(engine: Engine, music_id: str) -> list[Row]:
    """Return the music ids that carry the recording, the own one first, then by their videos."""
    return engine.rows(
        f"""
        with {_CARRYING},
        confirmed as (
            select source_music_id as music_id, count(*) as confirmed_video_count
            from marts.track_videos where track_music_id = $id
            group by source_music_id
        )
        select
            carrying.music_id,
            ids.title,
            ids.artist,
            ids.is_original_sound,
            ids.created_at,
            coalesce(confirmed_video_count, 0) as confirmed_video_count,
            ids.use_count,
            ids.use_count_exact,
            ids.use_count_step,
            ids.use_count_observed_at
        from carrying
        left join marts.music_ids as ids using (music_id)
        left join confirmed using (music_id)
        order by carrying.music_id <> $id, confirmed_video_count desc nulls last, music_id
        """,  # noqa: S608  # our text
        id=music_id,
    )


def read_usage(engine: Engine, music_id: str) -> list[Row]:
    """Return the platform's count of a music id on each day on which it was observed."""
    return engine.rows(
        "select * from marts.music_id_days where music_id = $id order by day", id=music_id
    )


def read_video_counts(engine: Engine, music_id: str) -> list[Row]:
    """Return how many videos were observed and confirmed by the end of each day with a read.

    Observed are the videos that use one of its music ids, and all that were ever confirmed.
    """
    return engine.rows(
        f"""
        with {_CARRYING},
        confirmed as (
            select aweme_id, first_confirmed_at::date as confirmed_on
            from marts.track_videos where track_music_id = $id
        ),
        videos as (
            select aweme_id, first_observed_at::date as observed_on
            from marts.videos
            where music_id in (select music_id from carrying)
                or aweme_id in (select aweme_id from confirmed)
        ),
        read_days as (
            select distinct day from marts.video_days
            where aweme_id in (select aweme_id from videos)
            union
            select confirmed_on from confirmed
        )
        select
            day,
            (select count(*) from videos where observed_on <= day) as observed_video_count,
            (select count(*) from confirmed where confirmed_on <= day) as confirmed_video_count
        from read_days
        order by day
        """,  # noqa: S608  # our text
        id=music_id,
    )


_SCANS: Final = """
    with confirmed as (
        select job_id, aweme_id, source_music_id, committed_at from marts.confirmed_videos
        where music_id = $id
    ),
    finished as (
        select job_id, committed_at, true as has_result from marts.job_results
        where music_id = $id
        union all
        select job_id, committed_at, false from confirmed
    ),
    scans as (
        -- only a scan has coverage: neither a copied result nor a discovery
        select
            job_id,
            max(committed_at) as concluded_at,
            bool_or(has_result) as has_result,
            lag(job_id) over (order by max(committed_at), job_id) as previous_job_id
        from finished
        where job_id in (select job_id from marts.coverage)
        group by job_id
    ),
    totals as (
        select
            job_id,
            count(*) as confirmed_video_count,
            count(distinct source_music_id) as music_id_count
        from confirmed group by job_id
    ),
    observed as (
        -- the likes of a video as its best observation until the end of the scan has them
        select
            scans.job_id,
            aweme_id,
            arg_max(
                digg_count, (statistics_complete, observed_at, seen.videos.committed_at)
            ) as digg_count
        from scans
        join confirmed using (job_id)
        join seen.videos using (aweme_id)
        where seen.videos.committed_at <= concluded_at
        group by scans.job_id, aweme_id
    ),
    likes as (
        select job_id, sum(digg_count)::bigint as digg_count from observed group by job_id
    ),
    appeared as (
        select scans.job_id, count(*) as new_video_count
        from scans join confirmed using (job_id)
        where (previous_job_id, aweme_id) not in (select (job_id, aweme_id) from confirmed)
        group by scans.job_id
    ),
    gone as (
        select scans.job_id, count(*) as gone_video_count
        from scans join confirmed as earlier on earlier.job_id = previous_job_id
        where (scans.job_id, aweme_id) not in (select (job_id, aweme_id) from confirmed)
        group by scans.job_id
    ),
    new_ids as (
        select scans.job_id, count(distinct source_music_id) as new_music_id_count
        from scans join confirmed using (job_id)
        where (previous_job_id, source_music_id)
            not in (select (job_id, source_music_id) from confirmed)
        group by scans.job_id
    ),
    moved as (
        select
            scans.job_id,
            count(*) filter (now.rank < before.rank) as risen_video_count,
            count(*) filter (now.rank > before.rank) as fallen_video_count
        from scans
        join marts.rankings as now on now.job_id = scans.job_id
        join marts.rankings as before
            on before.job_id = previous_job_id and before.aweme_id = now.aweme_id
        group by scans.job_id
    )
    select
        job_id,
        previous_job_id,
        concluded_at,
        has_result,
        coalesce(confirmed_video_count, 0) as confirmed_video_count,
        coalesce(music_id_count, 0) as music_id_count,
        digg_count,
        if(previous_job_id is null, null, coalesce(new_video_count, 0)) as new_video_count,
        if(previous_job_id is null, null, coalesce(gone_video_count, 0)) as gone_video_count,
        if(previous_job_id is null, null, coalesce(new_music_id_count, 0))
            as new_music_id_count,
        if(previous_job_id is null, null, coalesce(risen_video_count, 0))
            as risen_video_count,
        if(previous_job_id is null, null, coalesce(fallen_video_count, 0))
            as fallen_video_count
    from scans
    left join totals using (job_id)
    left join likes using (job_id)
    left join appeared using (job_id)
    left join gone using (job_id)
    left join new_ids using (job_id)
    left join moved using (job_id)
    order by concluded_at desc, job_id
    limit $most
"""
"""What each scan confirmed, compared with the scan before it."""


def read_scans(engine: Engine, music_id: str) -> list[Row]:
    """Return the newest scans of a track, newest first, each compared with the one before it.

    What changed is null for the first scan. A result is deleted after a while; what its scan
    confirmed is kept.
    """
    return engine.rows(_SCANS, id=music_id, most=MOST_SCANS)


def read_creators(engine: Engine, music_id: str) -> list[Row]:
    """Return the accounts of all confirmed videos with their first video, earliest first.

    `ip_location` is the region that the profile showed last; null if none was read.
    """
    return engine.rows(
        """
        with places as (
            select
                sec_uid,
                arg_max(ip_location, (observed_at, committed_at, surface)) as ip_location
            from seen.accounts
            group by sec_uid
        )
        select
            accounts.sec_uid,
            accounts.nickname,
            accounts.unique_id,
            accounts.follower_count,
            ip_location,
            count(*) as confirmed_video_count,
            sum(videos.digg_count)::bigint as digg_count,
            min(videos.created_at) as first_created_at,
            arg_min(aweme_id, (videos.created_at, aweme_id))
                filter (videos.created_at is not null) as first_aweme_id
        from marts.track_videos as track_videos
        join marts.videos as videos using (aweme_id)
        join marts.accounts as accounts on accounts.sec_uid = track_videos.sec_uid
        left join places on places.sec_uid = track_videos.sec_uid
        where track_music_id = $id
        group by all
        order by first_created_at nulls last, accounts.sec_uid
        """,
        id=music_id,
    )


def read_variants(engine: Engine, music_id: str) -> list[Row]:
    """Return each video with a changed version of the recording, most liked first."""
    return engine.rows(
        """
        select
            aweme_id,
            newest.kind as kind,
            newest.speed as speed,
            newest.semitones as semitones,
            videos."desc" as "desc",
            accounts.nickname as nickname,
            videos.sec_uid as sec_uid,
            videos.digg_count as digg_count
        from (
            select aweme_id, arg_max(row, (committed_at, job_id)) as newest
            from marts.variants as row where music_id = $id
            group by aweme_id
        )
        join marts.videos as videos using (aweme_id)
        left join marts.accounts as accounts on accounts.sec_uid = videos.sec_uid
        order by videos.digg_count desc nulls last, aweme_id
        """,
        id=music_id,
    )
