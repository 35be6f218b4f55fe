"""What scans have found about the tracks of a catalogue: per track, per music id, per video.

The tracks are given with each query, because catalogues are in the control store. The views of the
star must be shown (`Engine.show_star`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.engine.duckdb_engine import Engine
from warehouse.queries.results import JOBS_OF_TRACKS

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogQueryTrack:
    """A track of a catalogue as a query needs it. `previous_job_id`: of the result before."""

    key: str
    label: str | None
    music_id: str
    result_job_id: str | None
    previous_job_id: str | None


_ASKED = """
with
asked as (
    select
        unnest($keys::varchar[]) as track_key,
        unnest($labels::varchar[]) as label,
        unnest($music_ids::varchar[]) as track_music_id,
        unnest($results::varchar[]) as result_job_id,
        unnest($previous::varchar[]) as previous_job_id,
        unnest(range(len($keys::varchar[]))) as place
),
before as (
    -- the coverage of a scan is kept for good, its result is not; a copied result has no coverage
    select track_key, coalesce(max(coverage.committed_at), min(results.committed_at)) as previous_at
    from asked
    left join marts.coverage as coverage on coverage.job_id = previous_job_id
    left join marts.job_results as results on results.job_id = previous_job_id
    group by track_key
),
variants as (
    select
        track_music_id,
        candidate_aweme_id as aweme_id,
        arg_max(comparison, (committed_at, score, comparison_id)) as best
    from marts.audio_comparisons as comparison
    where verdict = 'variant' and track_music_id in (select track_music_id from asked)
    group by all
),
carrying as (
    select
        track_music_id, aweme_id, 'confirmed' as relation, link_type, source_music_id,
        comparison_id, job_id, first_confirmed_at, is_in_newest_result
    from marts.track_videos
    where track_music_id in (select track_music_id from asked)
    union all by name
    select
        track_music_id, aweme_id, 'variant' as relation, best.candidate_music_id as source_music_id,
        best.comparison_id as comparison_id, best.job_id as job_id
    from variants
    anti join marts.track_videos using (track_music_id, aweme_id)
)
"""

_VIDEOS = """
select
    track_key,
    asked.label,
    track_music_id,
    carrying.aweme_id,
    relation,
    link_type,
    source_music_id,
    score,
    speed,
    semitones,
    videos.sec_uid,
    nickname,
    videos.created_at,
    digg_count,
    comment_count,
    collect_count,
    share_count,
    counts_observed_at,
    videos.share_url,
    carrying.job_id,
    carrying.comparison_id,
    first_confirmed_at,
    case when relation = 'confirmed' then first_confirmed_at > previous_at end as is_new
from asked
join carrying using (track_music_id)
left join before using (track_key)
left join marts.audio_comparisons as pairs on pairs.comparison_id = carrying.comparison_id
left join marts.videos as videos on videos.aweme_id = carrying.aweme_id
left join marts.accounts as accounts on accounts.sec_uid = videos.sec_uid
order by place, relation, digg_count desc nulls last, carrying.aweme_id
"""

_MUSIC_IDS = """
, met as (
    select
        track_music_id, source_music_id as music_id,
        min(first_confirmed_at) as first_confirmed_at,
        count(*) filter (relation = 'variant') as variant_video_count
    from carrying
    group by all
)
select
    track_key,
    asked.label,
    genealogy.*,
    coalesce(variant_video_count, 0) as variant_video_count,
    first_confirmed_at,
    first_confirmed_at > previous_at as is_new
from asked
join marts.genealogy as genealogy using (track_music_id)
left join before using (track_key)
left join met using (track_music_id, music_id)
order by
    place, evidence = 'name', confirmed_video_count desc, genealogy.created_at nulls last,
    genealogy.music_id
