"""The life cycle of a watchlist run: claimed when due, begun, concluded. Blocking, never waiting.

`begin` submits scans of the tracks and checks accounts and hashtags; `conclude`, once the jobs have
ended, compares with the previous run and writes the digest. Any process may call them at any time,
also after a crash: one process leases a run, and job ids are derived from the run.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol
from uuid import UUID, uuid4, uuid5

from pipelines.parameters.scan import ScanParameters, scan_parameters
from pipelines.scan.service.service import ScanJob
from pipelines.watchlists import changes
from pipelines.watchlists.changes import find_changes
from pipelines.watchlists.digest import DigestEntry, Notify, build_digest, write_digest
from pipelines.watchlists.schedule import find_due_run
from warehouse.control import ControlStore, jobs, watchlists
from warehouse.records import errors
from warehouse.records import watchlists as watchlist_records
from warehouse.records.jobs import FINAL_STATUSES, Origin

HOLD_S = 600.0
"""Lease of a run: longer than any single check, and how long a killed process blocks it."""

_CANCELLED = errors.RunCancelledError("The scan was cancelled").to_document()


class ScanSubmitter(Protocol):
    """The methods of `ScanService` that a run needs."""

    def ask(
        self,
        text: str,
        parameters: ScanParameters,
        *,
        origin: Origin,
        job_id: str | None = None,
    ) -> ScanJob: ...

    def job(self, job_id: str) -> ScanJob: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchlistRunner:
    """Advances the runs of watchlists.

    Attributes:
        control: The control store.
        scan_service: The scan service.
        observe: Observes an account or a hashtag.
        gone_videos: Returns the unavailable candidates of a job with the platform's reason.
        digests: The folder for digests.
        is_demo: Whether the data is demo data.
        notify: Sends a digest.
        retention: How long runs are kept.
        clock: Returns the current time in UTC.
    """

    control: ControlStore
    scan_service: ScanSubmitter
    observe: Callable[[watchlist_records.WatchlistEntry], changes.WatchObservation]
    gone_videos: Callable[[str], Mapping[str, str | None]]
    digests: Path
    is_demo: bool
    notify: Notify = lambda _digest: None
    retention: timedelta = timedelta(days=90)
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    _owner: str = field(default_factory=lambda: uuid4().hex, init=False)

    def take_due(self) -> list[str]:
        """Create runs for all watchlists that are due; return the ids this process claimed."""
        now, taken = self.clock(), []
        for kept in watchlists.read_all(self.control):
            due = find_due_run(kept.cron, considered_until=kept.considered_until, now=now)
            run_id = None
            if due is not None and kept.plan.enabled:
                run_id = watchlists.take_due(self.control, kept.plan.name, due)
            taken += [] if run_id is None else [run_id]
        return taken

    def not_begun(self) -> list[watchlist_records.WatchlistRun]:
        """Return runs that have not begun, or whose process died while beginning."""
        return [run for run in watchlists.unheld_runs(self.control) if run.status == "due"]

    def ready(self) -> list[watchlist_records.WatchlistRun]:
        """Return runs whose jobs have all ended and that no process is concluding."""
        waiting = [run for run in watchlists.unheld_runs(self.control) if run.status == "waiting"]
        return [run for run in waiting if self._is_over(run.run_id)]

    def advance(self) -> list[watchlist_records.WatchlistRun]:
        """Claim due runs, begin new ones, conclude ready ones; return the runs that ended."""
        self.take_due()
        for run in self.not_begun():
            self.begin(run.run_id)
        ended = [self.conclude(run.run_id) for run in self.ready()]
        return [
            run
            for run in ended
            if run is not None and run.status in watchlist_records.ENDED_RUN_STATUSES
        ]

    def begin(self, run_id: str) -> watchlist_records.WatchlistRun | None:
        """Check every entry or submit its scan; return None if another process has the run.

        Raises:
            WarehouseError: A store cannot be used; the run is released for a retry.
        """
        with self._held(run_id) as run:
            if run is None or run.status != "due":
                return run
            # Saved one by one: if this process dies, the next one begins only what is left.
            for check in watchlists.read_checks(self.control, run_id):
                if check.status == "due":
                    watchlists.save_check(self.control, self._begun(run, check))
            watchlists.release_run(self.control, run_id, self._owner, status="waiting")
        return watchlists.get_run(self.control, run_id)

    def conclude(self, run_id: str) -> watchlist_records.WatchlistRun | None:
        """Compare, write and send the digest; None if a job is running or another process does it.

        Raises:
            WarehouseError: A store cannot be used; the run is released for a retry.
        """
        if not self._is_over(run_id):
            return None
        with self._held(run_id) as run:
            if run is None or run.status != "waiting":
                return run
            entries = [
                self._report(run, check) for check in watchlists.read_checks(self.control, run_id)
            ]
            digest = build_digest(run, entries, ended_at=self.clock(), is_demo=self.is_demo)
            digest["files"] = write_digest(self.digests, digest)
            is_ours = watchlists.end_run(
                self.control,
                run_id,
                self._owner,
                status="completed" if digest["completed_count"] or not entries else "failed",
                outcome=f"{digest['completed_count']} of {digest['entry_count']} checked",
                digest=digest,
            )
        if is_ours:  # sent after the run has ended: at most once
            outcome = self.notify(digest)
            if outcome is not None:
                watchlists.save_notification(self.control, run_id, outcome)
            watchlists.drop_older_observations(self.control, run.watchlist, run_id)
            watchlists.delete_old_runs(self.control, self.clock() - self.retention)
        return watchlists.get_run(self.control, run_id)

    @contextmanager
    def _held(self, run_id: str) -> Iterator[watchlist_records.WatchlistRun | None]:
        """Lease a run for the block; release it unchanged if the block fails."""
        run = watchlists.hold_run(self.control, run_id, self._owner, ttl_s=HOLD_S)
        try:
            yield run
        finally:
            if run is not None:  # no effect if it was released or ended in the block
                watchlists.release_run(self.control, run_id, self._owner, status=run.status)

    def _begun(
        self, run: watchlist_records.WatchlistRun, check: watchlist_records.EntryCheck
    ) -> watchlist_records.EntryCheck:
        watchlists.renew_run_hold(self.control, run.run_id, self._owner, ttl_s=HOLD_S)
        try:
            if check.entry.kind == "track":
                return replace(check, status="waiting", job_id=self._hand_in(run, check))
            observed = self.observe(check.entry)
        except (
            errors.WarehouseUnavailableError
        ):  # says nothing about the entry: the run is tried again
            raise
        except errors.SametrackError as error:
            return replace(check, status="failed", error=error.to_document())
        return _completed(check, observed)

    def _hand_in(
        self, run: watchlist_records.WatchlistRun, check: watchlist_records.EntryCheck
    ) -> str:
        """Submit a scan. Its job id is derived from the run, so a repeated call is idempotent."""
        job_id = str(uuid5(UUID(run.run_id), str(check.position)))
        parameters = scan_parameters_of(run.plan)
        return self.scan_service.ask(
            check.entry.input, parameters, origin=run.origin, job_id=job_id
        ).job.job_id

    def _is_over(self, run_id: str) -> bool:
        waited_for = [
            jobs.get(self.control, check.job_id or "")
            for check in watchlists.read_checks(self.control, run_id)
            if check.status == "waiting"
        ]
        return all(job is None or job.status in FINAL_STATUSES for job in waited_for)

    def _report(
        self, run: watchlist_records.WatchlistRun, check: watchlist_records.EntryCheck
    ) -> DigestEntry:
        if check.status == "waiting":
            check = self._result(run, check)
            watchlists.save_check(self.control, check)
        if check.observation is None or check.subject is None:
            return DigestEntry(check, None, None)
        earlier = watchlists.last_observation(
            self.control, run.watchlist, check.entry.kind, check.subject, before_run=run.run_id
        )
        observed = changes.to_observation(check.observation)
        before = None if earlier is None else changes.to_observation(earlier)
        if before is not None:
            # Stored with what this list misses, so that its return is no news.
            observed = observed.after(before)
            check = replace(check, observation=observed.to_document())
            watchlists.save_check(self.control, check)
        return DigestEntry(
            check, observed, find_changes(before, observed, thresholds=run.plan.thresholds)
        )

    def _result(
        self, run: watchlist_records.WatchlistRun, check: watchlist_records.EntryCheck
    ) -> watchlist_records.EntryCheck:
        """Return the check of a track with the result of its job."""
        try:
            scan = self.scan_service.job(check.job_id or "")
        except (errors.JobNotFoundError, errors.JobResultMissingError) as error:
            return replace(check, status="failed", error=error.to_document())
        if scan.result is None or "kind" in scan.result:
            return replace(check, status="failed", error=scan.job.error or _CANCELLED)
        observed = changes.to_track_observation(
            scan.result,
            top=scan_parameters_of(run.plan).count,
            gone=self.gone_videos(scan.job.job_id),
        )
        return _completed(check, observed)


def _completed(
    check: watchlist_records.EntryCheck, observed: changes.WatchObservation
) -> watchlist_records.EntryCheck:
    return replace(
        check, status="completed", subject=observed.subject, observation=observed.to_document()
    )


def scan_parameters_of(plan: watchlist_records.WatchlistPlan) -> ScanParameters:
    """Return the parameters for the scans of a watchlist.

    `refresh` is on by default, because a stored result would show no changes.
    """
    return scan_parameters({"refresh": True, **plan.parameters})
