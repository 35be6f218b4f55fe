"""How many there are of everything, how they are found, and that it scales."""

import tracemalloc

import numpy as np
import pytest

from sandbox.world.content.tables import LAST_CARRYING, SoundKind, VideoState
from sandbox.world.world import (
    FIRST_SCREEN_SIZE,
    MUSIC_LIST_DEPTH,
    SEC_PREFIX,
    SandboxWorld,
)

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def world() -> SandboxWorld:
    return SandboxWorld(3, 1.0)


def test_a_world_of_size_one_has_its_tracks_accounts_and_works(world: SandboxWorld) -> None:
    assert world.track_count >= 24
    assert world.account_count == 300
    assert 4_500 <= len(world.works) <= 5_500


def test_a_track_has_a_typical_number_of_works_at_normal_speed(world: SandboxWorld) -> None:
    kind = world.sounds.kind[world.works.sound]
    score = world.sounds.score[world.works.sound]
    carrying = (kind <= LAST_CARRYING) & (world.works.state == VideoState.PUBLIC)
    per_track = [int((carrying & (score == track)).sum()) for track in range(world.track_count)]
    assert 60 <= float(np.median(per_track)) <= 110


@pytest.mark.parametrize("size", [0.1, 0.2, 0.3])
def test_a_small_world_keeps_its_tracks(size: float) -> None:
    assert SandboxWorld(4, size).track_count == 24


def test_fewer_tracks_come_when_asked_for() -> None:
    assert SandboxWorld(4, 0.1, tracks=3).track_count == 3


def test_every_kind_of_sound_exists(world: SandboxWorld) -> None:
    assert {SoundKind(kind) for kind in np.unique(world.sounds.kind)} == set(SoundKind)


def test_groups_of_reuploads_have_one_to_twelve_works(world: SandboxWorld) -> None:
    reuploads = np.flatnonzero(
        (world.sounds.kind == SoundKind.REUPLOAD) & (world.sounds.score < world.track_count)
    )
    sizes = np.bincount(world.works.sound, minlength=len(world.sounds))[reuploads]
    assert sizes.min() >= 1
    assert sizes.max() <= 12
    assert (sizes == 1).any()
    assert (sizes > 5).any()


def test_single_works_are_nearly_always_hinted(world: SandboxWorld) -> None:
    sizes = np.bincount(world.works.sound, minlength=len(world.sounds))
    kind, score = world.sounds.kind[world.works.sound], world.sounds.score[world.works.sound]
    single = (sizes[world.works.sound] == 1) & (kind <= LAST_CARRYING)
    single &= (score < world.track_count) & (kind != SoundKind.MAIN)
    assert (world.works.named_score[single] == score[single]).mean() > 0.9


def test_speeds_stay_within_what_people_do(world: SandboxWorld) -> None:
    sounds = world.sounds
    speed = sounds.speed[sounds.kind == SoundKind.SPEED]
    tempo = sounds.speed[sounds.kind == SoundKind.TEMPO]
    pitch = sounds.semitones[sounds.kind == SoundKind.PITCH]
    assert ((speed >= 0.78) & (speed <= 1.35) & (np.abs(speed - 1) >= 0.08)).all()
    assert ((np.abs(tempo - 1) >= 0.08) & (np.abs(tempo - 1) <= 0.12)).all()
    assert set(np.abs(pitch).tolist()) <= {1.0, 2.0, 3.0}


def test_every_sound_at_normal_speed_shares_enough_with_the_own_sound(world: SandboxWorld) -> None:
    sounds = world.sounds
    rows = np.flatnonzero((sounds.kind <= LAST_CARRYING) & (sounds.score >= 0))
    own = {sound.score: sound for sound in world.tracks}
    for row in rows:
        sound = sounds.row(int(row))
        main = own.get(sound.score)
        if main is None:
            continue
        begin = max(sound.start_s, main.start_s)
        end = min(sound.start_s + sound.carried_s, main.start_s + main.duration_s)
        assert end - begin >= min(sound.carried_s, 11.0) - 0.01


def test_ids_are_unique_and_lead_back(world: SandboxWorld) -> None:
    for row in (0, 17, len(world.works) - 1):
        work = world.works.row(row)
        assert world.video_of_id(work.aweme_id) == work
    for row in (0, 5, len(world.sounds) - 1):
        sound = world.sounds.row(row)
        found = world.sound_of(sound.music_id)
        assert found is not None
        assert found.index == row
    account = world.account(12)
    assert account.sec_uid.startswith(SEC_PREFIX)
    assert world.account_of(account.sec_uid) == 12


@pytest.mark.parametrize("text", ["", "7", "abc", "9" * 30, "７" * 19, "-1", "1e5", "9" * 19])
def test_an_id_that_nobody_has_leads_nowhere(world: SandboxWorld, text: str) -> None:
    assert world.video_of_id(text) is None
    assert world.sound_of(text) is None
    assert world.account_of(text) is None


def test_lists_end_at_the_visible_depth_and_screens_at_twenty(world: SandboxWorld) -> None:
    depths = [world.music_list(sound.index).size for sound in world.tracks]
    screens = [world.first_screen(account).size for account in range(world.account_count)]
    assert max(depths) == MUSIC_LIST_DEPTH
    assert max(screens) == FIRST_SCREEN_SIZE


def test_pinned_works_come_first_and_then_the_newest(world: SandboxWorld) -> None:
    pinned = world.works.is_pinned
    for account in range(40):
        rows = world.videos_by_account(account)
        flags = pinned[rows].tolist()
        assert flags == sorted(flags, reverse=True)
        times = world.works.create_time[rows[~pinned[rows]]].tolist()
        assert times == sorted(times, reverse=True)


def test_counts_are_heavy_tailed_and_new_works_have_none(world: SandboxWorld) -> None:
    likes = world.works.digg_count
    assert likes.max() > 1000 * float(np.median(likes))
    assert (likes[world.works.create_time > world.now - 600] == 0).all()
    assert (world.works.create_time <= world.now).all()


def test_some_hidden_works_are_still_listed(world: SandboxWorld) -> None:
    hidden = world.works.state != VideoState.PUBLIC
    assert (hidden & world.works.is_listed).any()
    assert (hidden & ~world.works.is_listed).any()
    assert world.works.is_listed[~hidden].all()


@pytest.mark.parametrize("size", [10, pytest.param(40, marks=pytest.mark.soak)])
def test_a_large_world_is_built_in_little_memory(size: int) -> None:
    """At 40 it is the world of `make load`."""
    tracemalloc.start()
    large = SandboxWorld(9, size)
    large.music_list(large.tracks[0].index)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(large.works) > 4_750 * size
    assert np.unique(large.works.aweme_id).size == len(large.works)
    assert peak < 10e6 * size
