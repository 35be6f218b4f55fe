"""Text lookups of the sandbox: hashtags by id and name, videos by search.

Reading every caption takes time, so the directory is built once, in a thread, on first use.
"""

import hashlib

from pipelines.sandbox.world.content import texts
from pipelines.sandbox.world.content.sounds import SandboxSound, SoundKind
from pipelines.sandbox.world.random_streams import Ints, share_of
from pipelines.sandbox.world.search import HASHTAG_DEPTH, VideoTextIndex
from pipelines.sandbox.world.world import SandboxWorld

_MAPPED = 0.3
"""Share of user sounds that the platform maps to a song."""


class Directory:
    """Hashtags and search of a world."""

    def __init__(self, world: SandboxWorld) -> None:
        self.world = world
        self.finding = VideoTextIndex(world, lambda sound: mapped_title(world, sound) or "")
        self._names = {str(hashtag_id(name)): name for name in self.finding.hashtags}

    @property
    def hashtags(self) -> dict[str, str]:
        """Names by id, those of most videos first."""
        counts = self.finding.hashtags
        order = sorted(self._names.items(), key=lambda entry: (-counts[entry[1]].size, entry[0]))
        return dict(order)

    def name_of(self, ch_id: str) -> str | None:
        """Return the name of a hashtag; None if no video uses it."""
        return self._names.get(ch_id)

    def members(self, ch_id: str) -> Ints:
        """Return the rows of all its listed videos, most liked first."""
        return self.finding.hashtags[self._names[ch_id]]

    def listed(self, ch_id: str) -> list[int]:
        """Return the rows that a guest can page through under a hashtag."""
        return list(map(int, self.members(ch_id)[:HASHTAG_DEPTH]))


def hashtag_id(name: str) -> int:
    """Id of a hashtag, up to 19 digits."""
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return int.from_bytes(digest) % 10**18 + 10**18


def mapped_title(world: SandboxWorld, sound: SandboxSound) -> str | None:
    """Return the song that a user sound is mapped to, as "title（artist）"; mostly None."""
    is_mapped = share_of(sound.music_id, "mapped") < _MAPPED and sound.kind <= SoundKind.TEMPO
    if sound.owner < 0 or not is_mapped:
        return None
    return f"{world.title_of(sound.score)}（{texts.artist_name(world.seed, sound.score)}）"
