"""A phone that shows screens in the order of a script, and an app reader with it."""

import os
from collections.abc import Callable, Sequence
from typing import Any

from pipelines.platform.mobileapp.phone import Claim
from pipelines.platform.mobileapp.reader import AppReader
from pipelines.platform.mobileapp.screens import App, load_app
from sandbox.server.device import screens
from sandbox.server.device.screens import View, to_dump
from tests.fake_clock import FakeClock
from tests.platform.lenient_hosts import NoRateLimit

PACKAGE = "localhost.vidplat.app"
TRACK = "7361234567890123456"
type State = str | Exception


class ScriptedPhone:
    """Shows one screen of its script per look, the last one for ever; errors in it are raised.

    Its states are told in the same way. `done` is what was done with it.
    """

    serial = "phone-1"
    address = f"phone-1-{os.getpid()}@1"

    def __init__(
        self,
        *shown: str | Exception,
        states: Sequence[State] = ("device",),
        version: str | None = "31.2.0",
        is_simulated: bool = True,
    ) -> None:
        self.done: list[str] = []
        self._shown = list(shown)
        self._states = list(states)
        self._version = version
        self._is_simulated = is_simulated

    async def state(self) -> str:
        return _next(self._states)

    async def is_simulated(self) -> bool:
        return self._is_simulated

    async def version_of(self, package: str) -> str | None:
        return self._version

    async def start(self, *, package: str) -> None:
        self.done.append("start")

    async def open(self, link: str, *, package: str) -> None:
        self.done.append("open")

    async def tap(self, x: int, y: int) -> None:
        self.done.append(f"tap {x} {y}")

    async def swipe_up(self) -> None:
        self.done.append("swipe")

    async def back(self) -> None:
        self.done.append("back")

    async def pause(self) -> None:
        self.done.append("pause")

    async def dump(self) -> str:
        return _next(self._shown)

    async def aclose(self) -> None:
        self.done.append("hang up")


def _next(script: list[str | Exception]) -> str:
    step = script.pop(0) if len(script) > 1 else script[0]
    if isinstance(step, Exception):
        raise step
    return step


def sandbox_app(**values: Any) -> App:
    """The app of the sandbox with something else about its layout."""
    app = load_app("sandbox")
    assert app is not None
    return app.model_copy(update={"layouts": (app.layouts[0].model_copy(update=values),)})


def dump(views: list[View]) -> str:
    return to_dump(views, package=PACKAGE)


def track_screen(likes: Sequence[int] = (5,)) -> str:
    return dump(screens.track("A song", "Somebody", list(likes), uses=len(likes)))


def video_id(number: int) -> str:
    return str(7_568_123_456_789_012_000 + number)


def work_screen(number: int, *, is_last_again: bool = False) -> str:
    """A video whose caption and counts tell it from others."""
    counts = (number, 2, 3, 4)
    return dump(screens.work("somebody", f"caption {number}", counts, is_last_again=is_last_again))


def share_screen(number: int, link: str = "") -> str:
    return dump(screens.share("somebody", f"caption {number}", link))


def visit(number: int, link: str = "") -> tuple[str, str, str]:
    """What shows while one video is read: itself, its share panel, itself again."""
    return work_screen(number), share_screen(number, link), work_screen(number)


async def identify(text: str) -> str | None:
    """The id in a shared text."""
    return next((word for word in text.split() if word.startswith("7568123")), None)


def reader_of(
    phone: ScriptedPhone,
    clock: FakeClock,
    *,
    app: App | None = None,
    link_of: Callable[[str], str] = str,
) -> AppReader:
    app = app or sandbox_app()
    return AppReader(
        phone,
        app,
        limiter=NoRateLimit(),
        claim=Claim(phone.address, clock=clock),
        clock=clock,
        link_of=link_of,
        identify=identify,
    )
