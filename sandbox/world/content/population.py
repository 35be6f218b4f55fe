"""Turns plans into sounds with ids, and videos with authors, times and counts.

What belongs here: the arrays of a world. What a track consists of is in `tracks.py`, lookups are in
`world.py`.
"""

from dataclasses import dataclass, replace

import numpy as np

from sandbox.world.content.alterations import with_alterations
from sandbox.world.content.examples import FIRST_POST_S, TRACK_IDS
from sandbox.world.content.posting import post_videos
from sandbox.world.content.tables import SoundTable, VideoTable, column_of
from sandbox.world.content.tracks import (
    NAMESAKE,
    PlannedTrack,
    plan_background,
    plan_track,
    to_sound_table,
)
from sandbox.world.random_streams import Ints, stream, timed_ids

_TRACK_SHARE = 0.62
"""Share of all videos that are related to a track."""
_DAY_S = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """The arrays of a world.

    Attributes:
        now: Unix seconds of the world's clock.
        sounds: All sounds; the own sounds of the tracks are `own_sounds`.
        works: All videos, oldest first.
        title_score: Per composition, the composition whose title it has.
        own_sounds: Row of each track's own sound.
        accounts: Number of accounts.
    """

    now: int
    sounds: SoundTable
    works: VideoTable
    title_score: Ints
    own_sounds: Ints
    accounts: int


def populate(
    seed: int, *, accounts: int, tracks: int, altered_share: float, start: int | None
) -> Population:
    """Generate all accounts, sounds and videos of a world.

    Args:
        seed: Seed of the world.
        accounts: Number of accounts.
        tracks: Number of tracks.
        altered_share: Share of the videos with a track whose own sound differs, see
            `alterations.py`.
        start: Unix seconds at which the world starts; None for the fixed day of the seed.
    """
    now = _now(seed) if start is None else start
    quotas = _quotas(seed, accounts)
    total = int(quotas.sum())
    plans = [
        plan_track(seed, score, works=total * _TRACK_SHARE / tracks) for score in range(tracks)
    ]
    plans, title_score = _with_namesakes(plans)
    spent = sum(sound.works for plan in plans for sound in plan.sounds)
    background = plan_background(seed, works=max(0, total - spent), first_score=len(title_score))
    scores = max((plan.score for plan in background), default=-1) + 1
    title_score.extend(range(len(title_score), max(len(title_score), scores)))
    everything = [*plans, *background]
    works = post_videos(seed, everything, quotas=quotas, tracks=tracks, now=now)
    first = np.cumsum([0, *(len(plan.sounds) for plan in plans[:-1])])[:tracks].astype(np.int64)
    sounds = _sound_table(seed, everything, works, now=now)
    sounds.music_id[first[: TRACK_IDS.size]] = TRACK_IDS[: first.size]
    library = [plan.score for plan in background if plan.score >= 0]
    works = with_alterations(
        seed, works, sounds, library=np.asarray(library, dtype=np.int64),
        tracks=tracks, share=altered_share,
    )  # fmt: skip
    return Population(
        now=now, sounds=sounds, works=works,
        title_score=np.asarray(title_score, dtype=np.int64),
        own_sounds=first, accounts=accounts,
    )  # fmt: skip


def _now(seed: int) -> int:
    start = 1_759_312_800  # 2025-10-01 18:00 in Shanghai: in the past on every machine
    return start + int(stream(seed, "now").integers(0, 60)) * _DAY_S


def _authors_of_first(works: VideoTable, *, count: int) -> Ints:
    """Return the author of the first video with each sound, -1 without one.

    An original sound is born with this video.
    """
    authors = np.full(count, -1, dtype=np.int64)
    authors[works.sound[::-1]] = works.account[::-1]  # the oldest is written last
    return authors


def _quotas(seed: int, accounts: int) -> Ints:
    """Return the number of videos per account: most fit one screen, one in thirty does not."""
    rng = stream(seed, "quotas")
    usual = rng.integers(12, 20, size=accounts)
    busy = rng.integers(22, 31, size=accounts)
    return np.where(rng.random(accounts) < 1 / 30, busy, usual).astype(np.int64)


def _with_namesakes(plans: list[PlannedTrack]) -> tuple[list[PlannedTrack], list[int]]:
    """Give every namesake its own composition, and record whose title it has."""
    title_score = list(range(len(plans)))
    numbered = []
    for plan in plans:
        sounds = list(plan.sounds)
        for place, sound in enumerate(sounds):
            if sound.score == NAMESAKE:
                sounds[place] = replace(sound, score=len(title_score))
                title_score.append(plan.score)
        numbered.append(replace(plan, sounds=sounds))
    return numbered, title_score


def _sound_table(
    seed: int, plans: list[PlannedTrack], works: VideoTable, *, now: int
) -> SoundTable:
    sounds = [sound for plan in plans for sound in plan.sounds]
    rng = stream(seed, "sounds")
    titled = column_of(sounds, "is_titled", np.bool_)
    first_posts = np.full(len(sounds), now, dtype=np.int64)
    np.minimum.at(first_posts, works.sound, works.create_time)
    return to_sound_table(
        sounds, salt=seed,
        music_id=timed_ids(first_posts - FIRST_POST_S, salt=int(rng.integers(2**31))),
        owner=np.where(titled, -1, _authors_of_first(works, count=len(sounds))),
    )  # fmt: skip
