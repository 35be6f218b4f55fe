"""Queries of what scans observe and conclude: videos, tracks, comparisons, results, checkpoints.

Observations are read from `seen.*`: they count once the row of their capture exists. Ranking rules
are in `pipelines/scan/rules`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from warehouse.engine.duckdb_engine import Engine
from warehouse.lake import record_rows
from warehouse.records.values import Row
from warehouse.records.videos import Account, Track, Video
from warehouse.tables.marts import MARTS

JOBS_OF_TRACKS = """(
    select music_id as track_music_id, job_id from marts.job_results
    union
    select music_id, job_id from marts.rankings
    union
    select music_id, job_id from marts.confirmed_videos
    union
    select track_music_id, job_id from marts.audio_comparisons
)"""
"""SQL of `track_music_id, job_id`. What a job found outlasts its result."""
_OF_A_JOB = tuple(
    table.noun for table in MARTS if any(column.name == "job_id" for column in table.columns)
)


def read_scanned_tracks(engine: Engine) -> dict[str, Row]:
    """Return the tracks that scans were about, by music id, each with its newest scan.

    `title, artist, newest_job_id, last_result_at`; the last two are None once no result is stored.
    """
    rows = engine.rows(
        "select track_music_id, title, artist, newest_job_id, last_result_at from marts.tracks"
    )
    return {row["track_music_id"]: row for row in rows}


def read_latest_videos(engine: Engine, aweme_ids: Sequence[str]) -> dict[str, Video]:
    """Return the best observation of each video. Videos never observed are absent.

    The newest with all four counts exact, else the newest with likes, else the newest.
    """
    order = """
        statistics_complete desc, digg_count is not null desc, observed_at desc, committed_at desc
    """
    rows = _first_rows(engine, "seen.videos", "aweme_id", aweme_ids, order=order)
    return {aweme_id: record_rows.video_from_row(row) for aweme_id, row in rows.items()}


def read_first_observed(engine: Engine, aweme_ids: Sequence[str]) -> dict[str, datetime]:
    """Return when each video was first observed. Videos never observed are absent."""
    rows = engine.rows(
        """
        select aweme_id, min(observed_at) as observed_at from seen.videos
        where aweme_id in (select unnest($ids::varchar[]))
        group by aweme_id
        """,
        ids=list(aweme_ids),
    )
    return {row["aweme_id"]: row["observed_at"] for row in rows}


def read_latest_track(engine: Engine, music_id: str) -> Track | None:
    """Return the newest observation of a music id, or None."""
    rows = engine.rows(
        """
        select * from seen.tracks where music_id = $id
        order by observed_at desc, committed_at desc limit 1
        """,
        id=music_id,
    )
    return record_rows.track_from_row(rows[0]) if rows else None


def read_track_names(engine: Engine, music_ids: Sequence[str]) -> list[Row]:
    """Return `music_id`, `title` and `author` as last observed; unknown tracks are left out."""
    return engine.rows(
        """
        select
            music_id,
            arg_max(title, observed_at) as title,
            arg_max(author, observed_at) as author
        from seen.tracks
        where list_contains($ids, music_id)
        group by music_id
        """,
        ids=list(music_ids),
    )


_PICTURES = {
    "video": "select cover_url as url, observed_at from seen.videos where aweme_id = $id",
    "track": "select cover_url as url, observed_at from seen.tracks where music_id = $id",
    "account": """
        select avatar_url as url, observed_at from seen.accounts where sec_uid = $id
        union all
        select avatar_url as url, observed_at from seen.videos where sec_uid = $id
        """,
}


def read_picture_url(engine: Engine, kind: str, entity_id: str) -> str | None:
    """Return the newest URL of the cover of a video or track, or of an avatar; None: unknown."""
    rows = engine.rows(
        f"""
        with pictures as ({_PICTURES[kind]})
        select url from pictures where url is not null order by observed_at desc limit 1
        """,  # noqa: S608  # one of the texts above
        id=entity_id,
    )
    return str(rows[0]["url"]) if rows else None


def read_latest_accounts(engine: Engine, sec_uids: Sequence[str]) -> dict[str, Account]:
    """Return the newest observation of each account. Accounts never observed are absent."""
    order = "observed_at desc, committed_at desc"
    rows = _first_rows(engine, "seen.accounts", "sec_uid", sec_uids, order=order)
    return {sec_uid: record_rows.account_from_row(row) for sec_uid, row in rows.items()}


def read_sound_features(
    engine: Engine, aweme_ids: Sequence[str], feature_version: str
) -> dict[str, Row]:
    """Return per video its newest row of `raw.sounds` at this feature version.

    Videos without decoded audio are absent.
    """
    sounds = "(from raw.sounds where feature_version = $version)"
    return _first_rows(engine, sounds, "aweme_id", aweme_ids, version=feature_version)


def read_result_document(engine: Engine, job_id: str) -> Row | None:
    """Return the stored result of a job, or None."""
    rows = engine.rows(
        """
        select document from marts.job_results where job_id = $job_id
        order by committed_at desc limit 1
        """,
        job_id=job_id,
    )
    return with_reference_kinds(record_rows.unpack_document(rows[0]["document"])) if rows else None


def with_reference_kinds(document: Row) -> Row:
    """Tell references apart in a result of an earlier release, which named a song as a video.

    Changes the document, and returns it.
    """
    variants = document.get("variants") or {}
    for name in ("aweme_list", "candidates"):
        for entry in (*(document.get(name) or ()), *(variants.get(name) or ())):
            evidence = entry.get("evidence")
            if not evidence or "reference_kind" in evidence:
                continue
            is_song = evidence.get("reference_source") == "music_service"
            reference = evidence["reference_aweme_id"]
            evidence["reference_kind"] = "service_track" if is_song else "video"
            evidence["reference_aweme_id"] = None if is_song else reference
            evidence["reference_service_track_id"] = reference if is_song else None
            if is_song and "reference_aweme_id" in entry:
                entry["reference_aweme_id"] = None
    return document


def read_comparisons(engine: Engine, job_id: str) -> list[Row]:
    """Return every compared pair of a job, by candidate and then best score first."""
    return engine.rows(
        """
        select * from marts.audio_comparisons where job_id = $job_id
        order by candidate_aweme_id, score desc nulls last, comparison_id
        """,
        job_id=job_id,
    )


def read_verdicts(engine: Engine, job_id: str) -> list[Row]:
    """Return the verdict of every compared pair of a job, without its measurements.

    `reference_aweme_id` is null where the reference is a song of the music service.
    """
    return engine.rows(
        """
        select
            comparison_id,
            case when reference_source = 'music_service' then null else reference_aweme_id end
                as reference_aweme_id,
            candidate_aweme_id,
            verdict,
            score
        from marts.audio_comparisons where job_id = $job_id
        order by comparison_id
        """,
        job_id=job_id,
    )


def read_captions(engine: Engine, aweme_ids: Sequence[str]) -> dict[str, Row]:
    """Return the newest caption, link and account of videos, by id; unknown videos are left out.

    A song of the music service, whose sound is a reference too, has its title and artist.
    """
    rows = engine.rows(
        """
        select
            service_track_id as aweme_id,
            arg_max(coalesce(mapped_title, title), observed_at) as "desc",
            null as share_url,
            null as sec_uid,
            arg_max(coalesce(mapped_artist, author), observed_at) as nickname
        from seen.tracks
        where list_contains($ids, service_track_id)
        group by service_track_id
        union all
        select
            aweme_id,
            arg_max("desc", observed_at) as "desc",
            arg_max(share_url, observed_at) as share_url,
            arg_max(sec_uid, observed_at) as sec_uid,
            arg_max(nickname, observed_at) as nickname
        from seen.videos
        where list_contains($ids, aweme_id)
        group by aweme_id
        """,
        ids=list(aweme_ids),
    )
    return {row["aweme_id"]: row for row in rows}


def read_comparison(engine: Engine, comparison_id: str) -> Row | None:
    """Return one compared pair, or None."""
    rows = engine.rows(
        """
        select * from marts.audio_comparisons where comparison_id = $id
        order by committed_at desc limit 1
        """,
        id=comparison_id,
    )
    return rows[0] if rows else None


def read_sounds(engine: Engine, sha256s: Sequence[str], feature_version: str) -> dict[str, Row]:
    """Return per sound hash its newest row of `raw.sounds` at this feature version."""
    sounds = "(from raw.sounds where feature_version = $version)"
    return _first_rows(engine, sounds, "sound_sha256", sha256s, version=feature_version)


def read_common_sounds(engine: Engine) -> list[Row]:
    """Return the newest row of each common sound, the last learnt first."""
    return engine.rows(
        """
        from marts.common_sounds
        qualify row_number() over (partition by common_sound_id order by committed_at desc) = 1
        order by learnt_at desc, common_sound_id
        """
    )


def read_excerpts(engine: Engine, *, without_track: str) -> list[Row]:
    """Return the stretches of other tracks' references that were accepted as excerpts.

    At most 20 of a track and 200 in all, the newest first; one pair of each stretch.
    """
    return engine.rows(
        """
        with pairs as (
            select
                track_music_id, comparison_id, reference_sha256, reference_start_s, overlap_s,
                committed_at
            from (
                from marts.audio_comparisons
                union all by name
                from marts.catalog_matches
            )
            where verdict = 'variant' and speed = 1 and semitones = 0
                and reference_sha256 is not null and track_music_id <> $track
            qualify row_number() over (
                partition by track_music_id, reference_sha256, round(reference_start_s)
                order by committed_at desc, comparison_id
            ) = 1
        )
        from pairs
        qualify row_number() over (
            partition by track_music_id order by committed_at desc, comparison_id
        ) <= 20
        order by committed_at desc, comparison_id
        limit 200
        """,
        track=without_track,
    )


def read_candidates(engine: Engine, job_id: str) -> list[Row]:
    """Return every candidate of a job with its outcome, in the order of processing."""
    return engine.rows(
        """
        select * from marts.candidates where job_id = $job_id
        qualify row_number() over (partition by aweme_id order by committed_at desc) = 1
        order by priority desc, aweme_id
        """,
        job_id=job_id,
    )


@dataclass(frozen=True, slots=True)
class ConfirmedHistory:
    """What earlier jobs confirmed for a track; `run_count` counts jobs that confirmed any video."""

    run_count: int
    aweme_ids: frozenset[str]
    first_run_at: datetime | None


def read_confirmed_history(engine: Engine, music_id: str, *, without_job: str) -> ConfirmedHistory:
    """Return the union of what all jobs but one confirmed for a track."""
    history = engine.rows(
        """
        select count(distinct job_id) as runs, list(distinct aweme_id) as ids,
               min(committed_at) as first
        from marts.confirmed_videos where music_id = $music_id and job_id != $without_job
        """,
        music_id=music_id,
        without_job=without_job,
    )[0]
    return ConfirmedHistory(history["runs"], frozenset(history["ids"] or ()), history["first"])


def read_annotations(engine: Engine, comparison_id: str | None = None) -> list[Row]:
    """Return the annotations of a comparison, or of all comparisons, oldest first.

    Each row also has the columns of the newest row of its comparison.
    """
    return engine.rows(
        """
        with compared as (
            select * exclude (committed_at) from marts.audio_comparisons
            qualify row_number() over (
                partition by comparison_id order by committed_at desc
            ) = 1
        )
        select annotations.*, compared.* exclude (comparison_id)
        from marts.annotations as annotations
        left join compared using (comparison_id)
        where $id is null or annotations.comparison_id = $id
        order by annotations.annotated_at, annotations.annotation_id
        """,
        {"id": comparison_id},
    )


def read_checkpoints(engine: Engine, job_id: str) -> list[Row]:
    """Return the checkpoints of a job, the last one first."""
    return engine.rows(
        """
        select * from raw.scan_checkpoints where job_id = $job_id
        order by number desc, run_number desc
        """,
        job_id=job_id,
    )


def read_marts_of_job(engine: Engine, job_id: str) -> list[str]:
    """Return the marts that have rows of a job."""
    each = " union all ".join(
        f"select '{name}' as mart where exists (select 1 from marts.{name} where job_id = $job_id)"  # noqa: S608  # names of our own tables
        for name in _OF_A_JOB
    )
    return [str(row["mart"]) for row in engine.rows(each, job_id=job_id)]


def read_checkpointed_jobs(engine: Engine) -> list[str]:
    """Return the jobs that have checkpoints."""
    rows = engine.rows("select distinct job_id from raw.scan_checkpoints order by job_id")
    return [str(row["job_id"]) for row in rows]


def _first_rows(
    engine: Engine,
    relation: str,
    key: str,
    values: Sequence[str],
    *,
    order: str = "committed_at desc",
    **params: object,
) -> dict[str, Row]:
    """Return the first row, in this order, of each of these keys that has any."""
    rows = engine.rows(
        f"""
        from {relation} where {key} in (select unnest($ids::varchar[]))
        qualify row_number() over (partition by {key} order by {order}) = 1
        """,  # words of this module
        ids=list(values),
        **params,
    )
    return {row[key]: row for row in rows}
