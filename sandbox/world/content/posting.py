"""Posting: which account uses which sound, when, with which caption hint and popularity.

Accounts post in bundles: a few videos with the same track, then others. So every track has a group
of authors whose first screens show much of it, as on the platform.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from sandbox.world.content.examples import (
    BORN,
    since_release,
    with_example_videos,
)
from sandbox.world.content.tables import (
    ArrayTable,
    Flags,
    Floats,
    SoundKind,
    VideoState,
    VideoTable,
    column_of,
)
from sandbox.world.content.tracks import PlannedTrack
from sandbox.world.random_streams import Ints, stream, timed_ids

_BUNDLE = 4
_LEADS_WITH_OWN = 0.9
"""Share of bundles with a video under the track's own id; the others need another path."""
_DAY_S = 86_400
_HIDDEN = 0.04
_STALE = 0.5
_NEW = 0.015
_PHOTO = 0.10
_PINNED = 0.03
_SILENT_OWN = 0.02
_HINT_LARGE, _HINT_SINGLE = 0.76, 0.97
_HINTS = {SoundKind.COVER_SYNC: 0.92, SoundKind.COVER_OTHER: 0.92, SoundKind.SILENT: 0.8}
_HINT_NAMESAKE = 0.95
_STRAY_HINT = 0.012
_TAGGED = 0.45


def post_videos(
    seed: int, plans: list[PlannedTrack], *, quotas: Ints, tracks: int, now: int
) -> VideoTable:
    """Return the videos of all plans, with authors, times, counts and visibility, oldest first.

    Args:
        seed: Seed of the world.
        plans: Tracks first, then library songs, then sounds without music.
        quotas: Number of videos per account.
        tracks: Number of plans that are tracks.
        now: Unix seconds.
    """
    flat = _Flat.of(plans)
    slots, leads = _slots(seed, quotas)
    order = _assign_slots(seed, flat, plans, leads, tracks=tracks)[: slots.size]
    named, flat = _named(seed, flat, tracks)[order], flat.rows(order)
    rng, count = stream(seed, "drafts"), order.size
    age = flat.age_days * _DAY_S
    posted = now - (age * (1 - rng.random(count) ** 0.7)).astype(np.int64) - 3 * 3600
    is_new = rng.random(count) < _NEW
    posted = np.where(is_new, now - rng.integers(60, 3 * 3600, size=count), posted)
    for track, born in enumerate(BORN[:tracks].tolist()):
        own = (flat.kind == SoundKind.MAIN) & (flat.score == track)
        posted[own] = since_release(posted[own], born=born, now=now)
    own = (flat.kind == SoundKind.MAIN) & (rng.random(count) < _SILENT_OWN)
    is_silent = own | (flat.kind == SoundKind.SILENT)
    rng = stream(seed, "works")
    likes = np.exp(rng.normal(6.0 + flat.popularity, 2.0)).clip(0, 8e6).astype(np.int64)
    digg = np.where(is_new, 0, likes)
    state = _states(rng, leads[:count])
    columns: dict[str, np.ndarray] = {
        "sound": flat.sound, "account": slots[:count], "create_time": posted.astype(np.int64),
        "digg_count": digg, **other_counts(rng, digg), "state": state,
        "is_listed": (state == VideoState.PUBLIC) | (rng.random(count) < _STALE),
        "is_pinned": rng.random(count) < _PINNED,
        "is_photo": is_silent | (rng.random(count) < _PHOTO),
        "is_silent": is_silent, "named_score": named, "is_tagged": rng.random(count) < _TAGGED,
        "alteration": np.zeros(count, dtype=np.int64),
        "replacement": np.full(count, -1, dtype=np.int64),
    }  # fmt: skip
    by_time = np.argsort(posted, kind="stable")
    columns = {name: values[by_time] for name, values in columns.items()}
    ids = timed_ids(columns["create_time"], salt=int(rng.integers(2**31)))
    return with_example_videos(VideoTable(aweme_id=ids, **columns))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flat(ArrayTable):
    """One row per video still to be posted, plan after plan."""

    sound: Ints
    kind: Ints
    score: Ints
    plan: Ints
    topic: Ints
    group: Ints
    age_days: Floats
    popularity: Floats

    @classmethod
    def of(cls, plans: list[PlannedTrack]) -> "_Flat":
        rows = [(number, plan, sound) for number, plan in enumerate(plans) for sound in plan.sounds]
        numbers, owners, sounds = zip(*rows, strict=True)
        works = column_of(sounds, "works")
        columns = {
            "sound": np.arange(len(rows)), "kind": column_of(sounds, "kind"),
            "score": column_of(sounds, "score"), "plan": np.asarray(numbers, dtype=np.int64),
            "topic": column_of(owners, "score"), "group": works,
            "age_days": column_of(owners, "released_days_ago", np.float64),
            "popularity": column_of(owners, "popularity", np.float64),
        }  # fmt: skip
        return cls(**{name: np.repeat(values, works) for name, values in columns.items()})


