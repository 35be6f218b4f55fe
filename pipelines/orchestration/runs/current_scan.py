"""The scan that a run executes: the session that its steps share, and how it ended."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from dagster import DagsterExecutionInterruptedError

from pipelines.orchestration.failures import to_failure
from pipelines.orchestration.outages import ResourceWait, awaited_resource
from pipelines.scan.rules.expansion import ConfirmedVideo
from pipelines.scan.scan_run import ScanRun
from warehouse.records.errors import InputError, RunCancelledError, SametrackError
from warehouse.records.jobs import JobStatus

NO_SCAN = "No scan runs in this process"
STARTED_WITH = "choose a track as the partition, or start the job `request_scan`"
NOTHING_CONFIRMED = "This run confirms no videos that could be checked"
CHECKED_WITH = "materialize marts/confirmed_videos of the track, which runs its checks"


@dataclass(frozen=True, slots=True)
class ScanOutcome:
    """How a scan ended, and the error that ended it, if any.

    Attributes:
        status: A final status of the job; `queued` if its process was asked to end and the job goes
            on elsewhere; `lost` if its run broke between two stages, so that the job goes on if it
            has another attempt.
        error: The error that ended the scan.
        wait: What the scan has to wait for, if that is why it failed.
    """

    status: JobStatus | Literal["lost"]
    error: SametrackError | None = None
    wait: ResourceWait | None = None


class CurrentScan:
    """The scan of a run. Without a `session`, as in the code server, scan assets fail with a hint.

    Every scan begins as a row of the job queue, and its run sets the session.
    """

    def __init__(self) -> None:
        self.session: ScanRun | None = None
        self.error: SametrackError | None = None
        self.wait: ResourceWait | None = None
        self.has_failed = False
        self.was_cancelled = False
        self.was_interrupted = False
        self.has_result = False

    def refuse(self, error: SametrackError) -> None:
        """Make the first step of the run fail with this error, because there is no scan to run."""
        self.has_failed = True
        self.error = error

    def outcome(self) -> ScanOutcome:
        """Return how the scan ended; a failed check leaves no error."""
        if self.was_cancelled:
            return ScanOutcome("cancelled")
        if self.was_interrupted:
            return ScanOutcome("queued")
        if self.has_failed:
            return ScanOutcome("failed", self.error, self.wait)
        # Without a result and a failed stage or check, Dagster has failed between two stages, for
        # example because its storage could not be reached.
        return ScanOutcome("completed" if self.has_result else "lost")

    def note_check(self, *, passed: bool) -> None:
        """Record the result of a check: one that fails ends the scan."""
        self.has_failed = self.has_failed or not passed

    def confirmed(self) -> list[ConfirmedVideo]:
        """Return the videos that the running scan has confirmed.

        Raises:
            Failure: No scan has confirmed videos in this run.
        """
        if self.session is None or "confirmed_videos" not in self.session.state.steps:
            error = InputError(NOTHING_CONFIRMED, hint=CHECKED_WITH)
            self.refuse(error)
            raise to_failure(error)
        return list(self.session.state.confirmed.values())

    @contextmanager
    def stage(self, name: str) -> Iterator[ScanRun]:
        """Run the body of an asset as one stage of the scan; record why it ended.

        Raises:
            Failure: No scan runs in this process, or it fails for a reason that it states.
            DagsterExecutionInterruptedError: Cancellation was requested.
        """
        if self.session is None:
            raise to_failure(self.error or InputError(NO_SCAN, hint=STARTED_WITH))
        try:
            self.session.enter(name)
            yield self.session
            self.has_result = "job_results" in self.session.state.written
        except RunCancelledError as error:
            self.was_cancelled = True
            self.session.on_canceling()
            # After any other error Dagster would first go through all remaining steps.
            raise DagsterExecutionInterruptedError from error
        # After SIGTERM or Ctrl-C, as Dagster or Python raises it, another process goes on.
        except (DagsterExecutionInterruptedError, KeyboardInterrupt):
            self.was_interrupted = True
            raise
        except SametrackError as error:
            self.refuse(error)
            self.wait = awaited_resource(error)
            raise to_failure(error) from error
        except Exception as error:
            self.has_failed = True
            self.error = None
            self.wait = awaited_resource(error)
            raise
