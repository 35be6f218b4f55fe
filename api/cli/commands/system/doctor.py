"""`sametrack doctor`: check this machine and probe every surface of the platform.

Sends one request per surface and starts no scan.
"""

import json
import os
import sys
import threading
import time
from typing import Annotated, Any

import typer

from api.cli.rendering.doctor import DoctorDisplay, print_report
from api.cli.terminal import out, print_message

DEADLINE_S = 26.0
"""Default time limit of the whole command, including its start."""
SHORTEST_S = 10.0
CLOSING_S = 4.0
"""Time reserved after the examination, to write the report."""
POLL_INTERVAL_S = 0.05

_Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
_Surface = Annotated[
    list[str] | None,
    typer.Option("--surface", metavar="NAME", help="Probe only this surface; repeatable."),
]
_NoUpstream = Annotated[
    bool, typer.Option("--no-upstream", help="Check only this machine; contact no host.")
]
_TimeLimit = Annotated[
    float,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        min=SHORTEST_S,
        help="Time limit; unfinished checks are marked in the report.",
    ),
]


def doctor(
    *,
    as_json: _Json = False,
    surface: _Surface = None,
    no_upstream: _NoUpstream = False,
    time_limit: _TimeLimit = DEADLINE_S,
) -> None:
    """Check this machine and every platform surface, with advice for each problem.

    Exit status: 0 all OK; 1 this machine or a store has a problem; 2 no profile is chosen, or an
    option is invalid; 3 a surface refuses, has changed or is unreachable; 4 every probed surface
    works, but some could not be probed.
    """
    began = time.monotonic() - _age_s()
    from api.cli.commands.system.doctor_checks import build_examination  # noqa: PLC0415 -- loads DuckDB and Delta

    examination = build_examination(
        surface or (), wants_surfaces=not no_upstream, time_s=time_limit - CLOSING_S
    )
    thread = threading.Thread(target=examination.run, name="doctor", daemon=True)
    with DoctorDisplay(examination) as display:
        thread.start()
        while thread.is_alive() and time.monotonic() - began < time_limit:
            thread.join(POLL_INTERVAL_S)
            display.update()
    if examination.fault is not None:
        raise examination.fault
    examination.end()
    took_s = time.monotonic() - began
    _show(examination, took_s, as_json=as_json)
    _exit_process(examination.verdict().exit_code, is_late=thread.is_alive())


def _show(examination: Any, took_s: float, *, as_json: bool) -> None:
    if as_json:
        out.out(json.dumps(examination.to_document(took_s), ensure_ascii=False, indent=2))
        return
    print_report(out, examination.to_document(took_s))


def _age_s() -> float:
    """Return the age of this process: loading Python and the command counts too."""
    import psutil  # noqa: PLC0415 -- slows --help down

    return max(0.0, time.time() - psutil.Process().create_time())


def _exit_process(code: int, *, is_late: bool) -> None:
    """Exit the process. Python would wait for a thread that hangs in an import, DNS or the disk."""
    if is_late:
        print_message("[yellow]time limit reached[/]: unfinished checks are marked")
    if any(thread.daemon for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    raise typer.Exit(code)