def _slots(seed: int, quotas: Ints) -> tuple[Ints, Flags]:
    """Accounts in posting order, bundle by bundle, and where a bundle begins."""
    rng = stream(seed, "bundles")
    account = np.repeat(np.arange(quotas.size), quotas)
    nth = np.arange(account.size) - np.repeat(np.cumsum(quotas) - quotas, quotas)
    bundle = account * 64 + nth // _BUNDLE
    names, inverse = np.unique(bundle, return_inverse=True)
    rank = rng.permutation(names.size)[inverse]
    order = np.argsort(rank, kind="stable")
    return account[order].astype(np.int64), (nth[order] % _BUNDLE) == 0


def _assign_slots(
    seed: int, flat: _Flat, plans: list[PlannedTrack], leads: Flags, *, tracks: int
) -> Ints:
    """Return an order of videos, one per slot; tracks fill slots one after the other."""
    ends = np.searchsorted(flat.plan, np.arange(len(plans)), side="right")
    order = []
    begin = 0
    for track in range(tracks):
        rng = stream(seed, "seats", track)
        end = int(ends[track])
        is_own = flat.sound[begin:end] == flat.sound[begin]
        order.append(begin + _led(rng, is_own, leads[begin:end]))
        begin = end
    rest = begin + stream(seed, "seats", tracks).permutation(flat.sound.size - begin)
    return np.concatenate([*order, rest]).astype(np.int64)


def _led(rng: Generator, is_own: Flags, leads: Flags) -> Ints:
    """Videos of one track, shuffled, such that most bundles lead with one under its own id."""
    own = rng.permutation(np.flatnonzero(is_own))
    starts = np.flatnonzero(leads | (np.arange(leads.size) == 0))
    skipped = int(starts.size * (1 - _LEADS_WITH_OWN))  # 0 for a group of a few authors
    seats = rng.permutation(starts)[skipped:][: own.size]
    result = np.full(is_own.size, -1, dtype=np.int64)
    result[seats] = own[: seats.size]
    others = np.concatenate([own[seats.size :], np.flatnonzero(~is_own)])
    result[result < 0] = rng.permutation(others)
    return result


def _named(seed: int, flat: _Flat, tracks: int) -> Ints:
    """Return the composition that each caption names: mostly its own, sometimes a wrong one."""
    rng = stream(seed, "hints")
    count = flat.sound.size
    chance = np.where(flat.group == 1, _HINT_SINGLE, _HINT_LARGE)
    for kind, share in _HINTS.items():
        chance = np.where(flat.kind == kind, share, chance)
    is_namesake = (flat.score >= tracks) & (flat.plan < tracks)
    chance = np.where(is_namesake, _HINT_NAMESAKE, chance)
    stray = np.where(rng.random(count) < _STRAY_HINT, rng.integers(0, tracks, size=count), -1)
    hinted = (rng.random(count) < chance) & (flat.topic >= 0)
    return np.where(hinted, flat.topic, stray).astype(np.int64)


def other_counts(rng: Generator, digg: Ints | Floats) -> dict[str, Ints]:
    """Comments, bookmarks and shares, each a fraction of the likes, rounded towards zero."""
    fractions = {
        "comment_count": (0.005, 0.06), "collect_count": (0.02, 0.3), "share_count": (0.005, 0.15),
    }  # fmt: skip
    return {
        name: (digg * rng.uniform(low, high, size=digg.size)).astype(np.int64)
        for name, (low, high) in fractions.items()
    }


def _states(rng: Generator, is_lead: Flags) -> Ints:
    """Hide a fixed share of videos, so that no world lacks them by chance.

    The first video of a bundle stays public: it leads to the others, which a scan without search
    could not find otherwise.
    """
    state = np.full(is_lead.size, VideoState.PUBLIC, dtype=np.int64)
    hidden = rng.permutation(np.flatnonzero(~is_lead))[: round(is_lead.size * _HIDDEN)]
    state[hidden] = rng.integers(1, len(VideoState), size=hidden.size)
    return state
