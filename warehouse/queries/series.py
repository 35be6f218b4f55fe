"""All observations of a video, an account, or the videos of a track.

`pipelines/reads/series.py` turns them into points.
"""

from warehouse.engine.duckdb_engine import Engine
from warehouse.records.values import Row

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
