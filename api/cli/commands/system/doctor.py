"""`sametrack doctor`: check this machine and probe every surface of the platform.

Sends one request per surface and starts no scan. `--record` keeps the bodies that it receives.
"""

import os
import sys
import threading
import time
from pathlib import Path
from typing import Annotated

import psutil
import typer

from api.cli.commands.system.doctor_checks import build_examination
from api.cli.rendering.doctor import DoctorDisplay, print_report
from api.cli.terminal import exit_with_input_error, out, print_json, print_message, safe
from pipelines.captures.recorded import BodyPseudonymiser
from pipelines.doctor.health_check import SystemHealthCheck
from pipelines.doctor.recording import INDEX, prepare_folder, record_responses
from pipelines.documents.messages import counted
from warehouse.exports.pseudonyms import open_pseudonyms
from warehouse.home import open_home

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
        help="Time limit; unfinished checks are marked in the report. Default: 26.",
    ),
]

_Record = Annotated[
    Path | None,
    typer.Option(
        "--record",
        metavar="FOLDER",
        help="Write the bodies of all responses, pseudonymised, and an index to this new folder.",
    ),
]


def doctor(
    *,
    as_json: _Json = False,
    surface: _Surface = None,
    no_upstream: _NoUpstream = False,
    time_limit: _TimeLimit = None,
    record: _Record = None,
) -> None:
    """Check this machine and every platform surface, with advice for each problem.

    Exit status: 0 all OK; 1 this machine or a store has a problem; 2 no profile is chosen, or an
    option is invalid; 3 a surface refuses, has changed or is unreachable; 4 every probed surface
    works, but some could not be probed.
    """
    # Loading Python and this command counts, too.
    began, time_limit = time.monotonic() - _age_s(), time_limit or DEADLINE_S
    examination = build_examination(
        surface or (), wants_surfaces=not no_upstream, time_s=time_limit - CLOSING_S
    )
    # Fail before the probes if their bodies could not be recorded.
    if record is not None and not examination.surfaces:
        exit_with_input_error(
            "--record keeps what surfaces answer, and none is probed",
            hint="choose a PROFILE and a source that reads it, and leave out --no-upstream",
        )
    if record is not None:
        prepare_folder(record)
    # The checks run in a thread, so that the time limit holds even if one hangs.
    thread = threading.Thread(target=examination.run, name="doctor", daemon=True)
    with DoctorDisplay(examination) as display:
        thread.start()
        while thread.is_alive() and time.monotonic() - began < time_limit:
            thread.join(POLL_INTERVAL_S)
            display.update()
    # An error of the examination itself, not of what it checks
    if examination.fault is not None:
        raise examination.fault
    examination.end()
    report = examination.to_document(time.monotonic() - began)
    if as_json:
        print_json(report)
    else:
        print_report(out, report)
    if record is not None:
        _write_recording(examination, record)
    code = examination.verdict().exit_code
    if thread.is_alive():
        print_message("[yellow]time limit reached[/]: unfinished checks are marked")
    # Python would wait at its end for a thread that hangs in an import, DNS or the disk.
    if any(thread.daemon for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    raise typer.Exit(code)


def _write_recording(examination: SystemHealthCheck, folder: Path) -> None:
    """Write what was received until now, also when the time limit ended the probes."""
    profile = examination.profile
    assert profile is not None, "surfaces of a profile were probed"
    home = open_home(examination.settings.data_home, profile.name)
    try:
        recording = record_responses(
            folder,
            examination.health(),
            list(examination.responses),
            BodyPseudonymiser(open_pseudonyms(home)),
            profile=profile.name,
            is_demo_data=profile.is_demo,
        )
    except OSError as error:
        exit_with_input_error(f"{folder.name} cannot be written: {error.strerror}")
    print_message(
        f"{counted(recording.body_count, 'response')} written to {safe(folder)}; {INDEX} "
        f"names {counted(recording.surfaces_without_body, 'surface')} without one"
    )


def _age_s() -> float:
    """Return the age of this process."""
    return max(0.0, time.time() - psutil.Process().create_time())
