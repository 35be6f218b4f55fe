"""`sametrack doctor`: check this machine and probe every surface of the platform.

Sends one request per surface and starts no scan. `--live-check` is in `live_check.py`.
"""

import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.rendering.doctor import DoctorDisplay, print_report
from api.cli.terminal import exit_with_input_error, out, print_json, print_message

if TYPE_CHECKING:
    from pipelines.doctor.health_check import SystemHealthCheck

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
    float | None,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        min=SHORTEST_S,
        help="Time limit; unfinished checks are marked in the report. Default: 26, with "
        "--live-check 60.",
    ),
]


_LiveCheck = Annotated[
    bool,
    typer.Option(
        "--live-check",
        help="Ask each surface once, and write bodies, a report and a proposed profile patch.",
    ),
]
_Yes = Annotated[bool, typer.Option("--yes", help="With --live-check: do not ask for consent.")]
_Link = Annotated[
    str | None,
    typer.Option("--link", metavar="URL", help="With --live-check: a video or track to ask for."),
]
_Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FOLDER", help="With --live-check: the new folder to write."),
]
_Pseudonymise = Annotated[
    bool,
    typer.Option(
        "--pseudonymise", help="With --live-check: hide accounts and videos in all that is written."
    ),
]


def doctor(
    *,
    as_json: _Json = False,
    surface: _Surface = None,
    no_upstream: _NoUpstream = False,
    time_limit: _TimeLimit = None,
    live_check: _LiveCheck = False,
    yes: _Yes = False,
    link: _Link = None,
    out_folder: _Out = None,
    pseudonymise: _Pseudonymise = False,
) -> None:
    """Check this machine and every platform surface, with advice for each problem.

    Exit status: 0 all OK; 1 this machine or a store has a problem; 2 no profile is chosen, or an
    option is invalid; 3 a surface refuses, has changed or is unreachable; 4 every probed surface
    works, but some could not be probed.

    With --live-check the surfaces are asked one after another, each once, with at most 20 requests
    and within a minute. It asks for consent first, except for the sandbox. The exit status is as
    above; 2 also if there is no terminal to ask at and no --yes.
    """
    if live_check:
        from api.cli.commands.system.live_check import check_live  # noqa: PLC0415 -- loads the stores

        check_live(
            link=link, out_folder=out_folder, yes=yes, pseudonymise=pseudonymise,
            as_json=as_json, time_limit=time_limit,
        )  # fmt: skip
        return
    if yes or link or out_folder or pseudonymise:
        exit_with_input_error("--yes, --link, --out and --pseudonymise belong to --live-check")
    began, time_limit = time.monotonic() - _age_s(), time_limit or DEADLINE_S
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


def _show(examination: "SystemHealthCheck", took_s: float, *, as_json: bool) -> None:
    if as_json:
        print_json(examination.to_document(took_s))
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
