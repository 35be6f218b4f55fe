"""Checks of this machine, its Android device and its stores: each changes nothing."""

import asyncio
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, ExitStack, aclosing
from functools import partial
from importlib.metadata import version
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

import httpx2

from pipelines.clock import MACHINE_CLOCK
from pipelines.doctor.documents import CheckResult, CheckState
from pipelines.open_stores import open_control_of, open_engine_of
from pipelines.platform.mobileapp import screens
from pipelines.platform.mobileapp.phone import Claim, NotIdleError, Phone, advice, unavailable
from pipelines.platform.providers import PROVIDERS, music_provider_name
from pipelines.platform.providers.mobileapp_guest import open_phone
from pipelines.settings import Settings
from warehouse.control import ControlStore
from warehouse.engine.duckdb_engine import Engine
from warehouse.extras import EXTRAS, missing_libraries
from warehouse.home import Home, free_megabytes, open_home, why_unwritable
from warehouse.queries.surface_health import has_report, write_test_row
from warehouse.records.errors import SametrackError, WarehouseUnavailableError

# Checks of this machine: one function each, which returns a result and changes nothing.
#
# The orchestrator is checked through its UI, without importing Dagster.

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


# Checks of the Android device of `mobileapp-guest`: server, device, app, its layout, guest mode.
#
# One examination serves all five checks, in the order in which each needs the one before. It opens
# the app once, and only where the platform may be contacted at all.

NAMES = ("adb server", "android device", "app", "app layout", "guest mode")
_DUMPS = 8
_DUMP_EVERY_S = 0.5
_IN_THE_WAY = {
    "login": "the app asks for a login at once: it shows nothing to guests on this device",
    "verification": "the app demands verification: solve nothing here, try another day",
}
_NOT_YET = {
    "loading": ("the app only loads", "look at its network connection, then run the doctor again"),
    "dialog": ("the app shows only a dialog", "close it on the device, then run the doctor again"),
}
"""What an app shows before it shows a guest anything: how it is described, and what to do."""

type _Outcome = tuple[CheckState, str, str | None]
"""State, description, and what to do."""


def device_checks(
    settings: Settings, *, may_open: bool
) -> Sequence[tuple[str, Callable[[], CheckResult]]]:
    """Return the five checks with their names; no check if no device is chosen.

    Args:
        settings: Which device, and whether scans read with it.
        may_open: Whether the app may be opened, which contacts the platform.
    """
    is_needed = PROVIDERS[music_provider_name(settings)].uses_device
    if settings.mobileapp_device is None and not is_needed:
        return []
    checks = _DeviceChecks(settings, may_open=may_open, failure="fail" if is_needed else "warn")
    return [(name, partial(checks.result, name)) for name in NAMES]


