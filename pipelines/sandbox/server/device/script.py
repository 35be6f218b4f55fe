"""Script of the simulated device: faults to inject, and a log of actions. No screen logic."""

from dataclasses import asdict, dataclass, field, fields
from typing import Literal

Prompt = Literal["login", "verification", "dialog"]


@dataclass(slots=True, kw_only=True)
class Script:
    """What goes wrong, set through the world's own door.

    Attributes:
        state: What the adb server says of the device.
        is_installed: Whether the app is there.
        version: Which version of it.
        prompt: What stands in the way, from the video `prompt_after` on; a dialog goes by a tap.
        prompt_after: How many videos of a track are shown before it.
        shows: How many videos of a track the app shows; None for all that are public.
        loading: How many dumps after each step show a screen that still loads.
        lose_after: After so many swipes the device is lost in the middle of one; 0 for never.
        lose_in: Whether it is lost in the swipe, or while the next tree is sent.
        away: To so many requests it then is not there, before it is back.
        delay_s: How long every command takes.
        is_silent: Commands are taken, and never answered.
    """

    state: Literal["device", "offline", "unauthorized", "absent"] = "device"
    is_installed: bool = True
    version: str = "31.2.0"
    prompt: Prompt | None = None
    prompt_after: int = 0
    shows: int | None = None
    loading: int = 0
    lose_after: int = 0
    lose_in: Literal["swipe", "dump"] = "swipe"
    away: int = 0
    delay_s: float = 0.0
    is_silent: bool = False

    def change(self, **values: object) -> None:
        """Set what is given, and leave the rest.

        Raises:
            ValueError: There is no such thing to set.
        """
        known = {item.name for item in fields(self)}
        for name, value in values.items():
            if name not in known:
                raise ValueError(f"nothing is called {name!r}; there are {', '.join(known)}")
            setattr(self, name, value)

    def clear(self) -> None:
        """Nothing goes wrong any more."""
        self.change(**asdict(Script()))


@dataclass(slots=True)
class Log:
    """What was done with the device."""

    commands: int = 0
    dumps: int = 0
    taps: int = 0
    swipes: int = 0
    losses: int = 0
    opened: list[str] = field(default_factory=list)
    works: list[str] = field(default_factory=list)

    def clear(self) -> None:
        """Nothing has happened yet."""
        for item in fields(self):
            setattr(self, item.name, getattr(Log(), item.name))

    def to_document(self) -> dict[str, object]:
        """As JSON."""
        return asdict(self)
