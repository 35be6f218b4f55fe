"""What scans have found about the tracks of a catalogue: per track, per music id, per video.

The tracks are given with each query, because catalogues are in the control store.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.engine.duckdb_engine import Engine
from warehouse.models import read_catalog_model
from warehouse.queries.results import JOBS_OF_TRACKS
from warehouse.records.values import Row

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


def read_catalog_tracks(engine: Engine, tracks: Sequence[CatalogQueryTrack]) -> "pa.Table":
    """Return one row per track: what all its scans found, its newest estimates, what changed."""
    return engine.table(_statement("tracks"), _params(tracks))


def read_catalog_music_ids(engine: Engine, tracks: Sequence[CatalogQueryTrack]) -> "pa.Table":
    """Return one row per track and music id of `marts.genealogy`."""
    return engine.table(_statement("music_ids"), _params(tracks))


def read_catalog_videos(engine: Engine, tracks: Sequence[CatalogQueryTrack]) -> "pa.Table":
    """Return one row per track and video, confirmed or a variant, the most liked first."""
    return engine.table(_statement("videos"), _params(tracks))


def _statement(noun: str) -> str:
    """Return a statement about the tracks that are asked for; both parts are SQL files."""
    asked, rest = read_catalog_model("asked"), read_catalog_model(noun)
    return f"{asked}\n{rest.replace('{jobs_of_tracks}', JOBS_OF_TRACKS)}"


def _params(tracks: Sequence[CatalogQueryTrack]) -> dict[str, object]:
    return {
        "keys": [track.key for track in tracks],
        "labels": [track.label for track in tracks],
        "music_ids": [track.music_id for track in tracks],
        "results": [track.result_job_id for track in tracks],
        "previous": [track.previous_job_id for track in tracks],
    }


# Sounds that scans of other tracks have fetched: what is compared with what, and what matched.

_MATCHED = """
    select * from (
        select * from marts.catalog_matches
        where {condition}
        qualify row_number() over (
            partition by track_music_id, reference_sha256, candidate_sha256
            order by committed_at desc, comparison_id
        ) = 1
    )
    where verdict in ('confirmed', 'variant')
    qualify row_number() over (
        partition by track_music_id, candidate_aweme_id
        order by verdict, score desc, comparison_id
    ) = 1
"""
"""The best pair of each track and video; of a pair that was compared again, the newest verdict."""


def read_reference_sounds(engine: Engine, music_ids: Sequence[str]) -> list[Row]:
    """Return track and hash of the sounds that the newest comparisons of each track referred to.

    With the video, the music id and the source of each. Tracks that were never compared are absent.
    A scan counts before a discovery, which compares a few videos.
    """
    return engine.rows(
        """
        select
            track_music_id, reference_sha256,
            min(reference_aweme_id) as reference_aweme_id,
            any_value(reference_music_id) as reference_music_id,
            coalesce(any_value(reference_source), 'platform') as reference_source
        from (
            from (
                select *, job_id not in (select job_id from marts.discovered_videos) as is_of_scan
                from marts.audio_comparisons
                where track_music_id in (select unnest($ids::varchar[]))
                    and reference_sha256 is not null
            )
            qualify job_id = arg_max(job_id, (is_of_scan, committed_at)) over (
                partition by track_music_id
            )
        )
        group by track_music_id, reference_sha256
        order by track_music_id, reference_sha256
        """,
        ids=list(music_ids),
    )


def read_fetched_sounds(engine: Engine, music_ids: Sequence[str]) -> list[Row]:
    """Return each sound that scans of these tracks have compared, with the tracks it met.

    `job_id`, `aweme_id`, `music_id`: of its first comparison. Sounds of the music service are not
    among them: they belong to no video.
    """
    return engine.rows(
        """
        with met as (
            select
                candidate_sha256 as sound_sha256, candidate_aweme_id as aweme_id,
                candidate_music_id as music_id, track_music_id, job_id, committed_at, comparison_id
            from marts.audio_comparisons
            union all
            select
                reference_sha256, reference_aweme_id, reference_music_id, track_music_id, job_id,
                committed_at, comparison_id
            from marts.audio_comparisons
            where reference_source is distinct from 'music_service'
        )
        select
            sound_sha256,
            list(distinct track_music_id) as track_music_ids,
            arg_min(job_id, (committed_at, comparison_id)) as job_id,
            arg_min(aweme_id, (committed_at, comparison_id)) as aweme_id,
            arg_min(music_id, (committed_at, comparison_id)) as music_id
        from met
        where track_music_id in (select unnest($ids::varchar[])) and sound_sha256 is not null
        group by sound_sha256
        order by sound_sha256
        """,
        ids=list(music_ids),
    )


def read_compared_pairs(
    engine: Engine, music_ids: Sequence[str], *, library_version: str
) -> set[tuple[str, str, str]]:
    """Return candidate, reference and track of the pairs in `marts.catalog_matches`.

    Only those that the matcher judged with these versions: a later one may judge otherwise.
    """
    rows = engine.rows(
        """
        select distinct candidate_sha256, reference_sha256, track_music_id
        from marts.catalog_matches
        where track_music_id in (select unnest($ids::varchar[]))
            and library_version = $library_version
        """,
        ids=list(music_ids),
        library_version=library_version,
    )
    return {
        (row["candidate_sha256"], row["reference_sha256"], row["track_music_id"]) for row in rows
    }


def read_known_matches(engine: Engine, track_music_id: str) -> list[Row]:
    """Return the videos that carry a track according to sounds fetched for others, best first."""
    matched = _MATCHED.format(condition="track_music_id = $music_id")
    return engine.rows(
        f"from ({matched}) order by verdict, score desc, candidate_aweme_id",  # our text
        music_id=track_music_id,
    )


def read_catalog_matches(
    engine: Engine, keys: Sequence[str], labels: Sequence[str | None], music_ids: Sequence[str]
) -> "pa.Table":
    """Return a row per track and video that another track's scan found, the best evidence first.

    `is_confirmed`: a scan of the track itself has confirmed the video since. The views of the star
    must be shown.
    """
    matched = _MATCHED.format(condition="track_music_id in (select unnest($music_ids::varchar[]))")
    return engine.table(
        f"""
        with asked as (
            select
                unnest($keys::varchar[]) as track_key,
                unnest($labels::varchar[]) as label,
                unnest($music_ids::varchar[]) as track_music_id,
                unnest(range(len($keys::varchar[]))) as place
        ),
        fetched as (
            select job_id, any_value(track_music_id) as fetched_for_music_id
            from marts.audio_comparisons
            group by job_id
        ),
        own as (
            select track_music_id, aweme_id as candidate_aweme_id, true as is_confirmed
            from marts.track_videos
        )
        select
            track_key, asked.label, track_music_id, fetched_for_music_id,
            candidate_music_id as music_id, candidate_aweme_id as aweme_id, verdict, score, speed,
            semitones, vote_count, comparison_id, matches.committed_at as found_at,
            coalesce(is_confirmed, false) as is_confirmed
        from asked
        join ({matched}) as matches using (track_music_id)
        left join fetched using (job_id)
        left join own using (track_music_id, candidate_aweme_id)
        order by place, verdict, score desc, candidate_aweme_id
        """,  # noqa: S608  # no user input; values are parameters
        {"keys": list(keys), "labels": list(labels), "music_ids": list(music_ids)},
    )
