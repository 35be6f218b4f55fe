"""Runs of watchlists: created when due, begun, concluded. Calls block but never wait for a job.

`begin` submits scans of the tracks and checks accounts and hashtags; `conclude`, once the jobs have
ended, compares with the previous run and writes the digest. Any process may call them at any time,
also after a crash: a lease keeps a run to one process, and job ids are derived from the id of the
run, so a repeated `begin` submits nothing twice.
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
from pipelines.watchlists import alerts, changes
from pipelines.watchlists.digest import DigestEntry, Notify, build_digest, write_digest
from pipelines.watchlists.schedule import find_due_run
from warehouse.control import ControlStore, jobs, watchlists
from warehouse.records import errors
from warehouse.records.jobs import FINAL_STATUSES, Origin
from warehouse.records.values import ReadOnlyDocument
from warehouse.records.watchlists import (
    ENDED_RUN_STATUSES,
    EntryCheck,
    WatchlistEntry,
    WatchlistPlan,
    WatchlistRun,
)

LEASE_S = 600.0
"""Lease of a run. Longer than any single check; a killed process blocks the run for this long."""

_CANCELLED_ERROR = errors.RunCancelledError("The scan was cancelled").to_document()


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
        send_alert: Sends a message about a run to a channel.
        console_url: Address of the console, for links in messages.
        retention: How long runs are kept.
        clock: Returns the current time in UTC.
    """

    control: ControlStore
    scan_service: ScanSubmitter
    observe: Callable[[WatchlistEntry], changes.WatchObservation]
    gone_videos: Callable[[str], Mapping[str, str | None]]
    digests: Path
    is_demo: bool
    notify: Notify = lambda _digest: None
    send_alert: alerts.SendAlert = field(default_factory=alerts.AlertSender)
    console_url: str | None = None
    retention: timedelta = timedelta(days=90)
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    _owner: str = field(default_factory=lambda: uuid4().hex, init=False)

    def take_due(self) -> list[str]:
        """Create runs for all enabled watchlists that are due; return the ids of the new runs."""
        now = self.clock()
        run_ids: list[str] = []
        for stored in watchlists.read_all(self.control):
            due = find_due_run(stored.cron, considered_until=stored.considered_until, now=now)
            if due is None or not stored.plan.enabled:
                continue
            run_id = watchlists.take_due(self.control, stored.plan.name, due)
            if run_id is not None:  # None: another process has created the run
                run_ids.append(run_id)
        return run_ids

    def not_begun(self) -> list[WatchlistRun]:
        """Return runs that have not begun, or whose process died while beginning."""
        return [run for run in watchlists.unheld_runs(self.control) if run.status == "due"]

    def ready(self) -> list[WatchlistRun]:
        """Return runs to conclude that no process holds.

        The jobs of a run have all ended, or a message about an ended run is due once more.
        """
        waiting = [run for run in watchlists.unheld_runs(self.control) if run.status == "waiting"]
        unsent = [
            watchlists.get_run(self.control, run_id)
            for run_id in watchlists.runs_with_due_alerts(self.control)
        ]
        return [
            *(run for run in waiting if self._have_jobs_ended(run.run_id)),
            *(run for run in unsent if run is not None),
        ]

    def advance(self) -> list[WatchlistRun]:
        """Claim due runs, begin new ones, conclude ready ones; return the runs that ended."""
        self.take_due()
        for run in self.not_begun():
            self.begin(run.run_id)
        ended = [self.conclude(run.run_id) for run in self.ready()]
        return [run for run in ended if run is not None and run.status in ENDED_RUN_STATUSES]

    def begin(self, run_id: str) -> WatchlistRun | None:
        """Check every entry or submit its scan; return None if another process has the run.

        Raises:
            WarehouseError: A store cannot be used; the run is released for a retry.
        """
        with self._lease(run_id) as run:
            if run is None or run.status != "due":
                return run
            # Each check is saved at once: after a crash the next process starts only the rest.
            for check in watchlists.read_checks(self.control, run_id):
                if check.status == "due":
                    watchlists.save_check(self.control, self._begin_check(run, check))
            watchlists.release_run(self.control, run_id, self._owner, status="waiting")
        return watchlists.get_run(self.control, run_id)

    def conclude(self, run_id: str) -> WatchlistRun | None:
        """Compare with the previous run, then write the digest and send what is to be sent.

        Returns None while a job is running or another process has the run. Of a run that has ended,
        only the messages that are due again are sent.

        Raises:
            WarehouseError: A store cannot be used; the run is released for a retry.
        """
        ended = watchlists.get_run(self.control, run_id)
        if ended is not None and ended.status in ENDED_RUN_STATUSES:
            self._send_alerts(run_id, ended.digest)
            return ended
        if not self._have_jobs_ended(run_id):
            return None
        with self._lease(run_id) as run:
            if run is None or run.status != "waiting":
                return run
            entries = [
                self._compare_with_previous(run, check)
                for check in watchlists.read_checks(self.control, run_id)
            ]
            digest = build_digest(run, entries, ended_at=self.clock(), is_demo=self.is_demo)
            digest["files"] = write_digest(self.digests, digest)
            has_ended = watchlists.end_run(
                self.control,
                run_id,
                self._owner,
                status="completed" if digest["completed_count"] or not entries else "failed",
                outcome=f"{digest['completed_count']} of {digest['entry_count']} checked",
                digest=digest,
                sends_alerts=alerts.needs_alert(digest),
            )
        # The digest is sent after the run has ended: a crash loses it rather than sending it twice.
        # If the lease has expired, another process has ended the run.
        if has_ended:
            outcome = self.notify(digest)
            if outcome is not None:
                watchlists.save_notification(self.control, run_id, outcome)
            self._send_alerts(run_id, digest)
            watchlists.drop_older_observations(self.control, run.watchlist, run_id)
            watchlists.delete_old_runs(self.control, self.clock() - self.retention)
        return watchlists.get_run(self.control, run_id)

    def _send_alerts(self, run_id: str, digest: ReadOnlyDocument | None) -> None:
        if digest is not None:
            alerts.send_due(
                self.control,
                run_id,
                digest,
                send=self.send_alert,
                console_url=self.console_url,
            )

    @contextmanager
    def _lease(self, run_id: str) -> Iterator[WatchlistRun | None]:
        """Lease a run for the block, and release it at the end."""
        run = watchlists.hold_run(self.control, run_id, self._owner, ttl_s=LEASE_S)
        try:
            yield run
        finally:
            if run is not None:  # no effect if it was released or ended in the block
                watchlists.release_run(self.control, run_id, self._owner, status=run.status)

    def _begin_check(self, run: WatchlistRun, check: EntryCheck) -> EntryCheck:
        watchlists.renew_run_hold(self.control, run.run_id, self._owner, ttl_s=LEASE_S)
        try:
            if check.entry.kind == "track":
                return replace(check, status="waiting", job_id=self._submit_scan(run, check))
            observed = self.observe(check.entry)
        except errors.WarehouseUnavailableError:
            # A store that is unavailable says nothing about the entry: the run is tried again.
            raise
        except errors.SametrackError as error:
            return replace(check, status="failed", error=error.to_document())
        return _complete(check, observed)

    def _submit_scan(self, run: WatchlistRun, check: EntryCheck) -> str:
        """Submit a scan. Its job id is derived from the run, so a repeated call is idempotent."""
        job_id = str(uuid5(UUID(run.run_id), str(check.position)))
        parameters = scan_parameters_of(run.plan)
        return self.scan_service.ask(
            check.entry.input, parameters, origin=run.origin, job_id=job_id
        ).job.job_id

    def _have_jobs_ended(self, run_id: str) -> bool:
        waited_for = [
            jobs.get(self.control, check.job_id or "")
            for check in watchlists.read_checks(self.control, run_id)
            if check.status == "waiting"
        ]
        # A job that was deleted has ended.
        return all(job is None or job.status in FINAL_STATUSES for job in waited_for)

    def _compare_with_previous(self, run: WatchlistRun, check: EntryCheck) -> DigestEntry:
        if check.status == "waiting":
            check = self._with_job_result(run, check)
            watchlists.save_check(self.control, check)
        if check.observation is None or check.subject is None:
            return DigestEntry(check, None, None)
        previous_document = watchlists.last_observation(
            self.control, run.watchlist, check.entry.kind, check.subject, before_run=run.run_id
        )
        observed = changes.to_observation(check.observation)
        previous = None
        if previous_document is not None:
            previous = changes.to_observation(previous_document)
            # Videos that this observation misses are kept, so that their return is not new.
            observed = observed.after(previous)
            check = replace(check, observation=observed.to_document())
            watchlists.save_check(self.control, check)
        return DigestEntry(
            check,
            observed,
            changes.find_changes(previous, observed, thresholds=run.plan.thresholds),
        )

    def _with_job_result(self, run: WatchlistRun, check: EntryCheck) -> EntryCheck:
        """Return the check of a track with the result of its job."""
        try:
            scan = self.scan_service.job(check.job_id or "")
        except (errors.JobNotFoundError, errors.JobResultMissingError) as error:
            return replace(check, status="failed", error=error.to_document())
        # The document of a discovery has a `kind`; it has no ranking to compare.
        if scan.result is None or "kind" in scan.result:
            return replace(check, status="failed", error=scan.job.error or _CANCELLED_ERROR)
        observed = changes.to_track_observation(
            scan.result,
            top=scan_parameters_of(run.plan).count,
            gone=self.gone_videos(scan.job.job_id),
        )
        return _complete(check, observed)


def _complete(check: EntryCheck, observed: changes.WatchObservation) -> EntryCheck:
    return replace(
        check, status="completed", subject=observed.subject, observation=observed.to_document()
    )


def scan_parameters_of(plan: WatchlistPlan) -> ScanParameters:
    """Return the parameters for the scans of a watchlist.

    `refresh` is on by default, because a stored result would show no changes.
    """
    return scan_parameters({"refresh": True, **plan.parameters})
