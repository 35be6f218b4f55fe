"""`sametrack doctor`: check this machine and probe every surface of the platform.

Sends one request per surface and starts no scan. `--record` keeps the bodies that it receives.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import psutil
import typer

from api.cli.processes.child_processes import DAGSTER_PORT, local_address
from api.cli.rendering.doctor import DoctorDisplay, print_report
from api.cli.terminal import exit_with_input_error, out, print_json, print_message, safe
from api.settings import ApiSettings
from pipelines.captures.recorded import BodyPseudonymiser
from pipelines.doctor import checks as doctor_checks
from pipelines.doctor.documents import CheckResult
from pipelines.doctor.health_check import TOTAL_TIMEOUT_S, MachineCheck, SystemHealthCheck
from pipelines.doctor.probes.table import PROBE_BY_SURFACE
from pipelines.doctor.recording import INDEX, prepare_folder, record_responses
from pipelines.documents.messages import counted
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import choose_profile
from pipelines.watchlists.digest import webhook_address
from warehouse.exports.pseudonyms import open_pseudonyms
from warehouse.home import OWN_WORLDS, open_home
from warehouse.records.errors import InvalidParameterError, ProfileNotChosenError, WarehouseError

if TYPE_CHECKING:
    from dagster import DagsterInstance


# Builds the checks of `sametrack doctor` from the settings. Loads the libraries of the stores.

_BROWSER = "browser-public"
_SERVER_ADVICE = "check DAGSTER_STORAGE_URL and its server"
_FOLDER_ADVICE = (
    "check the folder `dagster` in the data home; deleting it also deletes its run history"
)

type OpenInstance = Callable[[], "AbstractContextManager[DagsterInstance]"]


def build_examination(
    surfaces: Sequence[str], *, wants_surfaces: bool, time_s: float = TOTAL_TIMEOUT_S
) -> SystemHealthCheck:
    """Build the examination of the chosen profile.

    Args:
        surfaces: Names of the surfaces to probe; empty for all.
        wants_surfaces: False to check only this machine.
        time_s: Time limit of the examination, in seconds.

    Raises:
        InvalidParameterError: The profile cannot be read, or a surface is unknown.
    """
    for name in surfaces:
        if name not in PROBE_BY_SURFACE:
            raise InvalidParameterError(
                f"Surface {name!r} is unknown", hint=f"known: {', '.join(PROBE_BY_SURFACE)}"
            )
    # Without a profile only this machine can be checked.
    settings = ApiSettings()
    try:
        profile: PlatformProfile | None = choose_profile(settings)
    except ProfileNotChosenError:
        profile = None
    # A world of its own has no platform that could be probed.
    probes_surfaces = wants_surfaces and profile is not None and profile.name not in OWN_WORLDS
    chosen = [name for name in PROBE_BY_SURFACE if not surfaces or name in surfaces]
    return SystemHealthCheck(
        time_s=time_s,
        settings=settings,
        profile=profile,
        checks=[
            *_machine_checks(settings, profile),
            *doctor_checks.device_checks(settings, may_open=probes_surfaces),
        ],
        surfaces=dict.fromkeys(chosen, "waiting") if probes_surfaces else {},
    )


def _machine_checks(
    settings: ApiSettings, profile: PlatformProfile | None
) -> list[tuple[str, MachineCheck]]:
    is_needed = _BROWSER in {settings.data_provider, settings.music_data_provider}
    secret = settings.own_api_token
    token = secret.get_secret_value() if secret else None
    checks: list[tuple[str, MachineCheck]] = [
        ("python", doctor_checks.check_python),
        ("extras", doctor_checks.check_extras),
        (
            "disk",
            partial(
                doctor_checks.check_disk, settings.data_home, min_free_mb=settings.min_free_disk_mb
            ),
        ),
        ("time zone", partial(doctor_checks.check_time_zone, settings.time_zone)),
        (
            "chromium",
            partial(doctor_checks.check_chromium, settings.chromium_path, is_needed=is_needed),
        ),
        (
            "api",
            partial(
                doctor_checks.check_port,
                "api",
                settings.api_port,
                setting="API_PORT",
                path="/healthz",
                host=local_address(settings.api_host),
            ),
        ),
        (
            "dagster ui",
            partial(
                doctor_checks.check_code_server, dagster_port(settings.dagster_url), token=token
            ),
        ),
    ]
    # Checks of what only some installations have
    if settings.digest_webhook_url is not None:
        checks.append(("webhook", partial(_check_webhook, settings)))
    if profile is not None:
        checks.append(("dagster", partial(_check_dagster, settings, profile)))
    return checks


def _check_dagster(settings: ApiSettings, profile: PlatformProfile) -> CheckResult:
    from pipelines.orchestration.runs.open_instance import open_instance  # noqa: PLC0415 -- loads Dagster, 1.1 s

    try:
        home = open_home(settings.data_home, profile.name)
    except WarehouseError:
        return CheckResult("dagster", "warn", "not checked: the data home is not usable")
    return check_orchestrator(
        partial(open_instance, home), has_server=bool(settings.dagster_storage_url)
    )


def check_orchestrator(open_instance: OpenInstance, *, has_server: bool = False) -> CheckResult:
    """Check that the storage opens and that the daemons send heartbeats.

    Args:
        open_instance: Opens Dagster's instance.
        has_server: Whether the storage is in PostgreSQL instead of the data home.
    """
    try:
        with open_instance() as instance:
            runs = instance.get_runs_count()
            statuses = instance.get_daemon_statuses(instance.get_required_daemon_types())
    except Exception as error:  # noqa: BLE001  # Dagster passes on any error of its storage
        advice = _SERVER_ADVICE if has_server else _FOLDER_ADVICE
        return CheckResult("dagster", "fail", f"does not open ({type(error).__name__})", advice)
    # Without heartbeats no schedule fires, but the storage is usable: a warning.
    silent = sorted(name.lower() for name, status in statuses.items() if not status.healthy)
    if silent:
        return CheckResult(
            "dagster",
            "warn",
            f"opens, {counted(runs, 'run')}; daemons send no heartbeat",
            doctor_checks.START_ADVICE,
        )
    return CheckResult(
        "dagster", "ok", f"opens, {counted(runs, 'run')}; {counted(len(statuses), 'daemon')} alive"
    )


def _check_webhook(settings: ApiSettings) -> CheckResult:
    try:
        webhook_address(settings)
    except InvalidParameterError as error:
        return CheckResult("webhook", "fail", error.detail, error.hint)
    return CheckResult("webhook", "ok", "the host of DIGEST_WEBHOOK_URL is listed")


def dagster_port(url: str | None) -> int:
    """Return the port that an address on this machine names; otherwise the usual one."""
    try:
        parts = urlsplit(url or "")
        port = parts.port
    except ValueError:
        return DAGSTER_PORT
    is_here = parts.hostname in {"127.0.0.1", "localhost"}
    return port if is_here and port else DAGSTER_PORT


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
