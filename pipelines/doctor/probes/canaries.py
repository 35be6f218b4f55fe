"""Ids to probe with: visible to guests, from the settings, the warehouse or the sandbox.

Ids are never invented: if none is known, the surface is not probed and the report says which
setting to set. Successful probes add ids: a list names videos, a video names its account.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx2

from pipelines.captures.inputs import read_handle
from pipelines.settings import Settings
from warehouse.records.search import SearchPage
from warehouse.records.videos import Account, Track, Video, VideoPage

CanaryKind = Literal[
    "music_id", "aweme_id", "sec_uid", "handle", "ch_id", "link", "term", "rank_id", "sound", "song"
]
_WORLD_NAMES: Mapping[CanaryKind, str] = {
    "music_id": "music_id",
    "aweme_id": "aweme_id",
    "link": "short_link",
    "term": "title",
    "sec_uid": "sec_uid",
    "ch_id": "ch_id",
}
"""The ids that settings and stores may know, with their names in the sandbox."""
KEPT = 4
"""Ids kept per kind: one deleted canary must not fail its surface."""
_WORLD_S = 10.0


@dataclass(frozen=True, slots=True)
class ExampleTrack:
    """A link or an id to begin with, and the title of its track; None if unknown."""

    input: str | None
    title: str | None


@dataclass(slots=True)
class Canaries:
    """Known ids by kind, best first. The `sound` of a video is a URL that expires.

    `sound_pages` is the page or document that named each such URL.
    """

    sound_pages: dict[str, str] = field(default_factory=dict)
    _ids: dict[CanaryKind, list[str]] = field(default_factory=dict)

    def offer(self, kind: CanaryKind, value: str | None) -> None:
        """Append an id."""
        ids = self._ids.setdefault(kind, [])
        if value and value not in ids and len(ids) < KEPT:
            ids.append(value)

    def of(self, kind: CanaryKind) -> tuple[str, ...]:
        """Return the ids of a kind; empty if none is known."""
        return tuple(self._ids.get(kind, ()))

    def learn(self, value: object) -> None:
        """Collect the ids in a probe's result."""
        if isinstance(value, Track):
            self.offer("term", value.title)
            self.offer("song", value.service_track_id)
        elif isinstance(value, Account):
            self._learn_handle(value.unique_id)
        elif isinstance(value, VideoPage | SearchPage):
            for video in value.videos:
                self._learn_video(video)
        elif isinstance(value, Video):
            self._learn_video(value)
            sound = value.sound
            # The silent file of photo posts is no sound to probe.
            if sound is not None and sound.urls and not sound.is_silent_placeholder:
                self.offer("sound", sound.urls[0])
            if sound is not None and sound.read_from is not None:
                self.sound_pages.update(dict.fromkeys(sound.urls, sound.read_from))

    def _learn_video(self, video: Video) -> None:
        self.offer("aweme_id", video.aweme_id)
        if video.author is not None:
            self.offer("sec_uid", video.author.sec_uid)
            self._learn_handle(video.author.unique_id)
        if video.music is not None:
            self.offer("music_id", video.music.music_id)
            self.offer("song", video.music.service_track_id)
        for hashtag in video.hashtags or ():
            self.offer("ch_id", hashtag.ch_id)

    def _learn_handle(self, unique_id: str | None) -> None:
        self.offer("handle", read_handle(f"@{unique_id}"))


def add_configured_ids(canaries: Canaries, settings: Settings) -> None:
    """Add the ids from the settings."""
    for kind in _WORLD_NAMES:
        canaries.offer(kind, getattr(settings, f"canary_{kind}"))


def add_observed_ids(canaries: Canaries, known: Mapping[str, str | None]) -> None:
    """Add ids that were observed before."""
    for kind in _WORLD_NAMES:
        canaries.offer(kind, known.get(kind))


def add_sandbox_ids(canaries: Canaries, *, port: int) -> None:
    """Add ids of the sandbox on this machine, if it is running."""
    address = f"http://127.0.0.1:{port}/_world/tracks?limit=3&counts=0"
    try:
        response = httpx2.get(address, timeout=_WORLD_S, trust_env=False)
        tracks: list[dict[str, Any]] = response.raise_for_status().json()["tracks"]
    except (httpx2.HTTPError, ValueError, KeyError):
        return  # the probes themselves report that it is down
    for track in tracks:
        for kind, name in _WORLD_NAMES.items():
            canaries.offer(kind, track.get(name))


def example_track(
    settings: Settings, *, sandbox_port: int | None, known: Mapping[str, str | None]
) -> ExampleTrack:
    """Return a track to begin with: configured, of the sandbox, or observed before.

    Args:
        settings: They may name a track.
        sandbox_port: Port of the sandbox if it is the platform; nothing else is contacted.
        known: Observed ids by kind.
    """
    # A configured track comes first, and its title is unknown.
    configured = Canaries()
    add_configured_ids(configured, settings)
    if (track := _track_of(configured)) is not None:
        return ExampleTrack(track, None)
    canaries = Canaries()
    if sandbox_port is not None:
        add_sandbox_ids(canaries, port=sandbox_port)
    title = next(iter(canaries.of("term")), None)
    add_observed_ids(canaries, {"music_id": known.get("music_id")})
    return ExampleTrack(_track_of(canaries), title)


def _track_of(canaries: Canaries) -> str | None:
    """Return the first link, or the first music id."""
    return next(iter((*canaries.of("link"), *canaries.of("music_id"))), None)
