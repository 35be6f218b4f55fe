"""The scan service: serve a stored result, join an equal running job or create a new one.

Calls block on control store and warehouse: routes run them in a thread, the command line directly.
Not here: HTTP, running scans.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import cast

from pipelines.captures.inputs import InputTarget, read_music_input
from pipelines.documents.result_types import ScanPreview
from pipelines.parameters.scan import JobParameters, ScanParameters, fingerprint, scan_key
from pipelines.scan.rules.discovery import DiscoveryParameters, discovery_key
from pipelines.scan.service.job_endings import WORKER_GONE, end_lost_run
from pipelines.scan.service.scan_jobs import RunningScan, ScanJob
from pipelines.scan.service.stored_results import ResultCache, find_stored
from warehouse.control import ControlStore, job_claims, jobs, links, scan_journal
from warehouse.control.jobs import NewJob
from warehouse.lake.packing import unpack_document
from warehouse.records.errors import (
    CapacityExhaustedError,
    JobNotFoundError,
    JobResultMissingError,
    ProviderUnsupportedError,
)
from warehouse.records.evidence import ALGORITHM
from warehouse.records.jobs import (
    DISCOVERY,
    KEYWORD_SEARCH,
    PRIORITY_INTERACTIVE,
    PRIORITY_SCHEDULED,
    SCAN,
    Job,
    JobStatus,
    Origin,
    keyword_subject,
)
from warehouse.records.values import is_own_id
from warehouse.records.worlds import is_demo_world


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
    """The subject of a request. `asked` identifies the request; `known` is None until resolved."""

    kind: str
    text: str
    asked: str
    known: str | None
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
        origin: Origin,
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
        return self._stored_or_job(self._track(SCAN, text), parameters, origin, job_id)

    def has_worker(self) -> bool:
        """Return whether any worker is alive, which runs what is asked for."""
        return bool(job_claims.live_workers(self._control, self.world.worker_lost_after_s))

    def submit_keyword_search(
        self, keyword: str, parameters: ScanParameters, *, origin: Origin
    ) -> ScanJob:
        """Submit a search by a song's name alone, which confirms nothing.

        Raises:
            ProviderUnsupportedError: The configured source cannot run scans.
            CapacityExhaustedError: The disk is too full.
        """
        self._check_provider()
        about = keyword_subject(keyword)
        subject = ScanSubject(KEYWORD_SEARCH, keyword.strip(), about, about)
        return self._stored_or_job(subject, parameters, origin)

    def discover(self, text: str, parameters: DiscoveryParameters, *, origin: Origin) -> ScanJob:
        """Submit a discovery of related videos; a fresh result of an equal one is reused.

        Raises:
            InvalidMusicInputError: The text does not identify a track.
            ProviderUnsupportedError: The configured source cannot run scans.
            CapacityExhaustedError: The disk is too full.
        """
        subject = self._track(DISCOVERY, text)
        world = self.world
        key = discovery_key(subject.asked, world.name, world.provider, ALGORITHM, parameters)
        return self._stored(key, None) or self._job(subject, parameters, key, key, origin)

    def _track(self, kind: str, text: str) -> ScanSubject:
        """Return the track that a text names, as the subject of a job of this kind."""
        self._check_provider()
        music = read_music_input(text, find_target=self.world.find_target)
        music_id = music.value if music.kind == "music" else None
        if music_id is None:
            kind_of_link, target = links.read(self._control, music.value) or ("", "")
            music_id = target if kind_of_link == "music" else None
        asked = music_id or f"{music.kind}:{music.value}"  # a video id must not look like one
        return ScanSubject(kind, text.strip(), asked, music_id, music_id)

    def _stored_or_job(
        self,
        subject: ScanSubject,
        parameters: ScanParameters,
        origin: Origin,
        job_id: str | None = None,
    ) -> ScanJob:
        world, key = self.world, None
        if subject.known is not None:
            key = scan_key(subject.known, world.name, world.provider, ALGORITHM, parameters)
        if key is not None and not parameters.refresh:
            stored = self._stored(key, parameters)
            if stored is not None:
                return stored
        twins = fingerprint(subject.asked, world.name, world.provider, parameters)
        return self._job(subject, parameters, twins, key, origin, job_id)

    def _job(
        self,
        subject: ScanSubject,
        parameters: JobParameters,
        twins: str,
        key: str | None,
        origin: Origin,
        job_id: str | None = None,
    ) -> ScanJob:
        if not self._has_free_space():
            raise CapacityExhaustedError("The disk is too full for another scan")
        new = NewJob(
            kind=subject.kind,
            input=subject.text,
            target=subject.known or subject.text,
            music_id=subject.music_id,
            parameters=parameters.to_document(),
            fingerprint=twins,
            scan_key=key,
            origin=origin,
            priority=PRIORITY_SCHEDULED if origin == "schedule" else PRIORITY_INTERACTIVE,
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
            raise JobResultMissingError("The result of this job cannot be read")
        return ScanJob(job, result)

    def preview(self, job_id: str) -> RunningScan:
        """Return a job with what its scan has confirmed so far, and when that was written.

        Raises:
            JobNotFoundError: There is no such job, or its retention has ended.
        """
        job = self._find(job_id)
        stored = (
            scan_journal.read_preview(self._control, job.job_id)
            if job.status == "running"
            else None
        )
        if stored is None:
            return RunningScan(job)
        return RunningScan(
            job, cast("ScanPreview", unpack_document(stored.document)), stored.updated_at
        )

    def cancel(self, job_id: str) -> tuple[JobStatus, ScanJob]:
        """Request cancellation; return the previous status and the job. Finished jobs are kept.

        Raises:
            JobNotFoundError: There is no such job, or its retention has ended.
        """
        before = self._find(job_id).status
        job = jobs.request_cancel(self._control, job_id, expires_at=self._kept_until())
        if job is not None and self._is_lost(job):
            self._cancel_lost(job)
        return before, self.job(job_id)

    def jobs(self, *, limit: int, status: JobStatus | None) -> list[ScanJob]:
        """Return the newest jobs that are still kept, without their results."""
        kept = jobs.newest(self._control, limit=limit, status=status, kept_at=self._clock())
        return [ScanJob(job) for job in kept]

    def _check_provider(self) -> None:
        if self.world.provider not in self.world.scan_providers:
            raise ProviderUnsupportedError(
                f"The source {self.world.provider} does not support scans in this version",
                hint="Set MUSIC_DATA_PROVIDER=public-graph and DATA_PROVIDER=vidplat-public",
            )

    def _stored(self, key: str, wanted: ScanParameters | None) -> ScanJob | None:
        found = find_stored(
            self._control,
            self._results.of,
            key,
            wanted,
            now=self._clock(),
            ttl_s=self.world.result_cache_ttl_s,
        )
        return None if found is None else ScanJob(*found)

    def _find(self, job_id: str) -> Job:
        job = jobs.get(self._control, job_id) if is_own_id(job_id) else None
        if job is None or (job.expires_at is not None and job.expires_at <= self._clock()):
            raise JobNotFoundError("No job has this id, or its retention is over")
        if not self._is_lost(job):
            return job
        # It goes on with the next worker; to read it writes nothing.
        return replace(job, progress=replace(job.progress, waiting_for="worker"))

    def _is_lost(self, job: Job) -> bool:
        """Whether the worker of a running job has sent no heartbeat for too long."""
        silent_for = self._clock() - (job.heartbeat_at or job.created_at)
        lost_after = timedelta(seconds=self.world.worker_lost_after_s)
        return job.status == "running" and silent_for >= lost_after

    def _cancel_lost(self, job: Job) -> None:
        """End a cancelled job that no worker runs any more: there may be none to notice."""
        has_result = self._results.of(job.job_id) is not None
        end_lost_run(
            self._control, job, WORKER_GONE, has_result=has_result, expires_at=self._kept_until()
        )

    def _kept_until(self) -> datetime:
        return self._clock() + timedelta(days=self.world.job_retention_days)
