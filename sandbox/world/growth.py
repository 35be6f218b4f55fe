"""Growth of a world over time: counts grow, videos and music ids appear or vanish.

A pure function of (population, elapsed seconds). At 0 nothing changes; later additions are
appended, so that rows keep their numbers. New videos appear for `HORIZON_DAYS`, likes keep
growing. Not here: the initial videos (`posting.py`).
"""

import itertools
from dataclasses import dataclass, replace

import numpy as np

from sandbox.world.content.examples import VIDEO_IDS
from sandbox.world.content.population import Population
from sandbox.world.content.posting import other_counts
from sandbox.world.content.tables import (
    LAST_CARRYING,
    Floats,
    SandboxSound,
    SoundKind,
    SoundTable,
    VideoState,
    VideoTable,
    column_of,
)
from sandbox.world.content.tracks import PlannedSound, plan_carrier, to_sound_table
from sandbox.world.random_streams import Ints, chance, stream, timed_ids

HORIZON_DAYS = 60
"""New videos appear for this long."""
DAY_S = 86_400
_TRACK_POSTS = 0.35
"""Probability per day and track of another video with it."""
_OTHER_POSTS = 0.08
"""Probability per day and account of another, unrelated video."""
_UNDER_OWN, _UNDER_NEW = 0.45, 0.40
"""Shares of the new videos with a track: under its own music id, and under a new one."""
_BY_KNOWN_AUTHOR = 0.8
_VANISH_EVERY_DAYS = 10
"""One video of each track vanishes per period of this length."""
_STALE = 0.5
_FADES_AFTER_DAYS = 30.0
_RISES_WITHIN_DAYS = 3.0
_BURSTS, _LOSES = 0.04, 0.03
"""Shares of videos that surge at some time, and that slowly lose likes."""
_SONG_USES, _SOUND_USES = (11.0, 2.0), (4.0, 1.5)
"""Log-normal numbers of videos that the platform counts for a published song and a user sound."""
_USES_SURGE = 0.3
"""Share of the sounds whose use surges at some time."""


def grow(seed: int, population: Population, *, passed_s: int) -> Population:
    """Return the population after `passed_s` seconds; unchanged at 0 and before.

    Args:
        seed: Seed of the world.
        population: The population at the start time.
        passed_s: Elapsed seconds.
    """
    if passed_s <= 0:
        return population
    posts = _posts(seed, population)
    until = population.now + passed_s
    count = sum(post.create_time <= until for post in posts)
    works = _vanished(seed, population, _counted(seed, population.works, passed_s / DAY_S), until)
    added = _added_videos(seed, population, posts, until=until).rows(slice(count))
    sounds = population.sounds.joined(_added_sounds(population, posts[:count]))
    return replace(population, works=works.joined(added), sounds=sounds)


def platform_use_count(seed: int, sound: SandboxSound, *, videos: int, days: float) -> int:
    """Return how many videos the platform counts for a sound: always more than the world has.

    The world holds what guests may come across; the platform counts all. The count never falls: it
    grows less from day to day, and surges for some sounds.

    Args:
        seed: Seed of the world.
        sound: The sound.
        videos: Its videos in the world at that time.
        days: Days since the start time.
    """
    rng = stream(seed, "use count", sound.index)
    size = np.exp(rng.normal(*(_SONG_USES if sound.owner < 0 else _SOUND_USES)))
    daily, rise = size * np.exp(rng.normal(-4.5, 1.0)), size * rng.uniform(0.1, 1.0)
    begins = rng.uniform(0, HORIZON_DAYS / 2)
    faded = _FADES_AFTER_DAYS * (1 - np.exp(-max(days, 0.0) / _FADES_AFTER_DAYS))
    risen = 1 - np.exp(-max(days - begins, 0.0) / _RISES_WITHIN_DAYS)
    surge = rise * risen if chance(rng, _USES_SURGE) else 0.0
    return videos + int(size + daily * faded + surge)


def _counted(seed: int, works: VideoTable, days: float) -> VideoTable:
    """Return the initial videos with later counts."""
    gained = _gains(seed, works, days)
    rng = stream(seed, "growing counts")
    more = {**other_counts(rng, gained), "digg_count": _whole(gained)}
    counts = {name: np.maximum(getattr(works, name) + plus, 0) for name, plus in more.items()}
    return replace(works, **counts)


def _gains(seed: int, works: VideoTable, days: float) -> Floats:
    """Return likes gained: fading growth, a sudden surge for some, a loss for few."""
    rng, count = stream(seed, "growing likes"), len(works)
    daily = (20 + works.digg_count) * np.exp(rng.normal(-5.0, 1.0, size=count))
    daily = np.where(rng.random(count) < _LOSES, -0.0005 * works.digg_count, daily)
    rises = np.exp(rng.normal(8.0, 1.0, size=count)) * (rng.random(count) < _BURSTS)
    begins = rng.uniform(0, HORIZON_DAYS / 4, size=count)
    risen = 1 - np.exp(-np.maximum(days - begins, 0) / _RISES_WITHIN_DAYS)
    faded = _FADES_AFTER_DAYS * (1 - np.exp(-days / _FADES_AFTER_DAYS))
    return np.asarray(daily * faded + rises * risen, dtype=np.float64)


def _whole(values: Floats) -> Ints:
    return np.trunc(values).astype(np.int64)


