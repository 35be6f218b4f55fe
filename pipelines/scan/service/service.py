"""The scan service: serve a stored result, join an equal running job or create a new one.

Calls block on control store and warehouse: routes run them in a thread, the command line directly.
Not here: HTTP, running scans.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import cast

from pipelines.captures.inputs import InputTarget, read_music_input
from pipelines.documents.result_types import JobResult, ScanPreview
from pipelines.parameters.scan import JobParameters, ScanParameters, fingerprint, scan_key
from pipelines.scan.rules.discovery import DiscoveryParameters, discovery_key
from pipelines.scan.rules.results import satisfies_request
from warehouse.control import ControlStore, jobs, links, scan_journal
from warehouse.control.jobs import NewJob
from warehouse.home import is_demo_world
from warehouse.lake.record_rows import unpack_document
from warehouse.records import errors
from warehouse.records import jobs as job_records
from warehouse.records.evidence import ALGORITHM
from warehouse.records.values import is_own_id

MAX_CACHED_RESULTS = 32  # a few hundred kB each

type ReadResult = Callable[[str], JobResult | None]
"""Returns the result of a job, or None if it has none."""


@dataclass(frozen=True, slots=True)
class ScanJob:
    """A job, with its result document once it is completed."""

    job: job_records.Job
    result: JobResult | None = None


@dataclass(frozen=True, slots=True)
class RunningScan:
    """A job, with what its scan has confirmed so far and when that was written, while it runs."""

    job: job_records.Job
    preview: ScanPreview | None = None
    updated_at: datetime | None = None


class ResultCache:
    """LRU cache of result documents, which are immutable, by job id. Thread-safe."""

    def __init__(self, read: ReadResult) -> None:
        self._read = read
        self._documents: OrderedDict[str, JobResult] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, job_id: str) -> JobResult | None:
        """Return the result of a job, or None if it has none."""
        with self._lock:
            if job_id in self._documents:
                self._documents.move_to_end(job_id)
                return self._documents[job_id]
        # Without the lock: other results can be served while this one is read.
        document = self._read(job_id)
        if document is None:
            return None
        with self._lock:
            self._documents[job_id] = document
            while len(self._documents) > MAX_CACHED_RESULTS:
                self._documents.popitem(last=False)
        return document


def find_stored(
    control: ControlStore,
    read: ReadResult,
    key: str,
    parameters: ScanParameters | None,
    *,
    now: datetime,
    ttl_s: int,
) -> tuple[job_records.Job, JobResult] | None:
    """Return the newest completed job of this key whose result satisfies the request, with it.

    Args:
        control: The control store.
        read: Reads the result of a job.
        key: Key of the jobs whose results may be used.
        parameters: Those of a scan; None for a discovery, whose key contains all of its own.
        now: The current time.
        ttl_s: Results that are older do not count.
    """
    for job in jobs.completed(control, key, since=now - timedelta(seconds=ttl_s)):
        result = read(job.job_id)
        if result is None or job.finished_at is None:
            continue
        # The results of a key are all of one kind. Those of discoveries have an entry `kind`.
        if parameters is None or "kind" in result:
            return job, result
        if satisfies_request(result, parameters, finished_at=job.finished_at, now=now, ttl_s=ttl_s):
            return job, result
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanConfig:
    """The scan configuration of this process: its world, provider and retention settings.

    `is_awaited`: the source reads so little of a track that a request waits for the scan.
    """

    name: str
    provider: str
    scan_providers: frozenset[str]
    find_target: Callable[[str], InputTarget | None]
    result_cache_ttl_s: int
    job_retention_days: int
    worker_lost_after_s: float
    is_awaited: bool = False

    @property
    def is_demo(self) -> bool:
        """Whether the data is neither from the public platform nor from the user's own files."""
        return is_demo_world(self.name)


@dataclass(frozen=True, slots=True)
class ScanSubject:
    """The subject of a request, which `request_id` identifies, for example `7342451722773117559`.

    `target` is the same once the subject is resolved; a link that no worker has resolved yet has
    None, and its address as `request_id`.
    """

    kind: str
    text: str
    request_id: str
    target: str | None
    music_id: str | None = None


