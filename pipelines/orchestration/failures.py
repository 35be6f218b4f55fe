"""Show why runs fail: the reason of an error of ours, in Dagster's UI and in the log."""

import errno
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dagster import DagsterEventType, Failure, Field, InitLoggerContext, logger
from sqlalchemy.exc import InterfaceError, OperationalError

from pipelines.logs import FIELDS
from pipelines.orchestration.runs.reconciliation import JOB_TAG
from warehouse.records import errors
from warehouse.records.jobs import LONGEST_WAIT_S, WaitingFor

LOGGER = "dagster.runs"


@contextmanager
def reasons_as_failures() -> Iterator[None]:
    """Raise errors of Sametrack as Dagster's `Failure`, whose text its UI shows as the reason."""
    try:
        yield
    except errors.SametrackError as error:
        raise to_failure(error) from error


def to_failure(error: errors.SametrackError) -> Failure:
    """Return the failure of a step, without retries, as "type: detail (hint)"."""
    hint = f" ({error.hint})" if error.hint else ""
    return Failure(f"{error.type}: {error.detail}{hint}", allow_retries=False)


@logger(
    {"log_level": Field(str, default_value="INFO", is_required=False)},
    description="One JSON object a line, in the log of the process.",
)
def run_log(context: InitLoggerContext) -> logging.Logger:
    """Return the logger of a run's events."""
    lines = logging.getLogger(LOGGER)
    lines.setLevel(context.logger_config["log_level"])
    lines.addFilter(describe_event)
    return lines


def describe_event(record: logging.LogRecord) -> bool:
    """Set the text, level and fields of an event's log line; return False to drop the line."""
    about: dict[str, Any] = getattr(record, "dagster_meta", {})
    event = about.get("dagster_event")
    data = None if event is None else event.event_specific_data
    # A failed run repeats the failure of its step, and each later step reports that it is skipped.
    if getattr(data, "first_step_failure_event", None) is not None:
        return False
    if event is None and str(about.get("orig_message")).startswith("Dependencies for step"):
        return False
    run_id, tags = about.get("run_id"), about.get("job_tags") or {}
    fields = {
        "run_id": run_id,
        "dagster_job": about.get("job_name"),
        "step": about.get("step_key"),
        "job_id": tags.get(JOB_TAG),
    }
    text = str(about.get("orig_message") or record.getMessage())
    error = getattr(data, "error", None)
    source = getattr(data, "error_source", None)
    was_stopped = event is not None and (
        event.event_type == DagsterEventType.RUN_CANCELED
        or getattr(source, "name", None) == "INTERRUPT"
    )
    # A cancelled run is no error, a stated reason is a warning of one line; other errors come with
    # their traceback.
    if was_stopped:
        record.levelno, record.levelname = logging.INFO, logging.getLevelName(logging.INFO)
    elif error is not None and error.cls_name == Failure.__name__:
        record.levelno, record.levelname = logging.WARNING, logging.getLevelName(logging.WARNING)
        text = f"{text} {error.message.partition(': ')[2].strip()}"
    elif error is not None:
        fields["exception"] = error.to_string()
    record.msg, record.args, record.exc_info = text, (), None
    setattr(record, FIELDS, {name: value for name, value in fields.items() if value is not None})
    return record.levelno >= logging.getLogger(LOGGER).level


# Tell errors after which a job waits for a resource, and outages of a store, from other errors.
#
# A resource is space on a disk, a host that asked for a pause, a host's budget of the day, or a
# store that cannot be reached. Waiting for one never costs a job an attempt.

DISK_WAIT_S = 15.0
STORE_WAIT_S = 5.0
_DISK_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})
_DISK_TEXTS = (
    "no space left on device",
    "quota exceeded",
    "read-only file system",
    "disk is full",
    "readonly database",
    "disk i/o error",
)
"""Messages of the system and of SQLite, for errors without a number, such as those of the lake."""


@dataclass(frozen=True, slots=True)
class ResourceWait:
    """What a job waits for, and the seconds before it is claimed again."""

    resource: WaitingFor
    seconds: float


def awaited_resource(error: BaseException | None) -> ResourceWait | None:
    """Return what a job that ended with this error waits for; None if the job itself has failed.

    Example: an `OSError` with `ENOSPC` returns `ResourceWait("disk", 15.0)`.
    """
    if isinstance(error, errors.BudgetSpentError | errors.RateLimitedError):
        resource: WaitingFor = (
            "budget" if isinstance(error, errors.BudgetSpentError) else "host_pause"
        )
        seconds = max(STORE_WAIT_S, error.retry_after or 0.0)
        return ResourceWait(resource, min(seconds, LONGEST_WAIT_S))
    if any(_is_disk_error(cause) for cause in _causes(error)):
        return ResourceWait("disk", DISK_WAIT_S)
    return ResourceWait("worker", STORE_WAIT_S) if is_outage(error) else None


def is_outage(error: BaseException | None) -> bool:
    """Whether the error or one of its causes says that a store could not be reached."""
    # A SQLite file that is locked, full or read-only counts, too: a later attempt may succeed.
    return any(
        isinstance(cause, OperationalError | InterfaceError)
        or (isinstance(cause, errors.WarehouseUnavailableError) and cause.retry_after is not None)
        for cause in _causes(error)
    )


def _is_disk_error(error: BaseException) -> bool:
    if isinstance(error, errors.CapacityExhaustedError):
        return True
    if isinstance(error, OSError) and error.errno in _DISK_ERRORS:
        return True
    return any(text in str(error).lower() for text in _DISK_TEXTS)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