class _DeviceChecks:
    """One examination, made by the check that runs first. An error ends it.

    Args:
        settings: The settings to check.
        may_open: Whether the app may be opened.
        failure: State of a check that fails.
    """

    _phone: Phone
    _app: screens.App
    _version: str
    _layout: screens.Layout

    def __init__(self, settings: Settings, *, may_open: bool, failure: CheckState) -> None:
        self._settings = settings
        self._may_open = may_open
        self._failure = failure
        self._lock = threading.Lock()
        self._results: dict[str, CheckResult] = {}

    def result(self, name: str) -> CheckResult:
        """Return the result of one check. Blocking."""
        with self._lock:
            if not self._results:
                asyncio.run(self._examine())
        return self._results[name]

    async def _examine(self) -> None:
        checks = (
            self._check_server,
            self._check_device,
            self._check_app,
            self._check_layout,
            self._check_guest_mode,
        )
        # The first check opens the phone, which stays open for the others.
        async with AsyncExitStack() as stack:
            for name, check in zip(NAMES, checks, strict=True):
                try:
                    self._results[name] = CheckResult(name, *await check(stack))
                except SametrackError as error:
                    self._results[name] = CheckResult(name, self._failure, error.detail, error.hint)
                    break
        for name in NAMES:
            self._results.setdefault(name, CheckResult(name, "warn", "not looked at: see above"))

    async def _check_server(self, stack: AsyncExitStack) -> _Outcome:
        port = self._settings.mobileapp_adb_port
        self._phone = open_phone(self._settings)
        if not is_listening(port):
            hint = advice("no_adb_server", serial=self._phone.serial, port=port)
            raise SametrackError(f"nothing listens on port {port}", hint=hint)
        await stack.enter_async_context(aclosing(self._phone))
        return "ok", f"listens on port {port}", None

    async def _check_device(self, _: AsyncExitStack) -> _Outcome:
        phone = self._phone
        if await phone.state() != "device":
            raise unavailable("offline", phone.serial)
        is_simulated = await phone.is_simulated()
        # The sandbox's app belongs on the simulated device, a real app on a real one.
        app = self._configured_app()
        if app is not None and app.is_simulated != is_simulated:
            raise unavailable("stand_in_device" if is_simulated else "real_device", phone.serial)
        state = "the simulated device" if is_simulated else "online"
        return "ok", f"{phone.serial}: {state}", None

    async def _check_app(self, _: AsyncExitStack) -> _Outcome:
        app = self._configured_app()
        if app is None:
            raise SametrackError(
                "the platform profile names no app",
                hint="choose PROFILE, or lay an app file beside your own (docs/providers.md)",
            )
        # None if the app is not installed, empty if its version cannot be read.
        version = await self._phone.version_of(app.package)
        if version is None:
            hint = "install it on the device, or set MOBILEAPP_PACKAGE to the one that is"
            raise SametrackError(f"{app.package} is not installed", hint=hint)
        if not version:
            raise SametrackError(f"{app.package}: version unknown", hint="install the app again")
        self._app, self._version = app, version
        return "ok", f"{app.package} {version}", None

    async def _check_layout(self, _: AsyncExitStack) -> _Outcome:
        layout = self._app.layout_for(self._version)
        if layout is None:
            raise SametrackError(
                f"the screens of version {self._version} are not known",
                hint="add a layout for it to the app file of the profile (docs/providers.md)",
            )
        # A layout that no device has confirmed is a guess, which the report says.
        self._layout = layout
        if layout.is_verified:
            return "ok", layout.name, None
        hint = "try one track, and correct the selectors in the app file (docs/providers.md)"
        return "warn", f"{layout.name}: no device has shown it yet", hint

    async def _check_guest_mode(self, _: AsyncExitStack) -> _Outcome:
        if not self._may_open:
            return "warn", "not looked at: nothing is to be contacted", "leave out --no-upstream"
        # A scan may hold the phone; then the check does not wait for it.
        async with Claim(self._phone.address, clock=MACHINE_CLOCK, max_wait_s=0).held():
            await self._phone.start(package=self._app.package)
            # Until the app shows a prompt, or a guest's screen.
            kind = "loading"
            for _attempt in range(_DUMPS):
                try:
                    kind = screens.kind_of(
                        screens.parse_tree(await self._phone.dump()), self._layout
                    )
                except (NotIdleError, screens.TreeError):
                    kind = "other"  # something plays, which is no prompt
                if kind not in _NOT_YET:
                    break
                await MACHINE_CLOCK.sleep(_DUMP_EVERY_S)
        if kind in _IN_THE_WAY:
            raise SametrackError(f"the app shows a {kind} prompt", hint=_IN_THE_WAY[kind])
        if kind in _NOT_YET:
            return "warn", *_NOT_YET[kind]
        return "ok", "the app starts, and asks a guest for nothing", None

    def _configured_app(self) -> screens.App | None:
        app = screens.load_app(self._settings.profile)
        return None if app is None else app.with_package(self._settings.mobileapp_package)


# Checks of the stores of the configured world: each returns a description, and the opened store.
#
# A store that cannot be opened is an error, which the report shows.


def check_home(settings: Settings, world: str) -> tuple[str, Home]:
    """Open the home of a world, and check that it belongs to it."""
    return f"belongs to the world {world}", open_home(settings.data_home, world)


def check_control(settings: Settings, home: Home, stack: ExitStack) -> tuple[str, ControlStore]:
    """Check that the control store opens, belongs to this world and has a known schema."""
    control = stack.enter_context(open_control_of(settings, home))
    return f"opens; schema version {control.schema_version()}", control


def check_warehouse(settings: Settings, home: Home, stack: ExitStack) -> tuple[str, Engine]:
    """Check that the warehouse opens, belongs to this world, and stores and returns a row."""
    engine = stack.enter_context(open_engine_of(settings, home))
    # A disk may take a row and not return it.
    report_id = write_test_row(engine.lake)
    engine.refresh()
    engine.list_all()
    if not has_report(engine, report_id):
        raise WarehouseUnavailableError(
            "a written row is not read back",
            hint="check the disk, and which other programs write to this lake",
        )
    return f"{len(engine.lake.tables)} tables can be read and written", engine
