"""Run a catalogue: submit the scans that are due, a few at a time, within the day's budget.

Scans are ordinary jobs with the checkpoints, rate limits and evidence of any scan. All state is in
the rows of tracks and jobs: a run may be killed at any moment, and the next one goes on from them.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol
from uuid import uuid4

from pipelines.catalog import rules
from pipelines.catalog.run_requests import forget_stop, is_asked_to_stop, stop_run
from pipelines.catalog.service import find_catalog, settle_tracks, spent_today
from pipelines.parameters.scan import ScanParameters, scan_parameters
from pipelines.scan.service.service import ScanJob
from warehouse.control import ControlStore, catalogs, jobs, leases
from warehouse.records import jobs as job_records
from warehouse.records.catalogs import Catalog, CatalogTrack
from warehouse.records.errors import CapacityExhaustedError, InputError, JobNotFoundError

AT_ONCE = 4
"""Jobs under way by default: more than a worker scans, so that it never waits for the next."""
LEASE_S = 60.0
"""A run that was killed keeps others from the catalogue for so long."""
_MAX_ENDED = 100  # stored results taken over in one step, so that progress is shown meanwhile


class CatalogScans(Protocol):
    """The methods of `ScanService` that a run needs."""

    def ask(
        self,
        text: str,
        parameters: ScanParameters,
        *,
        origin: job_records.Origin,
        job_id: str | None = None,
    ) -> ScanJob: ...

    def cancel(self, job_id: str) -> tuple[job_records.JobStatus, ScanJob]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogProgress:
    """Progress of a run after a step.

    Attributes:
        states: How many tracks are in each state.
        due_count: Tracks that this run has not submitted yet.
        jobs: The jobs under way, by the key of their track.
        ended: The tracks whose job has ended in this step, or that got a stored result.
        spent: What the scans submitted today had cost when the tracks were last read.
        stop: Why nothing more is submitted; None while there is something to submit.
        cancelled: The keys of those ended tracks whose job left neither a result nor an error.
    """

    states: Mapping[rules.TrackState, int]
    due_count: int
    jobs: Mapping[str, job_records.Job]
    ended: tuple[CatalogTrack, ...]
    spent: rules.DaySpending
    stop: rules.StopReason | None
    cancelled: frozenset[str] = frozenset()

    @property
    def is_over(self) -> bool:
        """Whether the run has nothing left to wait for."""
        return self.stop == "taken_over" or (self.stop is not None and not self.jobs)


@dataclass(slots=True)
class _Step:
    """The state of one step of a run: what it has read, and what it has submitted so far."""

    catalog: Catalog
    now: datetime
    tracks: dict[str, CatalogTrack]
    due: list[CatalogTrack]
    jobs: dict[str, job_records.Job]
    spent: rules.DaySpending
    ended: list[CatalogTrack] = field(default_factory=list)
    cancelled: set[str] = field(default_factory=set)


@dataclass(slots=True, kw_only=True)
class CatalogRun:
    """One run of one catalogue. Each track is submitted at most once in a run.

    Attributes:
        name: The catalogue.
        control: The control store.
        scans: The scan service.
        result_ttl: How long the scan service returns a stored result instead of a new scan.
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
    # Another process that reads the catalogue's status may store the outcome of a job first.
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
        """Store the outcome of ended jobs; submit due tracks until `at_once` jobs are under way.

        Raises:
            InvalidParameterError: The catalogue was removed.
            ProviderUnsupportedError: The configured source cannot run scans.
        """
        # Each step renews the lease; it is lost if the process was suspended for longer.
        is_ours = leases.acquire(self.control, _lease(self.name), self._owner, LEASE_S)
        self._is_stopped |= is_asked_to_stop(self.control, self.name)
        progress = None
        if is_ours and not self._is_stopped:
            progress = self._progress_without_change()
        if progress is None:
            progress = self._advance(is_ours=is_ours)
        self._last = (rules.day_number(self.clock()), progress)
        return progress

    def _progress_without_change(self) -> CatalogProgress | None:
        """Return the last progress with its jobs as they are now; None if there is more to do."""
        if self._last is None or self._last[0] != rules.day_number(self.clock()):
            return None
        last = self._last[1]
        if last.stop is None and len(last.jobs) < self.at_once:
            return None
        # Until one of the jobs ends there is no room for another, so the tracks are not read:
        # reading 10,000 tracks takes half a second.
        running: dict[str, job_records.Job] = {}
        for key, last_job in last.jobs.items():
            job = jobs.get(self.control, last_job.job_id)
            if job is None or job.status in job_records.FINAL_STATUSES:
                return None
            running[key] = job
        return replace(last, jobs=running, ended=(), cancelled=frozenset())

    def _advance(self, *, is_ours: bool) -> CatalogProgress:
        catalog, now = find_catalog(self.control, self.name), self.clock()
        before = catalogs.read_tracks(self.control, self.name)
        tracks, running = settle_tracks(self.control, self.name, before, now=now)
        # A track has ended in this step if its job was under way in the last one, or until now.
        under_way = self._under_way | {track.given.key: track for track in before if track.job_id}
        ended = [track for track in tracks if track.job_id is None and track.given.key in under_way]
        due = rules.due_tracks(tracks, catalog.settings, now)
        step = _Step(
            catalog=catalog,
            now=now,
            tracks={track.given.key: track for track in tracks},
            due=[track for track in due if track.given.key not in self._submitted],
            jobs=running,
            spent=spent_today(tracks, running, now),
            ended=ended,
            cancelled={
                track.given.key
                for track in ended
                if not rules.has_outcome(under_way[track.given.key], track)
            },
        )
        stop = self._submit(step) if is_ours else "taken_over"
        self._under_way = {key: step.tracks[key] for key in step.jobs}
        return CatalogProgress(
            states=rules.count_states(step.tracks.values(), catalog.settings, now),
            due_count=len(step.due),
            jobs=step.jobs,
            ended=tuple(step.ended),
            spent=step.spent,
            stop=stop,
            cancelled=frozenset(step.cancelled),
        )

    def _submit(self, step: _Step) -> rules.StopReason | None:
        """Submit due tracks until `at_once` jobs run; return why none is submitted after that."""
        if self._is_stopped:
            return "cancelled"
        while len(step.ended) < _MAX_ENDED:
            # A stored result ends a track at once and frees its place, so plan again after each
            # round of submissions.
            plan = rules.next_submissions(
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
        key, job_id = track.given.key, rules.next_job_id(step.catalog, track)
        # A stored result is refused only if it could be the one that is too old for the catalogue:
        # a refresh would also read details anew that other scans have just read.
        age = None if track.result_at is None else step.now - track.result_at
        must_refresh = age is not None and age < self.result_ttl
        parameters = scan_parameters({**step.catalog.settings.parameters, "refresh": must_refresh})
        try:
            job = self.scans.ask(
                track.given.input, parameters, origin="schedule", job_id=job_id
            ).job
        except InputError as error:
            updated = rules.refused(track, error, now=step.now)
        else:
            # An ended job with another id is a stored result, which costs nothing.
            costs_a_scan = job.job_id == job_id or job.status not in job_records.FINAL_STATUSES
            updated = rules.submitted(track, job, now=step.now, costs_a_scan=costs_a_scan)
            if costs_a_scan:
                step.spent = replace(step.spent, tracks=step.spent.tracks + 1)
            if job.status == "cancelled":
                step.cancelled.add(key)
            if job.status in job_records.FINAL_STATUSES:
                updated = rules.settled(updated, job, now=step.now, is_charged=costs_a_scan)
            else:
                step.jobs[key] = job
        catalogs.update_track(self.control, self.name, updated, job_before=None)
        step.tracks[key] = updated
        step.due.remove(track)
        self._submitted.add(key)
        if updated.job_id is None:
            step.ended.append(updated)


def cancel_run(name: str, *, control: ControlStore, scans: CatalogScans) -> int:
    """Stop the run of a catalogue and cancel its jobs; return how many. Results stay.

    A job that another request created goes on, and so does one that a user has requested meanwhile.

    Raises:
        InvalidParameterError: There is no such catalogue.
    """
    catalog = find_catalog(control, name)
    stop_run(control, name)
    cancelled = 0
    for track in catalogs.read_tracks(control, name):
        if track.job_id is None or not rules.is_own_job(catalog, track):
            continue
        job = jobs.get(control, track.job_id)
        # A higher priority: a user has asked for the same scan.
        if (
            job is None
            or job.status in job_records.FINAL_STATUSES
            or job.priority > job_records.PRIORITY_SCHEDULED
        ):
            continue
        with suppress(JobNotFoundError):  # deleted meanwhile
            scans.cancel(job.job_id)
            cancelled += 1
    return cancelled


def _lease(name: str) -> str:
    return f"catalog:{name}"
