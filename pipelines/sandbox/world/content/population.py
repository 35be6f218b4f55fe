"""Turns plans into sounds with ids, and videos with authors, times and counts.

What belongs here: the arrays of a world. What a track consists of is in `tracks.py`, lookups are in
`world.py`.
"""

from dataclasses import dataclass

import numpy as np

from pipelines.sandbox.world.content.alterations import with_alterations
from pipelines.sandbox.world.content.posting import VideoDrafts, draft_videos, finish_videos
from pipelines.sandbox.world.content.sounds import SoundTable
from pipelines.sandbox.world.content.tracks import (
    NAMESAKE,
    PlannedSound,
    PlannedTrack,
    plan_background,
    plan_track,
)
from pipelines.sandbox.world.content.videos import VideoTable
from pipelines.sandbox.world.random_streams import Ints, scattered, stream, timed_ids

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
    drafts = draft_videos(seed, everything, quotas=quotas, tracks=tracks, now=now)
    sounds = _sound_table(seed, everything, drafts, now=now)
    library = [plan.score for plan in background if plan.score >= 0]
    works = with_alterations(
        seed, finish_videos(seed, drafts), sounds, library=np.asarray(library, dtype=np.int64),
        tracks=tracks, share=altered_share,
    )  # fmt: skip
    first = np.cumsum([0, *(len(plan.sounds) for plan in plans[:-1])])
    return Population(
        now=now, sounds=sounds, works=works,
        title_score=np.asarray(title_score, dtype=np.int64),
        own_sounds=first.astype(np.int64)[:tracks], accounts=accounts,
    )  # fmt: skip


def _now(seed: int) -> int:
    start = 1_759_312_800  # 2025-10-01 18:00 in Shanghai: in the past on every machine
    return start + int(stream(seed, "now").integers(0, 60)) * _DAY_S


def _authors_of_first(drafts: VideoDrafts, *, count: int) -> Ints:
    """Return the author of the first video with each sound, -1 without one.

    An original sound is born with this video.
    """
    authors = np.full(count, -1, dtype=np.int64)
    newest_first = np.argsort(drafts.create_time, kind="stable")[::-1]
    authors[drafts.sound[newest_first]] = drafts.account[newest_first]
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
        sounds = []
        for sound in plan.sounds:
            score = sound.score
            if score == NAMESAKE:
                score = len(title_score)
                title_score.append(plan.score)
            sounds.append(_renumbered(sound, score))
        numbered.append(
            PlannedTrack(
                score=plan.score, released_days_ago=plan.released_days_ago,
                popularity=plan.popularity, sounds=sounds,
            )
        )  # fmt: skip
    return numbered, title_score


def _renumbered(sound: PlannedSound, score: int) -> PlannedSound:
    if sound.score == score:
        return sound
    return PlannedSound(
        kind=sound.kind, score=score, works=sound.works, start_s=sound.start_s,
        duration_s=sound.duration_s, carried_s=sound.carried_s, is_titled=sound.is_titled,
    )  # fmt: skip


def _sound_table(
    seed: int, plans: list[PlannedTrack], drafts: VideoDrafts, *, now: int
) -> SoundTable:
    sounds = [sound for plan in plans for sound in plan.sounds]
    rng = stream(seed, "sounds")
    names = ("start_s", "duration_s", "speed", "semitones", "voice_db", "carried_s", "lead_s")
    numbers = {
        name: np.asarray([getattr(sound, name) for sound in sounds], dtype=np.float64)
        for name in names
    }
    titled = np.asarray([sound.is_titled for sound in sounds], dtype=np.bool_)
    first_posts = np.full(len(sounds), now, dtype=np.int64)
    np.minimum.at(first_posts, drafts.sound, drafts.create_time)
    return SoundTable(
        music_id=timed_ids(first_posts - 60, salt=int(rng.integers(2**31))),
        kind=np.asarray([sound.kind for sound in sounds], dtype=np.int64),
        score=np.asarray([sound.score for sound in sounds], dtype=np.int64),
        stereo=(scattered(len(sounds), salt=seed) % 5) == 0,
        owner=np.where(titled, -1, _authors_of_first(drafts, count=len(sounds))),
        **numbers,
    )
