"""Checks of this machine: one function each, which returns a result and changes nothing.

The orchestrator is checked through its UI, without importing Dagster. Not here: the stores
(`stores.py`), the platform.
"""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

import httpx2

from pipelines.doctor.check_results import CheckResult, CheckState
from warehouse.extras import EXTRAS, missing_libraries
from warehouse.home import free_megabytes, why_unwritable

LOOPBACK = "127.0.0.1"
OLDEST_PYTHON = (3, 12)
_CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_VERSION_S = 8.0
_RESPONSE_S = 3.0
START_ADVICE = (
    "`sametrack up` starts it; scans from the command line do not need it. "
    "If it has another port, name it in DAGSTER_URL"
)
TOKEN_ADVICE = "set OWN_API_TOKEN to a valid token to check the code server"  # noqa: S105 -- a hint
_LOCATIONS = """{ locationStatusesOrError {
  ... on WorkspaceLocationStatusEntries { entries { name loadStatus } } } }"""


def check_python() -> CheckResult:
    """Check the versions of Python and Sametrack, and the virtual environment."""
    running = ".".join(map(str, sys.version_info[:3]))
    says = f"{running}, Sametrack {version('sametrack')}"
    if sys.version_info[:2] < OLDEST_PYTHON:
        return CheckResult("python", "fail", says, "use Python 3.12 or newer, then `make env`")
    if sys.prefix == sys.base_prefix:
        return CheckResult(
            "python", "warn", f"{says}, outside of a virtual environment", "run `make env`"
        )
    return CheckResult("python", "ok", f"{says}, in {Path(sys.prefix).name}")


def check_extras() -> CheckResult:
    """List the extras that are installed, and those that are not: each serves one feature."""
    missing = [extra for extra in EXTRAS if missing_libraries(extra)]
    says = ", ".join(extra for extra in EXTRAS if extra not in missing) or "none"
    if missing:
        says = f"{says}; not installed: {', '.join(missing)}"
    return CheckResult("extras", "ok", says)


