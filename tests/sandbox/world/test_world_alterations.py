"""Videos with a sound of their own: how many, which, what they play, what is true about them."""

from collections import Counter
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.world.content.alterations import ALTERED_SHARE, played_sound
from sandbox.world.content.tables import (
    LAST_CARRYING,
    Alteration,
    Flags,
    SandboxVideo,
    SoundKind,
    VideoState,
)
from sandbox.world.ground_truth import GroundTruth, VideoTruth
from sandbox.world.hardness import chroma_correlation
from sandbox.world.sound.instruments import RATE
from sandbox.world.sound.recordings import render_video
from sandbox.world.sound.sound_cache import SoundCache
from sandbox.world.world import SandboxWorld

pytestmark = pytest.mark.full

WORLD = SandboxWorld(21, 0.2)
seeds = st.integers(0, 2**31)
shares = st.floats(0, 1)
SOUNDS_WITH_RECORDING = {"as_named", "voiced_over"}


def eligible(world: SandboxWorld) -> Flags:
    """Videos under music ids that carry a track at its own speed, photo posts left out."""
    score, kind = world.sounds.score[world.works.sound], world.sounds.kind[world.works.sound]
    carries = (score >= 0) & (score < world.track_count) & (kind <= LAST_CARRYING)
    return np.asarray(carries & ~world.works.is_photo & ~world.works.is_silent, dtype=np.bool_)


def altered(world: SandboxWorld) -> Flags:
    return np.asarray(world.works.alteration != Alteration.NONE, dtype=np.bool_)


@settings(max_examples=15, deadline=None)
@given(seed=seeds, share=shares)
def test_the_stated_share_of_the_videos_is_altered_and_no_other(seed: int, share: float) -> None:
    world = SandboxWorld(seed, 0.1, altered_share=share)
    may, is_altered = eligible(world), altered(world)
    assert not (is_altered & ~may).any()
    assert abs(int(is_altered.sum()) - share * int(may.sum())) <= 1


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_the_share_holds_under_the_own_id_and_under_others_of_each_track(seed: int) -> None:
    world = SandboxWorld(seed, 0.3)
    may, is_altered = eligible(world), altered(world)
    kind, score = world.sounds.kind[world.works.sound], world.sounds.score[world.works.sound]
    for track in range(world.track_count):
        for is_own in (True, False):
            group = may & (score == track) & ((kind == SoundKind.MAIN) == is_own)
            count = int((is_altered & group).sum())
            assert abs(count - ALTERED_SHARE * int(group.sum())) <= 1


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_the_four_alterations_are_equally_frequent(seed: int) -> None:
    world = SandboxWorld(seed, 0.2)
    count = Counter(world.works.alteration[altered(world)].tolist())
    assert set(count) == {kind.value for kind in Alteration if kind is not Alteration.NONE}
    assert max(count.values()) - min(count.values()) <= 1


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_a_replaced_sound_is_a_song_that_has_nothing_to_do_with_a_track(seed: int) -> None:
    world = SandboxWorld(seed, 0.1)
    is_replaced = world.works.alteration == Alteration.REPLACED
    titles = world.population.title_score
    assert (titles[world.works.replacement[is_replaced]] >= world.track_count).all()
    assert (world.works.replacement[~is_replaced] == -1).all()


def test_altered_share_changes_no_other_column_of_the_world() -> None:
    with_some, without = SandboxWorld(5, 0.1), SandboxWorld(5, 0.1, altered_share=0.0)
    assert not altered(without).any()
    for table in ("works", "sounds"):
        for field in fields(getattr(without, table)):
            if field.name not in {"alteration", "replacement"}:
                one, other = (
                    getattr(getattr(world, table), field.name) for world in (with_some, without)
                )
                np.testing.assert_array_equal(one, other)


def test_a_later_moment_keeps_the_share_and_what_was_altered() -> None:
    first = SandboxWorld(5, 0.1, altered_share=0.4)
    later = first.at(7 * 86_400)
    assert later.again.keywords["altered_share"] == 0.4
    count = len(first.works)
    np.testing.assert_array_equal(later.works.alteration[:count], first.works.alteration)
    assert not later.works.alteration[count:].any()


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_share_beyond_its_limits_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="altered"):
        SandboxWorld(1, 0.1, altered_share=share)


def truths() -> list[VideoTruth]:
    return [
        work for track in WORLD.tracks for work in GroundTruth(WORLD, track.music_id).works()
        if work.relation == "same"
    ]  # fmt: skip


