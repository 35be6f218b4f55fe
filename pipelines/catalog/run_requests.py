"""Requests to run a catalogue, to stop its run, and to look up its sounds at the end.

A request is a lease in the control store that belongs to no process, so it survives all of them.
"""

from uuid import uuid4

from warehouse.control import ControlStore, leases

_TTL_S = 366 * 86_400.0  # a request is withdrawn when it has been carried out
_STOP_TTL_S = 60.0  # a run checks for it at each step
_HELD_S = 60.0  # a worker that was killed keeps its look-up from others for so long
_REQUESTED, _STOP = "catalog-requested:", "catalog-stop:"
_LOOK_UP, _LOOKING_UP = "catalog-look-up:", "catalog-looking-up:"


def request_run(control: ControlStore, name: str) -> None:
    """Ask the workers to run a catalogue; has no effect if that is requested already."""
    if not is_run_requested(control, name):
        leases.acquire(control, _REQUESTED + name, uuid4().hex, _TTL_S)


def is_run_requested(control: ControlStore, name: str) -> bool:
    """Whether a run was requested and has not ended."""
    return leases.holder(control, _REQUESTED + name) is not None


def requested_runs(control: ControlStore) -> dict[str, str]:
    """Return the id of each request by the name of its catalogue, which may be removed."""
    requests = leases.holders(control, _REQUESTED)
    return {mark.removeprefix(_REQUESTED): request for mark, request in requests.items()}


def withdraw_request(control: ControlStore, name: str, request: str) -> None:
    """Withdraw a request; a later one for the same catalogue stays."""
    leases.release(control, _REQUESTED + name, request)


def stop_run(control: ControlStore, name: str) -> None:
    """Withdraw the request, if there is one, and ask the run that is under way to stop."""
    request = leases.holder(control, _REQUESTED + name)
    if request is not None:
        withdraw_request(control, name, request)
    leases.acquire(control, _STOP + name, uuid4().hex, _STOP_TTL_S)


def is_asked_to_stop(control: ControlStore, name: str) -> bool:
    """Whether the run under way was asked to stop."""
    return leases.holder(control, _STOP + name) is not None


def forget_stop(control: ControlStore, name: str) -> None:
    """Forget that an earlier run was asked to stop."""
    holder = leases.holder(control, _STOP + name)
    if holder is not None:
        leases.release(control, _STOP + name, holder)


def request_look_up(control: ControlStore, name: str) -> None:
    """Ask the workers to look up the sounds of a run that is over."""
    leases.acquire(control, _LOOK_UP + name, uuid4().hex, _TTL_S)


def requested_look_ups(control: ControlStore) -> list[str]:
    """Return the names of the catalogues whose look-up was requested; some may be removed."""
    return sorted(mark.removeprefix(_LOOK_UP) for mark in leases.holders(control, _LOOK_UP))


def withdraw_look_up(control: ControlStore, name: str) -> None:
    """Withdraw the request for a look-up that has ended, or whose catalogue was removed."""
    request = leases.holder(control, _LOOK_UP + name)
    if request is not None:
        leases.release(control, _LOOK_UP + name, request)


def hold_look_up(control: ControlStore, name: str, owner: str) -> bool:
    """Hold the requested look-up for a worker, or renew its hold; False if another one holds it."""
    return leases.acquire(control, _LOOKING_UP + name, owner, _HELD_S)


def release_look_up(control: ControlStore, name: str, owner: str) -> None:
    """Release the requested look-up, so that another worker can take it over at once."""
    leases.release(control, _LOOKING_UP + name, owner)