def check_chromium(chosen: Path | None, *, is_needed: bool) -> CheckResult:
    """Check the browser of `browser-public`.

    Args:
        chosen: Path in the settings.
        is_needed: Whether the configured source uses it.
    """
    path = str(chosen) if chosen else next(filter(None, map(shutil.which, _CHROMIUMS)), None)
    advice = "run `make setup-browser`, or set CHROMIUM_PATH"
    missing: CheckState = "fail" if is_needed else "warn"
    if path is None:
        return CheckResult("chromium", missing, "not found; only browser-public needs it", advice)
    # Only a browser that starts can be used: libraries of the system may be missing.
    try:
        output = subprocess.run(  # noqa: S603  # a browser of this machine, asked for its version
            [path, "--version"], capture_output=True, text=True, timeout=_VERSION_S, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return CheckResult("chromium", missing, f"does not start ({type(error).__name__})", advice)
    return CheckResult("chromium", "ok", " ".join(output.split()[:2]))


def check_disk(folder: Path, *, min_free_mb: int) -> CheckResult:
    """Check free space and write access of `folder`, or of its nearest existing parent."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free_mb = free_megabytes(existing)
    says = f"{free_mb:,} MB free"
    if free_mb < min_free_mb:
        advice = "free some space, choose another DATA_HOME, or lower MIN_FREE_DISK_MB"
        return CheckResult("disk", "fail", f"{says}, {min_free_mb:,} MB are needed", advice)
    # A disk with errors is often mounted read-only.
    why = why_unwritable(existing)
    if why is not None:
        advice = "check its owner, and the system's log for errors of the disk"
        return CheckResult("disk", "fail", f"DATA_HOME: {why}", advice)
    return CheckResult("disk", "ok", f"{says} of {min_free_mb:,} MB needed")


def check_time_zone(name: str) -> CheckResult:
    """Check the time zone of `time` in responses, and show that of this machine."""
    machine_zone = time.strftime("%Z %z")
    if name not in available_timezones():
        return CheckResult(
            "time zone", "fail", f"{name} is unknown here", "install the package tzdata"
        )
    # A listed zone may still have a damaged file, which raises.
    ZoneInfo(name)
    return CheckResult("time zone", "ok", f"responses in {name}; this machine: {machine_zone}")


def check_workers(live: Callable[[], Sequence[str]]) -> CheckResult:
    """Check that a worker is running."""
    workers = live()
    if workers:
        return CheckResult("worker", "ok", f"{len(workers)} alive")
    advice = "`sametrack up` or `sametrack worker` starts one; `sametrack scan` runs its own"
    return CheckResult("worker", "warn", "none is alive", advice)


def check_port(
    name: str, port: int, *, setting: str, path: str, host: str = LOOPBACK
) -> CheckResult:
    """Check whether our service, another program or nothing listens on a port of an address."""
    if not is_listening(port, host):
        return CheckResult(name, "ok", f"port {port} is free; the service is not running")
    # An IPv6 address stands in brackets.
    name_in_url = f"[{host}]" if ":" in host else host
    url = f"http://{name_in_url}:{port}{path}"
    try:
        response = httpx2.get(url, timeout=_RESPONSE_S, trust_env=False)
    except httpx2.HTTPError as error:
        says = f"port {port} is taken and does not answer ({type(error).__name__})"
        return CheckResult(name, "warn", says, f"see what listens there, or change {setting}")
    if response.is_success:
        return CheckResult(name, "ok", f"answers on port {port}")
    says = f"port {port} is taken by something that answers {response.status_code}"
    return CheckResult(name, "warn", says, f"see what listens there, or change {setting}")


def check_code_server(port: int, *, token: str | None = None) -> CheckResult:
    """Check that the UI answers and that its code location is loaded.

    Args:
        port: Port of the UI on loopback.
        token: Sent with the request, if the installation requires one.
    """
    if not is_listening(port):
        return CheckResult("dagster ui", "warn", f"nothing listens on port {port}", START_ADVICE)
    try:
        response = httpx2.post(
            f"http://{LOOPBACK}:{port}/graphql",
            json={"query": _LOCATIONS},
            headers={} if token is None else {"x-api-key": token},
            timeout=_RESPONSE_S,
            trust_env=False,
        )
        if response.status_code == httpx2.codes.UNAUTHORIZED:
            return CheckResult("dagster ui", "warn", f"port {port} requires a token", TOKEN_ADVICE)
        locations = response.raise_for_status().json()["data"]["locationStatusesOrError"]["entries"]
    except (httpx2.HTTPError, ValueError, KeyError, TypeError) as error:
        says = f"port {port} gives no valid response ({type(error).__name__})"
        return CheckResult("dagster ui", "warn", says, "see `logs` in the data home")
    # The UI responds although its code server has failed to load the project.
    loaded = [entry["name"] for entry in locations if entry["loadStatus"] == "LOADED"]
    if not loaded:
        says = f"answers on port {port}; the code server does not"
        advice = "see `logs/code-server.log` in the data home"
        return CheckResult("dagster ui", "warn", says, advice)
    says = f"answers on port {port}; code server: {', '.join(loaded)}"
    return CheckResult("dagster ui", "ok", says)


def check_sandbox(port: int) -> CheckResult:
    """Check that the sandbox is running; for the profile `sandbox`."""
    if is_listening(port):
        return CheckResult("sandbox", "ok", f"listens on port {port}")
    advice = "start it: `sametrack up --sandbox`, or `sametrack sandbox` alone"
    return CheckResult("sandbox", "warn", f"nothing listens on port {port}", advice)


def is_listening(port: int, host: str = LOOPBACK) -> bool:
    """Return True if a process accepts connections on this port of an address."""
    try:
        with socket.create_connection((host, port), timeout=0.5):
            return True
    except OSError:
        return False
