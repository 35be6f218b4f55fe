"""Looks at the Android device of `mobileapp-guest`: server, device, app, its layout, guest mode.

One examination serves all five lines, in the order in which each needs the one before. It opens the
app once, and only where the platform may be contacted at all.
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
"""What an app shows before it shows a guest anything: what is said of it, and what to do."""

type _Finding = tuple[CheckState, str, str | None]
"""State, what was found, and what to do."""


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


class _Looks:
    """One examination, made by whichever look comes first. An error ends it."""

    _phone: Phone
    _app: App
    _version: str
    _layout: Layout

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
        looks = (self._look_at_server, self._look_at_device, self._look_at_app,
                 self._look_at_layout, self._look_at_guest_mode)  # fmt: skip
        async with AsyncExitStack() as stack:
            for name, look in zip(NAMES, looks, strict=True):
                try:
                    self._found[name] = CheckResult(name, *await look(stack))
                except SametrackError as error:
                    self._found[name] = CheckResult(name, self._bad, error.detail, error.hint)
                    break
        for name in NAMES:
            self._found.setdefault(name, CheckResult(name, "warn", "not looked at: see above"))

    async def _look_at_server(self, stack: AsyncExitStack) -> _Finding:
        port = self._settings.mobileapp_adb_port
        self._phone = open_phone(self._settings)
        if not is_listening(port):
            hint = advice("no_adb_server", serial=self._phone.serial, port=port)
            raise SametrackError(f"nothing listens on port {port}", hint=hint)
        await stack.enter_async_context(aclosing(self._phone))
        return "ok", f"listens on port {port}", None

    async def _look_at_device(self, _: AsyncExitStack) -> _Finding:
        phone = self._phone
        if await phone.state() != "device":
            raise unavailable("offline", phone.serial)
        is_simulated = await phone.is_simulated()
        app = self._known_app()
        if app is not None and app.is_simulated != is_simulated:
            raise unavailable("stand_in_device" if is_simulated else "real_device", phone.serial)
        what = "the simulated device" if is_simulated else "online"
        return "ok", f"{phone.serial}: {what}", None

    async def _look_at_app(self, _: AsyncExitStack) -> _Finding:
        app = self._known_app()
        if app is None:
            raise SametrackError(
                "the platform profile names no app",
                hint="choose PROFILE, or lay an app file beside your own (docs/providers.md)",
            )
        version = await self._phone.version_of(app.package)
        if version is None:
            hint = "install it on the device, or set MOBILEAPP_PACKAGE to the one that is"
            raise SametrackError(f"{app.package} is not installed", hint=hint)
        if not version:
            raise SametrackError(f"{app.package}: version unknown", hint="install the app again")
        self._app, self._version = app, version
        return "ok", f"{app.package} {version}", None

    async def _look_at_layout(self, _: AsyncExitStack) -> _Finding:
        layout = self._app.layout_for(self._version)
        if layout is None:
            raise SametrackError(
                f"the screens of version {self._version} are not known",
                hint="add a layout for it to the app file of the profile (docs/providers.md)",
            )
        self._layout = layout
        if layout.is_verified:
            return "ok", layout.name, None
        hint = "try one track, and correct the selectors in the app file (docs/providers.md)"
        return "warn", f"{layout.name}: no device has shown it yet", hint

    async def _look_at_guest_mode(self, _: AsyncExitStack) -> _Finding:
        if not self._may_open:
            return "warn", "not looked at: nothing is to be contacted", "leave out --no-upstream"
        async with Claim(self._phone.address, clock=MACHINE_CLOCK, max_wait_s=0).held():
            await self._phone.start(package=self._app.package)
            kind = await _shown(self._phone, self._layout)
        if kind in _IN_THE_WAY:
            raise SametrackError(f"the app shows a {kind} prompt", hint=_IN_THE_WAY[kind])
        if kind in _NOT_YET:
            return "warn", *_NOT_YET[kind]
        return "ok", "the app starts, and asks a guest for nothing", None

    def _known_app(self) -> App | None:
        app = load_app(self._settings.profile)
        return None if app is None else app.with_package(self._settings.mobileapp_package)


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
