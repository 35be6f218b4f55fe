"""Sandbox world: accounts, tracks, sounds and videos, generated from (seed, size).

What belongs here: lookups by public id and in list order. Labels of videos are in
`ground_truth.py`, difficulty in `hardness.py`, audio in `sound/`. No network.
"""

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.random import Generator

from sandbox.world.content import texts
from sandbox.world.content.alterations import ALTERED_SHARE
from sandbox.world.content.population import Population, populate
from sandbox.world.content.tables import (
    LAST_VARIANT,
    SandboxSound,
    SandboxVideo,
    SoundKind,
)
from sandbox.world.growth import DAY_S, grow, platform_use_count
from sandbox.world.random_streams import Ints, share_of, stream, to_token

ACCOUNTS_AT_ONE = 300
TRACKS_AT_ONE = 24
MUSIC_LIST_DEPTH = 60
"""Videos that a guest can page through under one music id."""
FIRST_SCREEN_SIZE = 20
"""Videos on an author's first screen."""
_MAPPED = 0.3
"""Share of user sounds that the platform maps to a song."""
SEC_PREFIX = "MS4wLjABAAAA"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountFacts:
    """One account; field names as on the wire."""

    index: int
    sec_uid: str
    uid: str
    short_id: str
    unique_id: str
    nickname: str
    signature: str
    follower_count: int
    following_count: int
    total_favorited: int
    favoriting_count: int
    ip_location: str


