"""A run of a catalogue: submits the scans that are due, a few at a time, within the day's budget.

Scans are ordinary jobs, so checkpoints, resuming, politeness and evidence are those of any scan. A
run keeps nothing that another one needs: it may be killed at any moment, and the next one goes on
from the rows of the tracks and the jobs.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol
from uuid import uuid4

from pipelines.catalog.rules.planning import (
    DaySpending,
    StopReason,
    TrackState,
    count_states,
    day_number,
    due_tracks,
    has_outcome,
    is_own_job,
    next_job_id,
    next_submissions,
    refused,
    settled,
    submitted,
)
from pipelines.catalog.run_requests import forget_stop, is_asked_to_stop, stop_run
from pipelines.catalog.service import find_catalog, settle_tracks, spent_today
from pipelines.parameters.scan import ScanParameters, scan_parameters
from pipelines.scan.service.service import ScanJob
from warehouse.control import ControlStore, catalogs, jobs, leases
from warehouse.records.catalog.tracks import Catalog, CatalogTrack
from warehouse.records.errors import CapacityExhaustedError, InputError, JobNotFoundError
from warehouse.records.jobs import (
    FINAL_STATUSES,
    PRIORITY_SCHEDULED,
    Job,
    JobStatus,
    Origin,
)

AT_ONCE = 4
"""Jobs under way by default: more than a worker scans, so that it never waits for the next."""
LEASE_S = 60.0
"""How long a run that was killed keeps another one from going on."""
_MOST_SERVED = 100  # stored results taken over in one step, so that progress is shown meanwhile


class CatalogScans(Protocol):
    """The methods of `ScanService` that a run needs."""

    def ask(
        self,
        text: str,
        parameters: ScanParameters,
        *,
        origin: Origin,
        job_id: str | None = None,
    ) -> ScanJob: ...

    def cancel(self, job_id: str) -> tuple[JobStatus, ScanJob]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogProgress:
    """Where a run stands after a step.

    Attributes:
        states: How many tracks are in each state.
        due_count: Tracks that this run has not submitted yet.
        jobs: The jobs under way, by the key of their track.
        ended: The tracks whose job has ended, or that were answered without one, in this step.
        spent: What the scans submitted today had cost when the tracks were last read.
        stop: Why nothing more is submitted; None while there is something to submit.
        cancelled: The keys of those ended tracks whose job left neither a result nor an error.
    """

    states: Mapping[TrackState, int]
    due_count: int
    jobs: Mapping[str, Job]
    ended: tuple[CatalogTrack, ...]
    spent: DaySpending
    stop: StopReason | None
    cancelled: frozenset[str] = frozenset()

    @property
    def is_over(self) -> bool:
        """Whether the run has nothing left to wait for."""
        return self.stop == "taken_over" or (self.stop is not None and not self.jobs)


@dataclass(slots=True)
class _Step:
    """One step of a run while it is made."""

    catalog: Catalog
    now: datetime
    tracks: dict[str, CatalogTrack]
    due: list[CatalogTrack]
    jobs: dict[str, Job]
    spent: DaySpending
    ended: list[CatalogTrack] = field(default_factory=list)
    cancelled: set[str] = field(default_factory=set)


@dataclass(slots=True, kw_only=True)
class CatalogRun:
    """One run of one catalogue. Each track is submitted at most once in a run.

    Attributes:
        name: The catalogue.
        control: The control store.
        scans: The scan service.
        result_ttl: How long the scan service answers with a stored result.
        at_once: How many jobs may be under way.
        clock: Returns the current time in UTC.
    """

    name: str
    control: ControlStore
    scans: CatalogScans
    result_ttl: timedelta
    at_once: int = AT_ONCE
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    _owner: str = field(default_factory=lambda: uuid4().hex, init=False)
    _submitted: set[str] = field(default_factory=set, init=False)
    _is_stopped: bool = field(default=False, init=False)
    _last: tuple[int, CatalogProgress] | None = field(default=None, init=False)
    # The outcome of a job may be stored by a process that reads the status of the catalogue.
    _under_way: dict[str, CatalogTrack] = field(default_factory=dict, init=False)

    def begin(self) -> bool:
        """Hold the catalogue for this run; False if another run holds it.

        Raises:
            InvalidParameterError: There is no such catalogue.
        """
        find_catalog(self.control, self.name)
        if not leases.acquire(self.control, _lease(self.name), self._owner, LEASE_S):
            return False
        forget_stop(self.control, self.name)
        return True

    def end(self) -> None:
        """Release the catalogue. Jobs under way go on; the next run finds them."""
        leases.release(self.control, _lease(self.name), self._owner)

    def step(self) -> CatalogProgress:
        """Store the outcome of ended jobs, and submit what is due as far as there is room.

        Raises:
            InvalidParameterError: The catalogue was removed.
            ProviderUnsupportedError: The configured source cannot run scans.
        """
        is_ours = leases.acquire(self.control, _lease(self.name), self._owner, LEASE_S)
        self._is_stopped |= is_asked_to_stop(self.control, self.name)
        waiting = self._still_waiting() if is_ours and not self._is_stopped else None
        progress = self._advance(is_ours=is_ours) if waiting is None else waiting
        self._last = (day_number(self.clock()), progress)
        return progress

    def _still_waiting(self) -> CatalogProgress | None:
        """Return the last progress with its jobs as they are now; None if there is more to do.

        Until one of the jobs ends there is no room for another, so the tracks are not read: that
        takes half a second for 10,000.
        """
        if self._last is None or self._last[0] != day_number(self.clock()):
            return None
        last = self._last[1]
        if last.stop is None and len(last.jobs) < self.at_once:
            return None
        now = {key: jobs.get(self.control, job.job_id) for key, job in last.jobs.items()}
        running = {
            key: job
            for key, job in now.items()
            if job is not None and job.status not in FINAL_STATUSES
        }
        return (
            replace(last, jobs=running, ended=(), cancelled=frozenset())
            if len(running) == len(now)
            else None
        )

    def _advance(self, *, is_ours: bool) -> CatalogProgress:
        step = self._read()
        stop = self._submit(step) if is_ours else "taken_over"
        self._under_way = {key: step.tracks[key] for key in step.jobs}
        return CatalogProgress(
            states=count_states(step.tracks.values(), step.catalog.settings, step.now),
            due_count=len(step.due),
            jobs=step.jobs,
            ended=tuple(step.ended),
            spent=step.spent,
            stop=stop,
            cancelled=frozenset(step.cancelled),
        )

    def _read(self) -> _Step:
        catalog, now = find_catalog(self.control, self.name), self.clock()
        before = catalogs.read_tracks(self.control, self.name)
        tracks, jobs = settle_tracks(self.control, self.name, before, now=now)
        due = due_tracks(tracks, catalog.settings, now)
        under_way = self._under_way | {one.given.key: one for one in before if one.job_id}
        ended = [
            (under_way[after.given.key], after)
            for after in tracks
            if after.job_id is None and after.given.key in under_way
        ]
        return _Step(
            catalog=catalog,
            now=now,
            tracks={track.given.key: track for track in tracks},
            due=[track for track in due if track.given.key not in self._submitted],
            jobs=jobs,
            spent=spent_today(tracks, jobs, now),
            ended=[after for _, after in ended],
            cancelled={after.given.key for track, after in ended if not has_outcome(track, after)},
        )

    def _submit(self, step: _Step) -> StopReason | None:
        """Submit what is due until there is no more room; return why nothing more is."""
        if self._is_stopped:
            return "cancelled"
        while len(step.ended) < _MOST_SERVED:
            plan = next_submissions(
                step.due,
                step.catalog.settings,
                running=len(step.jobs),
                at_once=self.at_once,
                spent=step.spent,
            )
            if not plan.tracks:
                return plan.stop
            for track in plan.tracks:
                try:
                    self._submit_track(step, track)
                except CapacityExhaustedError:
                    return "disk_full"
        return None

    def _submit_track(self, step: _Step, track: CatalogTrack) -> None:
        """Submit a track; its row is written once, when its job exists."""
        job_id = next_job_id(step.catalog, track)
        try:
            scan = self.scans.ask(
                track.given.input, self._parameters(step, track), origin="schedule", job_id=job_id
            )
        except InputError as error:
            after = refused(track, error, now=step.now)
        else:
            after = self._after(step, track, scan.job, is_ours=scan.job.job_id == job_id)
        catalogs.update_track(self.control, self.name, after, job_before=None)
        step.tracks[track.given.key] = after
        step.due.remove(track)
        self._submitted.add(track.given.key)
        if after.job_id is None:
            step.ended.append(after)

    def _after(self, step: _Step, track: CatalogTrack, job: Job, *, is_ours: bool) -> CatalogTrack:
        is_over = job.status in FINAL_STATUSES
        costs_a_scan = is_ours or not is_over  # a stored result is of another, ended job
        after = submitted(track, job, now=step.now, costs_a_scan=costs_a_scan)
        if costs_a_scan:
            step.spent = replace(step.spent, tracks=step.spent.tracks + 1)
        if job.status == "cancelled":
            step.cancelled.add(track.given.key)
        if is_over:
            return settled(after, job, now=step.now, is_charged=costs_a_scan)
        step.jobs[track.given.key] = job
        return after

    def _parameters(self, step: _Step, track: CatalogTrack) -> ScanParameters:
        """Return the parameters of a scan.

        A stored result is refused only if it could be the one that is too old for the catalogue:
        a refresh would also read details anew that other scans have just read.
        """
        age = None if track.result_at is None else step.now - track.result_at
        must_refresh = age is not None and age < self.result_ttl
        return scan_parameters({**step.catalog.settings.parameters, "refresh": must_refresh})


def cancel_run(name: str, *, control: ControlStore, scans: CatalogScans) -> int:
    """Stop the run of a catalogue and cancel its jobs; return how many. Results stay.

    A job that another request created goes on, and so does one that a user has asked for
    meanwhile: it has a higher priority by then.

    Raises:
        InvalidParameterError: There is no such catalogue.
    """
    catalog = find_catalog(control, name)
    stop_run(control, name)
    cancelled = 0
    for track in catalogs.read_tracks(control, name):
        if track.job_id is None or not is_own_job(catalog, track):
            continue
        job = jobs.get(control, track.job_id)
        if job is None or job.status in FINAL_STATUSES or job.priority > PRIORITY_SCHEDULED:
            continue
        with suppress(JobNotFoundError):  # deleted meanwhile
            scans.cancel(job.job_id)
            cancelled += 1
    return cancelled


def _lease(name: str) -> str:
    return f"catalog:{name}"