class ScanService:
    """Creates, finds and cancels scan jobs for API, command line and schedules.

    Args:
        control: The control store.
        results: Cache of result documents by job.
        world: Profile, provider, link rules and lifetimes.
        has_free_space: Returns False if the disk is too full for another scan.
        clock: Returns the current time in UTC.
    """

    def __init__(
        self,
        *,
        control: ControlStore,
        results: ResultCache,
        world: ScanConfig,
        has_free_space: Callable[[], bool] = lambda: True,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.world = world
        self._control = control
        self._results = results
        self._has_free_space = has_free_space
        self._clock = clock

    def ask(
        self,
        text: str,
        parameters: ScanParameters,
        *,
        origin: job_records.Origin,
        job_id: str | None = None,
    ) -> ScanJob:
        """Return a stored result that satisfies the request, else a running or new job.

        `job_id` is the id for a new job, for callers that retry: the second call finds the same
        job, even if it has ended.

        Raises:
            InvalidMusicInputError: The text does not identify a track.
            ProviderUnsupportedError: The configured source cannot run scans.
            CapacityExhaustedError: The disk is too full.
        """
        return self._stored_or_job(self._track(job_records.SCAN, text), parameters, origin, job_id)

    def has_worker(self) -> bool:
        """Return whether any worker is alive to run a job."""
        return bool(jobs.live_workers(self._control, self.world.worker_lost_after_s))

    def submit_keyword_search(
        self, keyword: str, parameters: ScanParameters, *, origin: job_records.Origin
    ) -> ScanJob:
        """Submit a search by a song's name alone, which confirms nothing.

        Raises:
            ProviderUnsupportedError: The configured source cannot run scans.
            CapacityExhaustedError: The disk is too full.
        """
        self._check_provider()
        key = job_records.keyword_subject(keyword)
        subject = ScanSubject(
            job_records.KEYWORD_SEARCH, keyword.strip(), request_id=key, target=key
        )
        return self._stored_or_job(subject, parameters, origin)

    def discover(
        self, text: str, parameters: DiscoveryParameters, *, origin: job_records.Origin
    ) -> ScanJob:
        """Submit a discovery of related videos; a fresh result of an equal one is reused.

        Raises:
            InvalidMusicInputError: The text does not identify a track.
            ProviderUnsupportedError: The configured source cannot run scans.
            CapacityExhaustedError: The disk is too full.
        """
        subject = self._track(job_records.DISCOVERY, text)
        world = self.world
        key = discovery_key(subject.request_id, world.name, world.provider, ALGORITHM, parameters)
        return self._stored(key, None) or self._create_or_join(
            subject, parameters, join_key=key, key=key, origin=origin
        )

    def _track(self, kind: str, text: str) -> ScanSubject:
        """Return the track that a text names, as the subject of a job of this kind."""
        self._check_provider()
        music = read_music_input(text, find_target=self.world.find_target)
        music_id = music.value if music.kind == "music" else None
        # A worker has stored where a link leads, if any job has resolved it before.
        if music_id is None:
            kind_of_link, target = links.read(self._control, music.value) or ("", "")
            music_id = target if kind_of_link == "music" else None
        # A video id looks like a music id, so it has its kind in front.
        request_id = music_id or f"{music.kind}:{music.value}"
        return ScanSubject(kind, text.strip(), request_id, target=music_id, music_id=music_id)

    def _stored_or_job(
        self,
        subject: ScanSubject,
        parameters: ScanParameters,
        origin: job_records.Origin,
        job_id: str | None = None,
    ) -> ScanJob:
        world, key = self.world, None
        if subject.target is not None:
            key = scan_key(subject.target, world.name, world.provider, ALGORITHM, parameters)
        # Before its link is resolved, a request has no key, and joins jobs of the same link only.
        if key is not None and not parameters.refresh:
            stored = self._stored(key, parameters)
            if stored is not None:
                return stored
        return self._create_or_join(
            subject,
            parameters,
            join_key=fingerprint(subject.request_id, world.name, world.provider, parameters),
            key=key,
            origin=origin,
            job_id=job_id,
        )

    def _create_or_join(
        self,
        subject: ScanSubject,
        parameters: JobParameters,
        *,
        join_key: str,
        key: str | None,
        origin: job_records.Origin,
        job_id: str | None = None,
    ) -> ScanJob:
        """Join the unfinished job with this `join_key`, or create one."""
        if not self._has_free_space():
            raise errors.CapacityExhaustedError("The disk is too full for another scan")
        new = NewJob(
            kind=subject.kind,
            input=subject.text,
            target=subject.target or subject.text,
            music_id=subject.music_id,
            parameters=parameters.to_document(),
            fingerprint=join_key,
            scan_key=key,
            origin=origin,
            priority=job_records.PRIORITY_SCHEDULED
            if origin == "schedule"
            else job_records.PRIORITY_INTERACTIVE,
            job_id=job_id,
        )
        return ScanJob(jobs.create_or_join(self._control, new)[0])

    def job(self, job_id: str) -> ScanJob:
        """Return a job, with its result once completed.

        Raises:
            JobNotFoundError: There is no such job, or its retention has ended.
            JobResultMissingError: The job is completed, but the warehouse has no result of it.
            WarehouseUnavailableError: The warehouse cannot be read.
        """
        job = self._find(job_id)
        if job.status != "completed":
            return ScanJob(job)
        result = self._results.of(job.job_id)
        if result is None:
            raise errors.JobResultMissingError("The result of this job cannot be read")
        return ScanJob(job, result)

    def preview(self, job_id: str) -> RunningScan:
        """Return a job with what its scan has confirmed so far, and when that was written.

        Raises:
            JobNotFoundError: There is no such job, or its retention has ended.
        """
        job = self._find(job_id)
        stored = None
        if job.status == "running":
            stored = scan_journal.read_preview(self._control, job.job_id)
        if stored is None:
            return RunningScan(job)
        preview = cast("ScanPreview", unpack_document(stored.document))
        return RunningScan(job, preview, stored.updated_at)

    def cancel(self, job_id: str) -> tuple[job_records.JobStatus, ScanJob]:
        """Request cancellation; return the previous status and the job. Finished jobs are kept.

        Raises:
            JobNotFoundError: There is no such job, or its retention has ended.
        """
        before = self._find(job_id).status
        expires_at = self._clock() + timedelta(days=self.world.job_retention_days)
        job = jobs.request_cancel(self._control, job_id, expires_at=expires_at)
        if job is not None and self._is_lost(job):
            # No worker runs the job any more, and there may be none that would end it.
            has_result = self._results.of(job.job_id) is not None
            end_lost_run(
                self._control, job, WORKER_GONE, has_result=has_result, expires_at=expires_at
            )
        return before, self.job(job_id)

    def jobs(self, *, limit: int, status: job_records.JobStatus | None) -> list[ScanJob]:
        """Return the newest jobs that are still kept, without their results."""
        newest = jobs.newest(self._control, limit=limit, status=status, kept_at=self._clock())
        return [ScanJob(job) for job in newest]

    def _check_provider(self) -> None:
        if self.world.provider not in self.world.scan_providers:
            raise errors.ProviderUnsupportedError(
                f"The source {self.world.provider} does not support scans in this version",
                hint="Set MUSIC_DATA_PROVIDER=public-graph and DATA_PROVIDER=vidplat-public",
            )

    def _stored(self, key: str, parameters: ScanParameters | None) -> ScanJob | None:
        stored = find_stored(
            self._control,
            self._results.of,
            key,
            parameters,
            now=self._clock(),
            ttl_s=self.world.result_cache_ttl_s,
        )
        return None if stored is None else ScanJob(*stored)

    def _find(self, job_id: str) -> job_records.Job:
        job = jobs.get(self._control, job_id) if is_own_id(job_id) else None
        if job is None or (job.expires_at is not None and job.expires_at <= self._clock()):
            raise errors.JobNotFoundError("No job has this id, or its retention is over")
        if not self._is_lost(job):
            return job
        # The next worker continues the job. Reading writes nothing, so only the copy says so.
        return replace(job, progress=replace(job.progress, waiting_for="worker"))

    def _is_lost(self, job: job_records.Job) -> bool:
        """Whether the worker of a running job has sent no heartbeat for too long."""
        silent_for = self._clock() - (job.heartbeat_at or job.created_at)
        lost_after = timedelta(seconds=self.world.worker_lost_after_s)
        return job.status == "running" and silent_for >= lost_after


# Decide and write what becomes of a job whose run was lost: killed, stopped, without a process.

ASK_AGAIN = "Retry: the new scan reuses the observations stored so far"
WORKER_GONE = "The worker that ran this scan stopped responding"


def outcome_of_lost_run(
    job: job_records.Job, why: str, *, has_result: bool = False
) -> tuple[job_records.JobStatus, dict[str, object] | None]:
    """Return status and error document of a job whose run was lost.

    Completed if its result is stored, cancelled if cancellation was requested, queued while there
    are attempts left, else failed with the reason of the last loss.
    """
    if has_result:
        return "completed", None
    if job.cancel_requested:
        return "cancelled", None
    if job.attempt < job_records.MAX_ATTEMPTS:
        return "queued", None
    detail = f"{why}. {job_records.MAX_ATTEMPTS} attempts were made"
    return "failed", errors.WorkerUnavailableError(detail, hint=ASK_AGAIN).to_document()


def end_lost_run(
    control: ControlStore, job: job_records.Job, why: str, *, has_result: bool, expires_at: datetime
) -> job_records.JobStatus | None:
    """Write what becomes of a job whose run was lost, and return its new status.

    Returns None, without effect, if the run was not lost: another run has the job, or it has ended.
    """
    status, error = outcome_of_lost_run(job, why, has_result=has_result)
    if status == "queued":
        is_written = jobs.requeue(
            control, job.job_id, run_number=job.run_number, costs_attempt=True
        )
    else:
        is_written = jobs.finish(
            control,
            job.job_id,
            status,
            error=error,
            expires_at=expires_at,
            run_number=job.run_number,
        )
    return status if is_written else None
