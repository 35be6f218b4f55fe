"""What a submission and the end of a job mean for the row of a track. Pure."""

from dataclasses import replace
from datetime import datetime
from uuid import NAMESPACE_URL, uuid5

from pipelines.catalog.rules.planning import day_number
from warehouse.records.catalog.tracks import Catalog, CatalogTrack
from warehouse.records.errors import SametrackError
from warehouse.records.jobs import FINAL_STATUSES, Job


def next_job_id(catalog: Catalog, track: CatalogTrack) -> str:
    """Return the id for the next job of a track.

    It follows from the row, so a run that was killed between creating the job and storing its id
    finds the same job again. A catalogue that was removed and imported anew begins with new ids.
    """
    return _job_id(catalog, track, track.submission_count)


def is_own_job(catalog: Catalog, track: CatalogTrack) -> bool:
    """Whether the job of a track was created for it, and not joined or found stored."""
    return track.job_id == _job_id(catalog, track, track.submission_count - 1)


def _job_id(catalog: Catalog, track: CatalogTrack, submission: int) -> str:
    name = f"{catalog.name} {catalog.created_at.timestamp()} {track.given.key}"
    return str(uuid5(NAMESPACE_URL, f"catalog {name} {submission}"))


def submitted(track: CatalogTrack, job: Job, *, now: datetime, costs_a_scan: bool) -> CatalogTrack:
    """Return the track with its job; only a job that scans is charged to the day's budget."""
    following = replace(track, job_id=job.job_id, submission_count=track.submission_count + 1)
    if not costs_a_scan:
        return following
    today = day_number(now)
    if track.charged_day != today:
        following = replace(following, charged_day=today, charged_requests=0, charged_scans=0)
    return replace(following, charged_scans=following.charged_scans + 1)


def refused(track: CatalogTrack, error: SametrackError, *, now: datetime) -> CatalogTrack:
    """Return a track that no job was created for."""
    return replace(track, failed_at=now, error=error.to_document())


def settled(
    track: CatalogTrack, job: Job | None, *, now: datetime, is_charged: bool
) -> CatalogTrack:
    """Return the track after its job, unchanged while the job is under way.

    A job that was cancelled, or that retention has deleted, leaves the track as it was before.
    """
    if job is None:
        return replace(track, job_id=None)
    if job.status not in FINAL_STATUSES:
        return track
    requests = job.progress.requests_used if is_charged else 0
    idle = replace(track, job_id=None, charged_requests=track.charged_requests + requests)
    if job.status == "failed":
        return replace(idle, failed_at=job.finished_at or now, error=job.error)
    if job.status == "cancelled":
        return idle
    return replace(
        idle,
        music_id=job.music_id or track.music_id,
        result_job_id=job.job_id,
        result_at=job.finished_at or now,
        previous_job_id=_previous(track, job),
        failed_at=None,
        error=None,
    )


def has_outcome(before: CatalogTrack, after: CatalogTrack) -> bool:
    """Whether the job that a track had before has left a result or an error."""
    return (before.result_at, before.failed_at) != (after.result_at, after.failed_at)


def _previous(track: CatalogTrack, job: Job) -> str | None:
    """Return the job of the result before this one, which a result that comes again is not."""
    return track.previous_job_id if track.result_job_id == job.job_id else track.result_job_id
