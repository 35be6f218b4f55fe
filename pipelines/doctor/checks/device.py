"""Checks of the Android device of `mobileapp-guest`: server, device, app, its layout, guest mode.

One examination serves all five checks, in the order in which each needs the one before. It opens
the app once, and only where the platform may be contacted at all.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from functools import partial

from pipelines.clock import MACHINE_CLOCK
from pipelines.doctor.check_results import CheckResult, CheckState
from pipelines.doctor.checks.machine import is_listening
from pipelines.platform.mobileapp.layouts import App, Layout, load_app
from pipelines.platform.mobileapp.phone import Claim, NotIdleError, Phone, advice, unavailable
from pipelines.platform.mobileapp.screens import TreeError, kind_of, parse_tree
from pipelines.platform.providers import music_provider_name, uses_device
from pipelines.platform.providers.mobileapp_guest import open_phone
from pipelines.settings import Settings
from warehouse.records.errors import SametrackError

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
    is_needed = uses_device(music_provider_name(settings))
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
    _app: App
    _version: str
    _layout: Layout

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
                    kind = kind_of(parse_tree(await self._phone.dump()), self._layout)
                except (NotIdleError, TreeError):
                    kind = "other"  # something plays, which is no prompt
                if kind not in _NOT_YET:
                    break
                await MACHINE_CLOCK.sleep(_DUMP_EVERY_S)
        if kind in _IN_THE_WAY:
            raise SametrackError(f"the app shows a {kind} prompt", hint=_IN_THE_WAY[kind])
        if kind in _NOT_YET:
            return "warn", *_NOT_YET[kind]
        return "ok", "the app starts, and asks a guest for nothing", None

    def _configured_app(self) -> App | None:
        app = load_app(self._settings.profile)
        return None if app is None else app.with_package(self._settings.mobileapp_package)
