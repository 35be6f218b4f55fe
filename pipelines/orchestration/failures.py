"""Reasons of failed runs: an error that is raised on purpose is shown as what failed."""

from collections.abc import Iterator
from contextlib import contextmanager

from dagster import Failure

from warehouse.records.errors import SametrackError


@contextmanager
def reasons_as_failures() -> Iterator[None]:
    """Raise errors of Sametrack as Dagster's `Failure`, whose text its UI shows as the reason."""
    try:
        yield
    except SametrackError as error:
        raise to_failure(error) from error


def to_failure(error: SametrackError) -> Failure:
    """Return the failure of a step: type, what was wrong, what to do; no retry would help."""
    hint = f" ({error.hint})" if error.hint else ""
    return Failure(f"{error.type}: {error.detail}{hint}", allow_retries=False)
