"""Input for a track: an id, a link, or text around a link. Checks the form only.

No network and no platform address is known here: the link parser is a parameter. Links without an
id (short links) are resolved by the worker.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from warehouse.records.errors import InvalidMusicInputError
from warehouse.records.values import is_platform_id

MAX_INPUT_LENGTH = 2048
_DIGITS = re.compile(r"[0-9]+")
_HANDLE = re.compile(r"@?[A-Za-z0-9_.-]{2,64}")
ACCEPTED_INPUT_HINT = (
    "Give a music id (5 to 30 digits), a share link of the track, or a link of a video that uses it"
)
_KINDS = {
    "user": "an account",
    "hashtag": "a hashtag",
    "mix": "a collection",
    "trends": "a trending topic",
    "article": "an article",
    "live": "a live room",
    "search": "a page of search results",
    "chart": "a music chart",
    "service_track": "a song of the music service",
    "service_playlist": "a playlist of the music service",
    "service_album": "an album of the music service",
    "service_artist": "an artist of the music service",
    "service_video": "a user's video in the music service",
}
SONG_LIST_KINDS = frozenset({"service_playlist", "service_album", "service_artist"})
"""Kinds of links that name several songs: a batch takes them apart, nothing else does."""
_SONG_LIST_HINT = (
    "Give the address of its page to fetch_music_hot_videos_batch (`sametrack music batch`), which "
    "starts one scan per song, or give the link of one song"
)
_HINTS = dict.fromkeys(SONG_LIST_KINDS, _SONG_LIST_HINT)


def hint_for_target(kind: str, default: str = ACCEPTED_INPUT_HINT) -> str:
    """Return what to do with a link whose target is no track."""
    return _HINTS.get(kind, default)


def describe_target(kind: str) -> str:
    """Return the words for the kind of a link's target, for refusals."""
    return _KINDS.get(kind, f"a {kind}")


class InputTarget(Protocol):
    """Target of a link."""

    @property
    def kind(self) -> str:
        """Kind of the target, as in `LinkTarget`."""

    @property
    def id(self) -> str:
        """Id in the link; empty for a short link."""

    @property
    def url(self) -> str | None:
        """The link itself, if it is a short link."""


type MusicInputKind = Literal["music", "video", "short", "service_track", "trends"]
_LED_FROM: tuple[MusicInputKind, ...] = ("service_track", "trends", "video")
"""Kinds of links that name no track by its id, and lead to one."""


@dataclass(frozen=True, slots=True)
class MusicInput:
    """A valid input. `value` is the URL for a short link, else the id."""

    kind: MusicInputKind
    value: str


def read_handle(text: str) -> str | None:
    """Return the handle of an account, `@name` in lower case; None if the text is no handle.

    The `@` may be left out, unless the name is a number, which is an id. Nothing may stand around
    the handle: share texts mention other accounts.
    """
    text = text.strip()
    if _HANDLE.fullmatch(text) is None or _DIGITS.fullmatch(text):
        return None
    return f"@{text.removeprefix('@').lower()}"


def read_music_input(text: str, *, find_target: Callable[[str], InputTarget | None]) -> MusicInput:
    """Parse the input by its form alone.

    Args:
        text: Input of the caller.
        find_target: Finds the first link of the active profile's hosts, or returns None.

    Raises:
        InvalidMusicInputError: The text contains nothing that leads to a track.
    """
    text = check_music_form(text)
    if _DIGITS.fullmatch(text):
        return _music_id(text)
    target = find_target(text)
    if target is None:
        raise InvalidMusicInputError(_refusal(text), hint=ACCEPTED_INPUT_HINT)
    return _from_target(target)


def check_music_form(text: str) -> str:
    """Return an input without the blanks around it, unless its form alone shows that it is none.

    That needs no profile, whose hosts decide which links lead to a track.

    Raises:
        InvalidMusicInputError: It is empty or too long, or a number that is no id.
    """
    text = text.strip()
    if not text or len(text) > MAX_INPUT_LENGTH:
        raise InvalidMusicInputError(
            f"The input has {len(text)} characters; 1 to {MAX_INPUT_LENGTH} are read",
            hint=ACCEPTED_INPUT_HINT,
        )
    if _DIGITS.fullmatch(text):
        _music_id(text)
    return text


def _music_id(digits: str) -> MusicInput:
    if is_platform_id(digits):
        return MusicInput("music", digits)
    raise InvalidMusicInputError(
        f"A music id has 5 to 30 digits, this one has {len(digits)}",
        hint=ACCEPTED_INPUT_HINT,
    )


def _from_target(target: InputTarget) -> MusicInput:
    if target.kind == "short" and target.url:
        return MusicInput("short", target.url)
    if target.kind == "music":
        return _music_id(target.id)
    for kind in _LED_FROM:
        if target.kind == kind and is_platform_id(target.id):
            return MusicInput(kind, target.id)
    what = _KINDS.get(target.kind, "something else")
    raise InvalidMusicInputError(
        f"The link leads to {what}, not to a track or a video",
        hint=hint_for_target(target.kind),
    )


def _refusal(text: str) -> str:
    if "://" in text or text.startswith("www."):
        return "The link is not one of the platform's, or names no track or video"
    return "The text holds neither an id nor a link of the platform"