def test_the_truth_tells_what_each_video_plays_and_whether_the_recording_is_in_it() -> None:
    heard = {
        "as_named": "same", "voiced_over": "same", "muted": "none", "silent": "none",
        "replaced": "none", "live": "cover",
    }  # fmt: skip
    works = truths()
    assert {work.sound for work in works} == set(heard)
    assert all(work.heard == heard[work.sound] for work in works)
    assert all(work.carries_recording == (work.sound in SOUNDS_WITH_RECORDING) for work in works)
    assert all(work.is_wanted == (work.is_public and work.carries_recording) for work in works)


def test_counts_are_of_what_is_heard_and_name_what_is_only_promised() -> None:
    for track in WORLD.tracks:
        truth = GroundTruth(WORLD, track.music_id)
        promised = [
            work for work in truth.works() if work.is_public and work.relation == "same"
        ]  # fmt: skip
        counts = truth.counts()
        assert counts["same"] == len(truth.wanted())
        assert counts["same"] + counts["misnamed"] == len(promised)
        assert counts["reachable"] == len(truth.reachable())


def test_a_song_that_replaces_another_is_heard_under_the_other_songs_id() -> None:
    row = first(Alteration.REPLACED, is_public=True).index
    work = WORLD.works.row(row)
    of_the_song = np.flatnonzero(WORLD.sounds.score == work.replacement)[0]
    truth = GroundTruth(WORLD, str(WORLD.sounds.music_id[of_the_song]))
    known = {one.aweme_id: one for one in truth.works()}
    assert (known[work.aweme_id].relation, known[work.aweme_id].heard) == ("none", "same")
    assert work.aweme_id in truth.wanted()


def test_an_id_under_which_nothing_carries_the_recording_is_never_confirmed() -> None:
    world = SandboxWorld(21, 0.2, altered_share=1.0)
    for track in world.tracks:
        truth = GroundTruth(world, track.music_id)
        carrying = {
            str(world.sounds.music_id[world.works.sound[row]]) for row in truth.wanted_rows()
        }
        met = {str(world.sounds.music_id[world.works.sound[row]]) for row in truth.rounds}
        assert met <= carrying | {track.music_id}


def first(alteration: Alteration, *, is_public: bool = False) -> SandboxVideo:
    rows = np.flatnonzero(WORLD.works.alteration == alteration)
    works = [WORLD.works.row(int(row)) for row in rows]
    return next(work for work in works if not is_public or work.state is VideoState.PUBLIC)


@pytest.fixture(scope="module")
def sound_cache(tmp_path_factory: pytest.TempPathFactory) -> SoundCache:
    return SoundCache(WORLD, tmp_path_factory.mktemp("sounds"))


def samples(sound_cache: SoundCache, work: SandboxVideo) -> np.ndarray:
    return render_video(WORLD.seed, work, WORLD.sounds.row(work.sound), sound_cache.base)


def test_a_muted_video_is_silent_and_as_long_as_its_sound(sound_cache: SoundCache) -> None:
    work = first(Alteration.MUTED)
    played = samples(sound_cache, work)
    assert not played.any()
    assert played.size / RATE == pytest.approx(
        WORLD.sounds.row(work.sound).duration_s, abs=0.01
    )  # fmt: skip


@pytest.mark.parametrize(
    ("alteration", "least", "most"),
    [
        (Alteration.REPLACED, -1.0, 0.4), (Alteration.LIVE, -1.0, 0.8),
        (Alteration.VOICED_OVER, 0.5, 1.0),
    ],
)  # fmt: skip
def test_a_video_is_as_like_the_sound_of_its_id_as_its_alteration_says(
    sound_cache: SoundCache, alteration: Alteration, least: float, most: float
) -> None:
    work = first(alteration)
    named = samples(sound_cache, replace(work, alteration=Alteration.NONE))
    played = samples(sound_cache, work)
    assert played.size == pytest.approx(named.size, rel=0.01)
    assert float(np.sqrt(np.mean(played**2))) > 0.02
    assert least <= chroma_correlation(named, played) <= most


def test_a_video_without_alteration_plays_the_file_of_its_music_id(sound_cache: SoundCache) -> None:
    row = int(np.flatnonzero(eligible(WORLD) & ~altered(WORLD))[0])
    work = WORLD.works.row(row)
    sound = WORLD.sounds.row(work.sound)
    assert sound_cache.video_file(work) == sound_cache.file(sound)
    assert played_sound(work, sound) == sound


def test_an_altered_video_has_a_file_of_its_own_with_the_same_bytes_each_time(
    sound_cache: SoundCache, tmp_path: Path
) -> None:
    work = first(Alteration.VOICED_OVER)
    made = sound_cache.video_file(work)
    assert made != sound_cache.path(WORLD.sounds.row(work.sound))
    assert made.read_bytes() == SoundCache(WORLD, tmp_path).video_file(work).read_bytes()