"""

_TRACKS = f"""
, found as (
    select
        track_key,
        count(*) filter (relation = 'confirmed') as confirmed_video_count,
        count(*) filter (relation = 'variant') as variant_video_count,
        count(distinct videos.sec_uid) filter (relation = 'confirmed') as account_count,
        sum(digg_count) filter (relation = 'confirmed')::bigint as digg_count,
        sum(comment_count) filter (relation = 'confirmed')::bigint as comment_count,
        sum(collect_count) filter (relation = 'confirmed')::bigint as collect_count,
        sum(share_count) filter (relation = 'confirmed')::bigint as share_count,
        count(*) filter (first_confirmed_at > previous_at) as new_video_count
    from asked
    join carrying using (track_music_id)
    left join before using (track_key)
    left join marts.videos as videos on videos.aweme_id = carrying.aweme_id
    group by track_key
),
linked as (
    select track_music_id, source_music_id, min(first_confirmed_at) as first_confirmed_at
    from carrying
    where relation = 'confirmed'
    group by all
),
music_ids as (
    select
        track_key,
        count(*) as music_id_count,
        count(*) filter (first_confirmed_at > previous_at) as new_music_id_count
    from asked
    join linked using (track_music_id)
    left join before using (track_key)
    group by track_key
),
of_job as (
    select job_id, aweme_id from marts.confirmed_videos
    where job_id in (select result_job_id from asked union select previous_job_id from asked)
),
missing as (
    -- known only of two scans, which have coverage: a result copied from an equal job has no rows
    select track_key, count(earlier.aweme_id) filter (newest.aweme_id is null)
        as missing_video_count
    from asked
    left join of_job as earlier on earlier.job_id = previous_job_id
    left join of_job as newest
        on newest.job_id = result_job_id and newest.aweme_id = earlier.aweme_id
    where result_job_id in (select job_id from marts.coverage)
        and previous_job_id in (select job_id from marts.coverage)
    group by track_key
),
jobs as (
    from {JOBS_OF_TRACKS}
    where track_music_id in (select track_music_id from asked)
),
estimates as (
    select track_music_id, unit, arg_max(row, committed_at) as estimate
    from marts.coverage_estimates as row
    join jobs using (job_id)
    group by all
),
audits as (
    select track_music_id, arg_max(row, committed_at) as audit
    from marts.random_audits as row
    join jobs using (job_id)
    group by all
)
select
    track_key,
    tracks.title,
    tracks.artist,
    coalesce(music_id_count, 0) as music_id_count,
    coalesce(found.confirmed_video_count, 0) as confirmed_video_count,
    coalesce(found.variant_video_count, 0) as variant_video_count,
    coalesce(found.account_count, 0) as account_count,
    found.digg_count,
    found.comment_count,
    found.collect_count,
    found.share_count,
    previous_at,
    case when previous_at is not null then coalesce(new_music_id_count, 0) end
        as new_music_id_count,
    case when previous_at is not null then coalesce(new_video_count, 0) end as new_video_count,
    missing_video_count,
    music.estimate.method as music_id_method,
    music.estimate.estimated_count as music_id_estimate,
    music.estimate.lower_count as music_id_lower,
    music.estimate.upper_count as music_id_upper,
    music.estimate.not_estimated_reason as music_id_not_estimated_reason,
    video.estimate.method as video_method,
    video.estimate.estimated_count as video_estimate,
    video.estimate.lower_count as video_lower,
    video.estimate.upper_count as video_upper,
    video.estimate.not_estimated_reason as video_not_estimated_reason,
    audit.upper_share as left_out_upper_share
from asked
left join before using (track_key)
left join marts.music_ids as tracks on tracks.music_id = asked.track_music_id
left join found using (track_key)
left join music_ids using (track_key)
left join missing using (track_key)
left join estimates as music
    on music.track_music_id = asked.track_music_id and music.unit = 'music_id'
left join estimates as video
    on video.track_music_id = asked.track_music_id and video.unit = 'video'
left join audits on audits.track_music_id = asked.track_music_id
order by place
"""  # noqa: S608  # our text


def read_catalog_tracks(engine: Engine, tracks: Sequence[CatalogQueryTrack]) -> "pa.Table":
    """Return one row per track: what all its scans found, its newest estimates, what changed."""
    return engine.table(_ASKED + _TRACKS, _params(tracks))


def read_catalog_music_ids(engine: Engine, tracks: Sequence[CatalogQueryTrack]) -> "pa.Table":
    """Return one row per track and music id of `marts.genealogy`."""
    return engine.table(_ASKED + _MUSIC_IDS, _params(tracks))


def read_catalog_videos(engine: Engine, tracks: Sequence[CatalogQueryTrack]) -> "pa.Table":
    """Return one row per track and video, confirmed or a variant, the most liked first."""
    return engine.table(_ASKED + _VIDEOS, _params(tracks))


def _params(tracks: Sequence[CatalogQueryTrack]) -> dict[str, object]:
    return {
        "keys": [track.key for track in tracks],
        "labels": [track.label for track in tracks],
        "music_ids": [track.music_id for track in tracks],
        "results": [track.result_job_id for track in tracks],
        "previous": [track.previous_job_id for track in tracks],
    }
