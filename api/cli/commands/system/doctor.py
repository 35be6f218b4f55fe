"""`sametrack doctor`: is this machine fit, does each surface of the platform still answer, and if
not, what suffers and what to do. Asks each surface one polite question; starts no scan.
"""

import json
import os
import sys
import threading
import time
from typing import Annotated, Any

import typer

from api.cli.rendering.doctor import DoctorDisplay, print_report
from api.cli.terminal import out, say

DEADLINE_S = 26.0
"""Default time limit of the whole command, start included."""
SHORTEST_S = 10.0
CLOSING_S = 4.0
"""What the examination leaves for its report."""
LOOK_EVERY_S = 0.05

_Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
_Surface = Annotated[
    list[str] | None,
    typer.Option("--surface", metavar="NAME", help="Ask this surface alone; may be repeated."),
]
_NoUpstream = Annotated[
    bool, typer.Option("--no-upstream", help="Look at this machine alone; contact nothing.")
]
_TimeLimit = Annotated[
    float,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        min=SHORTEST_S,
        help="End after this time; what has not answered is reported so.",
    ),
]


def doctor(
    *,
    as_json: _Json = False,
    surface: _Surface = None,
    no_upstream: _NoUpstream = False,
    time_limit: _TimeLimit = DEADLINE_S,
) -> None:
    """Check this machine and every surface of the chosen platform; says what to do.

    Exit status: 0 all well; 1 this machine is not fit; 2 no profile is chosen, or a wrong option;
    3 a surface says no, changed shape or is unreachable; 4 what was asked works, but something
    could not be asked.
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
            thread.join(LOOK_EVERY_S)
            display.update()
    if examination.fault is not None:
        raise examination.fault
    examination.end()
    took_s = time.monotonic() - began
    _show(examination, took_s, as_json=as_json)
    _leave(examination.verdict().exit_code, is_late=thread.is_alive())


def _show(examination: Any, took_s: float, *, as_json: bool) -> None:
    if as_json:
        out.out(json.dumps(examination.to_document(took_s), ensure_ascii=False, indent=2))
        return
    print_report(out, examination.to_document(took_s))


def _age_s() -> float:
    """How long this process runs already: loading Python and the command counts, too."""
    import psutil  # noqa: PLC0415 -- costs what --help need not pay

    return max(0.0, time.time() - psutil.Process().create_time())


def _leave(code: int, *, is_late: bool) -> None:
    """End the command. A thread that loads a library, looks up a name or waits for a dead disk
    cannot be ended, and Python would wait for it.
    """
    if is_late:
        say("[yellow]time was up[/]: what had not answered by then is shown so")
    if any(thread.daemon for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    raise typer.Exit(code)
