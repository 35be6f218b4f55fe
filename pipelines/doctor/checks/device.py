"""Looks at the Android device of `mobileapp-guest`: server, device, app, its layout, guest mode.

One examination serves all five lines, in the order in which each needs the one before. It opens the
app once, and only where the platform may be contacted at all.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import Never

from pipelines.clock import MACHINE_CLOCK
from pipelines.doctor.check_results import CheckResult, CheckState
from pipelines.doctor.checks.machine import is_listening
from pipelines.platform.mobileapp.layouts import App, Layout, load_app
from pipelines.platform.mobileapp.phone import Claim, NotIdleError, Phone, advice, unavailable
from pipelines.platform.mobileapp.screens import TreeError, kind_of, parse_tree
from pipelines.platform.providers import music_provider_name, uses_device
from pipelines.platform.providers.mobileapp_guest import open_phone
from pipelines.settings import Settings
from warehouse.records.errors import DeviceUnavailableError, SametrackError

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
"""What an app shows before it shows a guest anything: what is said of it, and what to do."""


def device_checks(
    settings: Settings, *, may_open: bool
) -> Sequence[tuple[str, Callable[[], CheckResult]]]:
    """The five looks; none where no device is chosen.

    Args:
        settings: Which device, and whether scans read with it.
        may_open: Whether the app may be opened, which asks the platform.
    """
    is_needed = uses_device(music_provider_name(settings))
    if settings.mobileapp_device is None and not is_needed:
        return []
    looks = _Looks(settings, may_open=may_open, bad="fail" if is_needed else "warn")
    return [(name, partial(looks.of, name)) for name in NAMES]


class _StopError(Exception):
    """What was found makes the looks after it pointless."""


class _Looks:
    """One examination, made by whichever look comes first."""

    def __init__(self, settings: Settings, *, may_open: bool, bad: CheckState) -> None:
        self._settings = settings
        self._may_open = may_open
        self._bad = bad
        self._lock = threading.Lock()
        self._found: dict[str, CheckResult] = {}

    def of(self, name: str) -> CheckResult:
        """What was found of one thing. Blocking."""
        with self._lock:
            if not self._found:
                asyncio.run(self._examine())
        return self._found[name]

    async def _examine(self) -> None:
        try:
            phone = self._phone()
            async with aclosing(phone):
                await self._device(phone)
                app, version = await self._app(phone)
                layout = self._layout(app, version)
                await self._guest_mode(phone, app, layout)
        except _StopError:
            pass
        except DeviceUnavailableError as error:
            self._bad_one(_next(self._found), error.detail, error.hint)
        for name in NAMES:
            self._found.setdefault(name, CheckResult(name, "warn", "not looked at: see above"))

    def _phone(self) -> Phone:
        port = self._settings.mobileapp_adb_port
        try:
            phone = open_phone(self._settings)
        except SametrackError as error:
            self._stop(NAMES[0], error.detail, error.hint)
        if not is_listening(port):
            self._stop(
                NAMES[0],
                f"nothing listens on port {port}",
                advice("no_adb_server", serial=phone.serial, port=port),
            )
        self._good(NAMES[0], f"listens on port {port}")
        return phone

    async def _device(self, phone: Phone) -> None:
        if await phone.state() != "device":
            raise unavailable("offline", phone.serial)
        is_simulated = await phone.is_simulated()
        app = self._known_app()
        if app is not None and app.is_simulated != is_simulated:
            raise unavailable("stand_in_device" if is_simulated else "real_device", phone.serial)
        what = "the simulated device" if is_simulated else "online"
        self._good(NAMES[1], f"{phone.serial}: {what}")

    async def _app(self, phone: Phone) -> tuple[App, str]:
        app = self._known_app()
        if app is None:
            self._stop(
                NAMES[2],
                "the platform profile names no app",
                "choose PROFILE, or lay an app file beside your own (docs/providers.md)",
            )
        version = await phone.version_of(app.package)
        if version is None:
            hint = "install it on the device, or set MOBILEAPP_PACKAGE to the one that is"
            self._stop(NAMES[2], f"{app.package} is not installed", hint)
        if not version:
            self._stop(NAMES[2], f"{app.package}: version unknown", "install the app again")
        self._good(NAMES[2], f"{app.package} {version}")
        return app, version

    def _layout(self, app: App, version: str) -> Layout:
        layout = app.layout_for(version)
        if layout is None:
            self._stop(
                NAMES[3],
                f"the screens of version {version} are not known",
                "add a layout for it to the app file of the profile (docs/providers.md)",
            )
        if layout.is_verified:
            self._good(NAMES[3], layout.name)
        else:
            says = f"{layout.name}: no device has shown it yet"
            hint = "try one track, and correct the selectors in the app file (docs/providers.md)"
            self._found[NAMES[3]] = CheckResult(NAMES[3], "warn", says, hint)
        return layout

    async def _guest_mode(self, phone: Phone, app: App, layout: Layout) -> None:
        if not self._may_open:
            says = "not looked at: nothing is to be contacted"
            self._found[NAMES[4]] = CheckResult(NAMES[4], "warn", says, "leave out --no-upstream")
            return
        async with Claim(phone.address, clock=MACHINE_CLOCK, max_wait_s=0).held():
            await phone.start(package=app.package)
            kind = await _shown(phone, layout)
        if kind in _IN_THE_WAY:
            self._stop(NAMES[4], f"the app shows a {kind} prompt", _IN_THE_WAY[kind])
        if kind in _NOT_YET:
            says, hint = _NOT_YET[kind]
            self._found[NAMES[4]] = CheckResult(NAMES[4], "warn", says, hint)
            return
        self._good(NAMES[4], "the app starts, and asks a guest for nothing")

    def _known_app(self) -> App | None:
        app = load_app(self._settings.profile)
        return None if app is None else app.with_package(self._settings.mobileapp_package)

    def _good(self, name: str, says: str) -> None:
        self._found[name] = CheckResult(name, "ok", says)

    def _bad_one(self, name: str, says: str, hint: str | None) -> None:
        self._found[name] = CheckResult(name, self._bad, says, hint)

    def _stop(self, name: str, says: str, hint: str | None) -> Never:
        self._bad_one(name, says, hint)
        raise _StopError


def _next(found: dict[str, CheckResult]) -> str:
    return next((name for name in NAMES if name not in found), NAMES[-1])


async def _shown(phone: Phone, layout: Layout) -> str:
    """Which screen the app comes to show: what stands in the way, or none of that."""
    kind = "loading"
    for _ in range(_DUMPS):
        try:
            kind = kind_of(parse_tree(await phone.dump()), layout)
        except (NotIdleError, TreeError):
            kind = "other"  # something plays, which is no prompt
        if kind not in _NOT_YET:
            break
        await MACHINE_CLOCK.sleep(_DUMP_EVERY_S)
    return kind
