"""Builds the checks of `sametrack doctor` from the settings. Loads the libraries of the stores."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from api.cli.processes.child_processes import DAGSTER_PORT, local_address
from api.settings import ApiSettings
from pipelines.doctor.checks import (
    START_ADVICE,
    check_chromium,
    check_code_server,
    check_disk,
    check_extras,
    check_port,
    check_python,
    check_time_zone,
    device_checks,
)
from pipelines.doctor.documents import CheckResult
from pipelines.doctor.health_check import TOTAL_TIMEOUT_S, MachineCheck, SystemHealthCheck
from pipelines.doctor.probes.table import PROBE_BY_SURFACE
from pipelines.documents.messages import counted
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import choose_profile
from pipelines.watchlists.webhook import webhook_address
from warehouse.home import open_home
from warehouse.records.errors import InvalidParameterError, ProfileNotChosenError, WarehouseError

if TYPE_CHECKING:
    from dagster import DagsterInstance

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
    probes_surfaces = wants_surfaces and profile is not None and not profile.has_own_world
    chosen = [name for name in PROBE_BY_SURFACE if not surfaces or name in surfaces]
    return SystemHealthCheck(
        time_s=time_s,
        settings=settings,
        profile=profile,
        checks=[
            *_machine_checks(settings, profile),
            *device_checks(settings, may_open=probes_surfaces),
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
        ("python", check_python),
        ("extras", check_extras),
        (
            "disk",
            partial(check_disk, settings.data_home, min_free_mb=settings.min_free_disk_mb),
        ),
        ("time zone", partial(check_time_zone, settings.time_zone)),
        (
            "chromium",
            partial(check_chromium, settings.chromium_path, is_needed=is_needed),
        ),
        (
            "api",
            partial(
                check_port,
                "api",
                settings.api_port,
                setting="API_PORT",
                path="/healthz",
                host=local_address(settings.api_host),
            ),
        ),
        (
            "dagster ui",
            partial(check_code_server, dagster_port(settings.dagster_url), token=token),
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
            START_ADVICE,
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
