"""The scripted app: which screen shows, and what a link, a tap, a swipe and "back" lead to.

With it the script of the device, which says what goes wrong on it, and a log of what was done.
"""

import re
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Literal

from sandbox.server.device import screens
from sandbox.server.device.screens import View, tapped
from sandbox.server.platform import SandboxPlatform

PACKAGE = "localhost.vidplat.app"
_LINK = re.compile(r"https?://[^/]+(?:/share)?/(?P<kind>music|video|note)/(?P<id>[0-9]{5,30})/?")

Name = Literal["home", "missing", "track", "work", "share", "account"]
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

    def to_document(self) -> dict[str, object]:
        """As JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class At:
    """A screen: of a track, or at one of the videos of a feed. A video plays until it is tapped."""

    name: Name = "home"
    music_id: str = ""
    works: tuple[str, ...] = ()
    index: int = 0
    is_playing: bool = False
    is_last_again: bool = False


class ScriptedApp:
    """The app of the simulated device."""

    def __init__(self, platform: SandboxPlatform, script: Script, log: Log) -> None:
        self._platform = platform
        self._script = script
        self._log = log
        self._screens: list[At] = [At()]
        self._loading = 0
        self._is_dialog_closed = False

    def start(self) -> None:
        """From the beginning."""
        self._screens = [At()]
        self._loading = self._script.loading

    def open(self, link: str) -> None:
        """Open a public link."""
        self._log.opened.append(link)
        self.start()
        found = _LINK.match(link)
        if found is None:
            return
        if found["kind"] == "music":
            self._screens.append(self._track(found["id"]))
        elif self._platform.world.video_of_id(found["id"]) is None:
            self._screens.append(At(name="missing"))
        else:
            self._show(At(name="work", works=(found["id"],), is_playing=True))

    def tap(self, x: int, y: int) -> None:
        """Do what the view under a point does."""
        action, _, value = tapped(self.views(), x, y).partition(":")
        if self._prompt() is not None:
            self._is_dialog_closed = action == "close_dialog"
            return
        at = self._screens[-1]
        if action == "pause":
            self._screens[-1] = replace(at, is_playing=not at.is_playing)
        elif action == "work":
            self._show(replace(at, name="work", index=int(value), is_playing=True))
        elif action == "share":
            self._screens.append(replace(at, name="share"))
        elif action == "author":
            self._screens.append(replace(at, name="account"))

    def swipe_up(self) -> None:
        """The next video of a feed; the last one stays."""
        at = self._screens[-1]
        if at.name != "work" or self._prompt() is not None:
            return
        self._screens.pop()
        if at.index + 1 < len(at.works):
            self._show(replace(at, index=at.index + 1, is_playing=True))
        else:
            self._screens.append(replace(at, is_last_again=True))

    def back(self) -> None:
        """The screen before."""
        if len(self._screens) > 1:
            self._screens.pop()

    @property
    def is_idle(self) -> bool:
        """False while a video plays: then there is no tree."""
        return self._prompt() is not None or not self._screens[-1].is_playing

    def look(self) -> list[View]:
        """What shows; a screen that loads comes nearer with every look."""
        if self._loading > 0:
            self._loading -= 1
            return screens.loading()
        return self.views()

    def views(self) -> list[View]:
        """What shows once it is loaded."""
        prompt = self._prompt()
        if prompt is not None:
            return screens.prompt(prompt)
        at = self._screens[-1]
        if at.name == "track":
            return self._track_views(at)
        if at.name in {"work", "share", "account"}:
            return self._work_views(at)
        return screens.missing() if at.name == "missing" else screens.home()

    def _show(self, at: At) -> None:
        self._log.works.append(at.works[at.index])
        self._loading = self._script.loading
        self._screens.append(at)

    def _prompt(self) -> str | None:
        """What stands in the way at this place, if anything does."""
        prompt, at = self._script.prompt, self._screens[-1]
        if prompt is None or at.name == "missing":
            return None
        if prompt == "dialog" and self._is_dialog_closed:
            return None
        is_due = at.name not in {"home", "track"} and at.index >= self._script.prompt_after
        return prompt if is_due or self._script.prompt_after == 0 else None

    def _track(self, music_id: str) -> At:
        world = self._platform.world
        sound = world.sound_of(music_id)
        if sound is None:
            return At(name="missing")
        rows = [world.works.row(row) for row in world.music_list(sound.index).tolist()]
        public = [work.aweme_id for work in rows if work.is_public]
        return At(name="track", music_id=music_id, works=tuple(public[: self._script.shows]))

    def _track_views(self, at: At) -> list[View]:
        world = self._platform.world
        sound = world.sound_of(at.music_id)
        assert sound is not None, "only a track that is there has a page"
        likes = [
            work.digg_count for name in at.works if (work := world.video_of_id(name)) is not None
        ]
        return screens.track(
            world.sound_title(sound),
            world.sound_author(sound),
            likes,
            uses=int(world.videos_by_sound(sound.index).size),
        )

    def _work_views(self, at: At) -> list[View]:
        world = self._platform.world
        work = world.video_of_id(at.works[at.index])
        if work is None:
            return screens.missing()
        author, caption = world.account(work.account), world.caption(work)
        if at.name == "share":
            link = self._platform.addresses.short_link("video", int(work.aweme_id))
            return screens.share(author.nickname, caption, link)
        if at.name == "account":
            return screens.account(author.nickname, author.unique_id)
        return screens.work(
            author.nickname, caption, work.counts.values(), is_last_again=at.is_last_again
        )