def _vanished(seed: int, population: Population, works: VideoTable, until: int) -> VideoTable:
    """Hide the videos that their authors deleted, examples excepted; lists may show them on."""
    state, is_listed = works.state.copy(), works.is_listed.copy()
    for track in range(population.own_sounds.size):
        rng = stream(seed, "vanishing", track)
        rows = _carrying_videos(population, track)
        for begin in range(0, HORIZON_DAYS, _VANISH_EVERY_DAYS):
            at = population.now + int((begin + _VANISH_EVERY_DAYS * rng.random()) * DAY_S)
            row, is_stale = int(rng.choice(rows)), chance(rng, _STALE)
            if at <= until and works.aweme_id[row] not in VIDEO_IDS:
                state[row], is_listed[row] = VideoState.DELETED, is_stale
    return replace(works, state=state, is_listed=is_listed)


def _carrying_videos(population: Population, track: int) -> Ints:
    """Return the rows of the public videos with a track at its own speed and pitch."""
    kind, score = population.sounds.kind, population.sounds.score
    sounds = np.flatnonzero((score == track) & (kind <= LAST_CARRYING))
    public = population.works.state == VideoState.PUBLIC
    return np.flatnonzero(np.isin(population.works.sound, sounds) & public)


@dataclass(frozen=True, slots=True, kw_only=True)
class _FuturePost:
    """One future video; names as in `VideoTable`. `brings` is its new sound, if it has one."""

    create_time: int
    account: int
    sound: int
    topic: int
    brings: PlannedSound | None = None


def _posts(seed: int, population: Population) -> list[_FuturePost]:
    """Return all future videos in order of time; new sounds follow those that are there."""
    planned = [
        *(post for track in range(population.own_sounds.size)
          for post in _posts_with(seed, population, track)),
        *_other_posts(seed, population),
    ]  # fmt: skip
    planned.sort(key=lambda post: (post.create_time, post.account, post.sound))
    rows = itertools.count(len(population.sounds))
    return [post if post.brings is None else replace(post, sound=next(rows)) for post in planned]


def _posts_with(seed: int, population: Population, track: int) -> list[_FuturePost]:
    """Return the future videos with one track."""
    rng = stream(seed, "coming works", track)
    own, works = int(population.own_sounds[track]), population.works
    rows = _carrying_videos(population, track)
    posts = []
    for day in range(HORIZON_DAYS):
        if not chance(rng, _TRACK_POSTS):
            continue
        create_time = population.now + int((day + rng.random()) * DAY_S)
        known = int(works.account[int(rng.choice(rows))])
        anyone = int(rng.integers(population.accounts))
        account = known if chance(rng, _BY_KNOWN_AUTHOR) else anyone
        sound, brings = int(works.sound[int(rng.choice(rows))]), None
        drawn = rng.random()
        if drawn < _UNDER_OWN:
            sound = own
        elif drawn < _UNDER_OWN + _UNDER_NEW:
            brings = plan_carrier(rng, population.sounds.row(own))
        posts.append(_FuturePost(
            create_time=create_time, account=account, sound=sound, topic=track, brings=brings
        ))  # fmt: skip
    return posts


def _other_posts(seed: int, population: Population) -> list[_FuturePost]:
    """Return the future videos that are unrelated to all tracks."""
    rng = stream(seed, "other coming works")
    tracks = population.own_sounds.size
    titled = population.title_score[population.sounds.score]
    others = np.flatnonzero((population.sounds.score < 0) | (titled >= tracks))
    count = (
        int(rng.poisson(_OTHER_POSTS * HORIZON_DAYS * population.accounts)) if others.size else 0
    )
    return [
        _FuturePost(
            create_time=population.now + int(rng.integers(HORIZON_DAYS * DAY_S)),
            account=int(rng.integers(population.accounts)), sound=int(rng.choice(others)), topic=-1,
        )
        for _ in range(count)
    ]  # fmt: skip


def _added_videos(
    seed: int, population: Population, posts: list[_FuturePost], *, until: int
) -> VideoTable:
    """Return all future videos as they are at a time; each gathers its likes within some days."""
    rng, every = stream(seed, "counts of coming works"), len(posts)
    create_time = column_of(posts, "create_time")
    likes = np.exp(rng.normal(6.5, 1.5, size=every)).clip(0, 2e6)
    days = np.maximum(until - create_time, 0) / DAY_S
    gained = likes * (1 - np.exp(-days / _RISES_WITHIN_DAYS))
    counts = other_counts(rng, gained)
    is_silent = np.asarray([_is_silent(population, post) for post in posts], dtype=np.bool_)
    return VideoTable(
        aweme_id=timed_ids(create_time, salt=int(rng.integers(2**31))),
        sound=column_of(posts, "sound"), account=column_of(posts, "account"),
        create_time=create_time,
        digg_count=_whole(gained), **counts,
        state=np.full(every, VideoState.PUBLIC, dtype=np.int64),
        is_listed=np.ones(every, dtype=np.bool_),
        is_pinned=np.zeros(every, dtype=np.bool_),
        is_photo=is_silent | (rng.random(every) < 0.1), is_silent=is_silent,  # noqa: PLR2004  # as before
        named_score=np.where(rng.random(every) < 0.76, column_of(posts, "topic"), -1),  # noqa: PLR2004  # as before
        is_tagged=rng.random(every) < 0.45,  # noqa: PLR2004  # as before
        alteration=np.zeros(every, dtype=np.int64),
        replacement=np.full(every, -1, dtype=np.int64),
    )  # fmt: skip


def _is_silent(population: Population, post: _FuturePost) -> bool:
    return post.brings is None and population.sounds.kind[post.sound] == SoundKind.SILENT


def _added_sounds(population: Population, posts: list[_FuturePost]) -> SoundTable:
    """Return the new sounds of future videos."""
    bringing = [post for post in posts if post.brings is not None]
    return to_sound_table(
        [post.brings for post in bringing if post.brings is not None],
        music_id=timed_ids(column_of(bringing, "create_time") - 60, salt=population.now),
        owner=column_of(bringing, "account"), salt=population.now,
    )  # fmt: skip
