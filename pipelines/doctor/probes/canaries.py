"""What to ask about: ids that guests can see, from the settings, the warehouse or the stand-in.

An id is never invented: where none is known, the surface is not asked and the report says what
to give. Probes that succeed teach more: a list names works, a work names its account.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx2

from pipelines.settings import Settings
from warehouse.records.search import SearchPage
from warehouse.records.videos import Track, Video, VideoDetail, VideoPage

Kind = Literal["music_id", "aweme_id", "sec_uid", "ch_id", "link", "term", "rank_id", "sound"]
_FROM_SETTINGS: Mapping[Kind, str] = {
    "music_id": "canary_music_id",
    "aweme_id": "canary_aweme_id",
    "sec_uid": "canary_sec_uid",
    "ch_id": "canary_ch_id",
    "link": "canary_link",
    "term": "canary_term",
}
KEPT = 4
"""So many of a kind are remembered: a canary that is gone must not condemn its surface."""
_WORLD_S = 10.0


@dataclass(slots=True)
class Canaries:
    """Known ids by kind, best first. The `sound` of a work is an address that expires."""

    _known: dict[Kind, list[str]] = field(default_factory=dict)

    def offer(self, kind: Kind, value: str | None) -> None:
        """One more id, behind those that are known."""
        known = self._known.setdefault(kind, [])
        if value and value not in known and len(known) < KEPT:
            known.append(value)

    def of(self, kind: Kind) -> tuple[str, ...]:
        """Ids of a kind; empty when none is known."""
        return tuple(self._known.get(kind, ()))

    def learn(self, seen: object) -> None:
        """Take in what an answer names."""
        if isinstance(seen, Track):
            self.offer("term", seen.title)
        elif isinstance(seen, VideoPage | SearchPage):
            for video in seen.videos:
                self._learn_video(video)
        elif isinstance(seen, VideoDetail):
            self._learn_video(seen.video)
            if seen.play_urls and not seen.is_silent_placeholder:
                self.offer("sound", seen.play_urls[0])

    def _learn_video(self, video: Video) -> None:
        self.offer("aweme_id", video.aweme_id)
        if video.author is not None:
            self.offer("sec_uid", video.author.sec_uid)
        if video.music is not None:
            self.offer("music_id", video.music.music_id)
        for hashtag in video.hashtags:
            self.offer("ch_id", hashtag.ch_id)


def offer_chosen(canaries: Canaries, settings: Settings) -> None:
    """Ids that the operator has chosen."""
    for kind, name in _FROM_SETTINGS.items():
        canaries.offer(kind, getattr(settings, name))


def offer_observed(canaries: Canaries, known: Mapping[str, str | None]) -> None:
    """Ids that were observed before."""
    for kind in _FROM_SETTINGS:
        canaries.offer(kind, known.get(kind))


def offer_sandbox_tracks(canaries: Canaries, *, port: int) -> None:
    """Ids of the stand-in platform that runs on this machine, where it does."""
    address = f"http://127.0.0.1:{port}/_world/tracks?limit=3&counts=0"
    try:
        answer = httpx2.get(address, timeout=_WORLD_S, trust_env=False)
        tracks: list[dict[str, Any]] = answer.raise_for_status().json()["tracks"]
    except (httpx2.HTTPError, ValueError, KeyError):
        return  # what is down is found out by asking its surfaces
    for track in tracks:
        for kind, name in _WORLD_NAMES.items():
            canaries.offer(kind, track.get(name))


_WORLD_NAMES: Mapping[Kind, str] = {
    "music_id": "music_id",
    "aweme_id": "aweme_id",
    "link": "short_link",
    "term": "title",
    "sec_uid": "sec_uid",
    "ch_id": "ch_id",
}
