"""Requests for a run of a catalogue: marks in the control store that no process owns."""

from typing import Protocol
from uuid import uuid4

_TTL_S = 366 * 86_400.0  # a request ends by being met


class RequestStore(Protocol):
    """The part of the control store that keeps requests."""

    def acquire_lease(self, name: str, owner: str, ttl_s: float) -> bool: ...
    def lease_holder(self, name: str) -> str | None: ...
    def release_lease(self, name: str, owner: str) -> None: ...


def request_run(control: RequestStore, name: str) -> None:
    """Ask the workers to run a catalogue; without effect if that was done already."""
    if not is_run_requested(control, name):
        control.acquire_lease(_mark(name), uuid4().hex, _TTL_S)


def is_run_requested(control: RequestStore, name: str) -> bool:
    """Whether a run was requested and has not ended."""
    return control.lease_holder(_mark(name)) is not None


def withdraw_request(control: RequestStore, name: str) -> None:
    """Withdraw a request, if there is one."""
    holder = control.lease_holder(_mark(name))
    if holder is not None:
        control.release_lease(_mark(name), holder)


def _mark(name: str) -> str:
    return f"catalog-requested:{name}"
