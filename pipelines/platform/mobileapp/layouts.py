"""Screen layouts of app versions, as data: TOML files beside the platform profiles.

Brand words of the app are in those files and nowhere else. A selector names a node of the
accessibility tree; `screens.py` finds it.
"""

import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from re import Pattern
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, ValidationError

from pipelines.platform import profiles
from pipelines.platform.profiles import KNOWN_PROFILES, HostRate, ProfilePart
from pipelines.platform.profiles.patches import first_fault
from warehouse.records.errors import InvalidParameterError

_FOLDER = Path(profiles.__file__).parent
_SUFFIX = ".app.toml"


class Selector(ProfilePart):
    """Selects a node by its attributes. All fields that are set must match, patterns as a whole.

    `id` is the resource id without its package. The value of a node is the group `value` of the
    pattern that has such a group; else its text, or its description if the text is empty.
    """

    id: str | None = None
    kind: str | None = None
    text: Pattern[str] | None = None
    desc: Pattern[str] | None = None


class TrackLayout(ProfilePart):
    """The page of a track: `first` opens the first of its videos."""

    sign: Selector
    title: Selector
    author: Selector
    first: Selector


class VideoLayout(ProfilePart):
    """One video of a feed. `is_paused_by_tap`: while it plays, the tree cannot be read."""

    sign: Selector
    author: Selector
    caption: Selector
    digg: Selector
    comment: Selector
    collect: Selector
    share: Selector
    is_paused_by_tap: bool = False


class ShareLayout(ProfilePart):
    """The panel behind the share button: a text with the public link of the video."""

    sign: Selector
    link: Selector


class AccountLayout(ProfilePart):
    """The page of an account, opened from the author of a video: its public handle."""

    sign: Selector
    handle: Selector


class Prompts(ProfilePart):
    """Prompts over a screen. A demand ends the reading; a dialog is closed by its selector."""

    login: tuple[Selector, ...]
    verification: tuple[Selector, ...]
    dialog: tuple[Selector, ...] = ()
    loading: tuple[Selector, ...] = ()
    end: tuple[Selector, ...] = ()


class Layout(ProfilePart):
    """The screens of some versions of the app.

    Attributes:
        name: Name of the layout; archived bodies refer to it.
        versions: Versions of the app that it fits, with `*` for any text, such as `31.*`.
        is_verified: False until a device has shown it.
        source: Origin of the layout.
    """

    name: str
    versions: tuple[str, ...]
    is_verified: bool
    source: str
    track: TrackLayout
    work: VideoLayout
    share: ShareLayout
    account: AccountLayout | None = None
    prompts: Prompts


class App(ProfilePart):
    """The app of a platform.

    `link` and `work_link` name the public links that open a track and a video in the app.
    `max_wait_s`: how long a screen may take to show.
    """

    package: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.]{3,128}$")]
    is_simulated: bool = False
    link: Literal["music_page", "public_music"] = "music_page"
    work_link: Literal["video_page", "public_video"] = "video_page"
    max_wait_s: float = Field(20.0, gt=0)
    rate: HostRate
    layouts: tuple[Layout, ...]

    def layout_for(self, version: str) -> Layout | None:
        """Return the first layout that fits a version; None if no layout fits."""
        for layout in self.layouts:
            if any(fnmatchcase(version, pattern) for pattern in layout.versions):
                return layout
        return None

    def layout_named(self, name: str) -> Layout | None:
        """Return the layout with a name; None if there is no such layout."""
        return next((layout for layout in self.layouts if layout.name == name), None)

    def with_package(self, package: str | None) -> Self:
        """Return the same app with another package name; None keeps its own."""
        return self if package is None else self.model_copy(update={"package": package})


def load_app(profile: str | Path | None) -> App | None:
    """Return the app of a platform profile, by its name or file; None if it has no app.

    Raises:
        InvalidParameterError: Its file does not hold an app.
    """
    if profile is None:
        return None
    if profile in KNOWN_PROFILES:
        path = _FOLDER / f"{profile}{_SUFFIX}"
    else:  # an operator's own profile has its app file beside it
        path = Path(profile).with_name(f"{Path(profile).stem}{_SUFFIX}")
    if not path.is_file():
        return None
    try:
        return App.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise InvalidParameterError(
            f"the app file {path.name!r} cannot be read: {type(exc).__name__}"
        ) from exc
    except ValidationError as exc:
        raise InvalidParameterError(
            f"the app file {path.name!r} is not valid at {first_fault(exc)}"
        ) from exc