class SandboxWorld:
    """A synthetic platform. Equal (seed, size, tracks) give equal worlds on every machine.

    Args:
        seed: Any whole number of at least 0.
        size: 1.0 has some 300 accounts and 5,000 videos; 40 has 200,000 videos.
        tracks: How many tracks; by default 24 up to size 1, and in proportion above. With fewer,
            each has more videos: such a crowded world is for load.
        passed_s: Seconds since its start time; see `growth.py`.
        altered_share: Share of the videos with a track whose own sound differs from that of their
            music id; see `alterations.py`. Nothing else depends on it.
        start: Unix seconds of its start time, which all ids depend on; None for the fixed day of
            the seed.

    Attributes:
        again: Makes the same world, at another time by `passed_s`; it can be sent to a process.

    Raises:
        ValueError: The seed is negative, the size too small for the tracks, or the share not
            within 0 to 1.
    """

    def __init__(
        self,
        seed: int,
        size: float = 1.0,
        *,
        tracks: int | None = None,
        passed_s: int = 0,
        altered_share: float = ALTERED_SHARE,
        start: int | None = None,
    ) -> None:
        if seed < 0:
            raise ValueError(f"the seed must be at least 0, not {seed}")
        usual = round(TRACKS_AT_ONE * max(1.0, size))
        count = usual if tracks is None else tracks
        accounts = max(12, round(ACCOUNTS_AT_ONE * size))
        if size <= 0 or count < 1 or count > accounts:
            raise ValueError(f"{count} tracks do not fit into a world of size {size}")
        if not 0 <= altered_share <= 1:
            raise ValueError(f"the share of altered videos must be 0 to 1, not {altered_share}")
        self.seed = seed
        self.size = size
        self.is_crowded = count < usual
        self.passed_s = passed_s
        self.again = partial(
            SandboxWorld, seed, size, tracks=count, altered_share=altered_share, start=start
        )
        first = populate(
            seed, accounts=accounts, tracks=count, altered_share=altered_share, start=start
        )
        self.population: Population = grow(seed, first, passed_s=passed_s)
        self.sounds = self.population.sounds
        self.works = self.population.works

    def at(self, passed_s: int) -> "SandboxWorld":
        """Return the same world at another time."""
        return self.again(passed_s=passed_s)

    @property
    def now(self) -> int:
        """Unix seconds of the world's own clock."""
        return self.population.now + self.passed_s

    @property
    def track_count(self) -> int:
        """Number of tracks."""
        return int(self.population.own_sounds.size)

    @property
    def account_count(self) -> int:
        """Number of accounts."""
        return self.population.accounts

    @cached_property
    def tracks(self) -> tuple[SandboxSound, ...]:
        """Each track's own sound."""
        return tuple(self.sounds.row(int(index)) for index in self.population.own_sounds)

    def sound_of(self, music_id: str) -> SandboxSound | None:
        """Return the sound of a music id."""
        index = self._sound_rows.get(_number(music_id))
        return None if index is None else self.sounds.row(index)

    def video_of_id(self, aweme_id: str) -> SandboxVideo | None:
        """Return the video of an id, including hidden ones."""
        index = self._video_rows.get(_number(aweme_id))
        return None if index is None else self.works.row(index)

    def account_of(self, sec_uid: str) -> int | None:
        """Return the row of an account."""
        return self._by_sec_uid.get(sec_uid)

    def account(self, index: int) -> AccountFacts:
        """Return an account, generated on demand."""
        rng = stream(self.seed, "account", index)
        likes = int(self.works.digg_count[self.videos_by_account(index)].sum())
        facts = AccountFacts(
            index=index, sec_uid=self.sec_uid(index), uid=str(10**15 + 7919 * index),
            short_id=str(10**9 + 104_729 * index),
            unique_id=f"{texts.pick(rng, texts.NICKS_EN)}{index:05d}",
            nickname=texts.nickname(self.seed, index), signature=texts.signature(self.seed, index),
            follower_count=int(np.exp(rng.normal(7.5, 2.0))),
            following_count=int(rng.integers(0, 900)), total_favorited=likes,
            favoriting_count=int(rng.integers(0, 5000)),
            ip_location=texts.pick(rng, texts.CITIES),
        )  # fmt: skip
        return replace(facts, follower_count=facts.follower_count + self._followed(rng))

    def _followed(self, rng: Generator) -> int:
        """Return followers gained since the start; drawn last, so earlier draws do not change."""
        daily = float(np.exp(rng.normal(1.0, 1.5)))
        return int(daily * max(0, self.passed_s) / DAY_S)

    def sec_uid(self, index: int) -> str:
        """Public id of an account."""
        return SEC_PREFIX + to_token(self.seed, "sec_uid", index, length=43)

    def videos_by_account(self, index: int) -> Ints:
        """Return the rows of an account's listed videos: pinned first, then newest first."""
        rows = self._rows_by_account[index][::-1]
        rows = rows[self.works.is_listed[rows]]
        pinned = self.works.is_pinned[rows]
        return np.concatenate([rows[pinned], rows[~pinned]])

    def videos_by_sound(self, index: int) -> Ints:
        """Return the rows of a sound's listed videos, most liked first, without depth limit."""
        rows = self._rows_by_sound[index]
        rows = rows[self.works.is_listed[rows]]
        return rows[np.argsort(-self.works.digg_count[rows], kind="stable")]

    def music_list(self, index: int) -> Ints:
        """Return the rows that a guest can page through under a music id."""
        return self.videos_by_sound(index)[:MUSIC_LIST_DEPTH]

    def first_screen(self, index: int) -> Ints:
        """Rows of an author's first screen."""
        return self.videos_by_account(index)[:FIRST_SCREEN_SIZE]

    def source_video(self, index: int) -> int | None:
        """Return the row of the video that an original sound was born with, hidden ones included.

        None for a published song.
        """
        rows = self._rows_by_sound[index]
        if self.sounds.owner[index] < 0 or not rows.size:
            return None
        return int(rows[np.argmin(self.works.create_time[rows])])

    def use_count(self, sound: SandboxSound) -> int:
        """Return how many videos the platform counts for a sound; a guest sees only some."""
        return platform_use_count(
            self.seed, sound, videos=int(self._rows_by_sound[sound.index].size),
            days=self.passed_s / DAY_S,
        )  # fmt: skip

    def title_of(self, score: int) -> str:
        """Return the title of a composition; namesakes share one."""
        return texts.song_title(self.seed, int(self.population.title_score[score]))

    def sound_title(self, sound: SandboxSound) -> str:
        """Title of a music id."""
        if sound.owner >= 0:
            return texts.user_sound_title(self.seed, sound.owner)
        title = self.title_of(sound.score)
        if sound.kind is SoundKind.MAIN:
            return title
        return texts.release_title(stream(self.seed, "release", sound.index), title)

    def mapped_title(self, sound: SandboxSound) -> str | None:
        """Return the song that a user sound is mapped to, as "title（artist）"; mostly None."""
        is_mapped = share_of(sound.music_id, "mapped") < _MAPPED and sound.kind <= LAST_VARIANT
        if sound.owner < 0 or not is_mapped:
            return None
        return f"{self.title_of(sound.score)}（{texts.artist_name(self.seed, sound.score)}）"

    def sound_author(self, sound: SandboxSound) -> str:
        """Author that a music id names."""
        if sound.owner >= 0:
            return texts.nickname(self.seed, sound.owner)
        return texts.artist_name(self.seed, sound.score)

    def caption(self, work: SandboxVideo) -> str:
        """Text of a video."""
        title = None if work.named_score < 0 else self.title_of(work.named_score)
        return texts.caption(self.seed, work.index, title=title, as_tag=work.is_tagged)

    @cached_property
    def _sound_rows(self) -> dict[int, int]:
        return {music_id: row for row, music_id in enumerate(self.sounds.music_id.tolist())}

    @cached_property
    def _video_rows(self) -> dict[int, int]:
        return {aweme_id: row for row, aweme_id in enumerate(self.works.aweme_id.tolist())}

    @cached_property
    def _by_sec_uid(self) -> dict[str, int]:
        return {self.sec_uid(index): index for index in range(self.account_count)}

    @cached_property
    def _rows_by_account(self) -> list[Ints]:
        return _grouped(self.works.account, self.account_count)

    @cached_property
    def _rows_by_sound(self) -> list[Ints]:
        return _grouped(self.works.sound, len(self.sounds))


def _grouped(values: Ints, count: int) -> list[Ints]:
    """Return the rows that have each value from 0 to `count`, in order."""
    ends = np.cumsum(np.bincount(values, minlength=count))
    return np.split(np.argsort(values, kind="stable").astype(np.int64), ends[:-1])


def _number(text: str) -> int:
    """Return the number in an id; for any other text one that is no id."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 19 else -1  # noqa: PLR2004  # digits of an id
