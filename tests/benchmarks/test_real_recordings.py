"""The list of real recordings, what is done to them, and how their files are checked."""

import hashlib
from collections import Counter
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from benchmarks.accuracy.pairs import draw_unrelated, list_pairs
from benchmarks.accuracy.real.library import (
    faults,
    have_same_music,
    is_intact,
    listed_files,
    packages,
    speakers,
)
from benchmarks.accuracy.real.mixes import LEAD, SHARED, Layer, Mix, list_mixes, mixed
from benchmarks.accuracy.real.plan import cases_of, plan, real_tracks
from benchmarks.accuracy.sounds import edits
from benchmarks.accuracy.sounds.clips import clips_of
from benchmarks.accuracy.sounds.tracks import Part
from sandbox.world.sound.instruments import RATE, Samples

PARTS: tuple[Part, ...] = ("choosing", "reported")


def test_there_are_sixty_recordings_of_ten_genres_to_report_on() -> None:
    reported = [file for file in listed_files("music") if file.part == "reported"]
    assert len(reported) >= 60
    assert len({file.genre for file in reported}) >= 10


def test_each_listed_file_states_its_licence_and_hash() -> None:
    files = listed_files()
    assert all(file.licence and len(file.sha256) == 64 for file in files)
    assert len({file.place for file in files}) == len(files)
    music = [file.name for file in listed_files("music")]
    assert len(set(music)) == len(music)


def test_no_song_and_no_speaker_is_in_both_parts() -> None:
    assert not set(speakers("choosing")) & set(speakers("reported"))
    songs = {(file.name.rsplit("_", 1)[0], file.part) for file in listed_files("stems")}
    assert len({song for song, _ in songs}) == len(songs)


@pytest.mark.parametrize("part", PARTS)
def test_each_edit_is_tried_on_every_recording_of_a_part(part: Part) -> None:
    tracks = real_tracks(part)
    recordings = len({track.recording for track in tracks})
    counts = Counter((case.family, case.label) for track in tracks for case in cases_of(track))
    assert counts["wow and flutter, 0.7 Hz", "0.3 %"] == 2 * recordings
    assert counts["edited clip, heard for", "4 s"] == recordings
    assert counts["one channel inverted", ""] == recordings
    files = [clip.file for track in tracks for clip in plan(track)]
    assert len(set(files)) == len(files)


def test_labelled_pairs_of_real_recordings_have_real_voices_and_no_covers() -> None:
    tracks = [track for track in real_tracks("reported") if not track.score]
    pairs = list_pairs(tracks)
    assert not any("cover" in pair.family for pair in pairs)
    steps = {name for track in tracks for clip in clips_of(track) for name, _ in clip.steps}
    assert "voice of another person" in steps
    assert "voice" not in steps


def test_the_band_of_a_recording_is_never_drawn_as_unrelated() -> None:
    tracks = [track for track in real_tracks("reported") if not track.score]
    band = {clip.file for track in tracks for clip in clips_of(track) if clip.work == "band"}
    assert band
    assert not band & {file for pair in draw_unrelated(tracks, 4000) for file in pair}


def test_recordings_with_the_same_music_are_of_one_part_and_never_drawn_as_unrelated() -> None:
    tracks = [track for track in real_tracks("reported") if not track.score]
    alike = {
        (one.name, two.name)
        for one, two in permutations(tracks, 2)
        if have_same_music(one.recording, two.recording)
    }
    assert ("drascula_track30", "drascula_track1") in alike
    assert len(alike) == 2 * sum(bool(file.same_music_as) for file in listed_files("music"))
    drawn = draw_unrelated(tracks, 4000)
    assert not alike & {(one.split("/")[0], two.split("/")[0]) for one, two in drawn}


@pytest.mark.parametrize("part", PARTS)
def test_songs_that_share_a_sound_are_of_one_part_and_not_the_same_song(part: Part) -> None:
    parts = {file.name: file.part for file in listed_files() if file.kind != "voice"}
    pairs = list_mixes(part)
    assert {pair.family for pair in pairs} == set(SHARED)
    sources = {
        layer.source for pair in pairs for mix in (pair.reference, pair.candidate)
        for layer in mix.layers
    }  # fmt: skip
    assert {parts[source] for source in sources if source in parts} == {part}
    assert sources - set(parts) == set(speakers(part))
    for pair in pairs:
        first = {layer.source for layer in pair.reference.layers}
        second = {layer.source for layer in pair.candidate.layers}
        assert first & second


def test_at_least_a_hundred_mash_ups_are_reported() -> None:
    assert sum(pair.family == LEAD for pair in list_mixes("reported")) >= 100


def test_a_mix_has_its_layers_at_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    tone = np.sin(np.arange(RATE) * 0.05).astype(np.float32)
    monkeypatch.setattr("benchmarks.accuracy.real.mixes._source", lambda *_: tone)
    layers = (
        Layer(source="a", from_s=0.0, length_s=1.0),
        Layer(source="b", from_s=0.5, length_s=1.0, at_s=2.0, level_db=6.0),
    )
    out = mixed(Mix(name="two", layers=layers), Path())
    first, pause, second = (out[at * RATE : (at + 1) * RATE] for at in range(3))
    assert np.abs(pause).max() == 0
    assert np.std(second) / np.std(first) == pytest.approx(2.0, rel=0.02)


def test_a_file_that_differs_from_the_list_is_named(tmp_path: Path) -> None:
    listed = listed_files("music")[0]
    path = tmp_path / listed.place
    path.parent.mkdir(parents=True)
    path.write_bytes(b"another edition")
    lines = faults(tmp_path)
    assert any(str(listed.place) in line and "Delete it" in line for line in lines)
    assert f"{packages()[1]} is missing: run `make setup-bench-audio`." in lines
    same = replace(listed, sha256=hashlib.sha256(b"another edition").hexdigest())
    assert is_intact(same, tmp_path)


def tone(seconds: float = 4.0) -> Samples:
    time = np.arange(int(seconds * RATE)) / RATE
    return np.asarray(np.sin(2 * np.pi * (300 + 50 * time) * time), dtype=np.float32)


def test_a_fast_clock_shortens_the_sound_by_its_percentage() -> None:
    played = edits.with_clock(tone(), 0.1, np.random.default_rng(1))
    assert tone().size - played.size == pytest.approx(0.001 * tone().size, abs=2)


def test_a_drift_ends_at_its_speed() -> None:
    drifted = edits.with_drift(tone(), 1.03, np.random.default_rng(1))
    assert tone().size / drifted.size == pytest.approx(1.015, abs=0.001)


def test_wow_and_resynchronising_leave_the_length_and_move_the_time() -> None:
    for edit, value, most_ms in ((edits.with_wow, 0.4, 2.5), (edits.resynchronised, 5.0, 5.5)):
        moved = edit(tone(), value, np.random.default_rng(2))
        assert abs(moved.size - tone().size) < most_ms * RATE / 1000
        assert not np.allclose(moved[: RATE // 2], tone()[: RATE // 2], atol=0.01)


def test_what_a_variable_frame_rate_gains_is_lost_again() -> None:
    conformed = edits.with_variable_frames(tone(12), 0.5, np.random.default_rng(3))
    assert abs(conformed.size - tone(12).size) < 0.005 * 1.2 * RATE


def test_blocks_are_dropped_and_doubled_whole() -> None:
    block = int(0.02 * RATE)
    blocks = np.repeat(np.arange(200, dtype=np.float32), block)
    lost = edits.with_lost_blocks(blocks, 5.0, np.random.default_rng(4))
    counts = Counter(lost[::block].astype(int))
    assert set(counts.values()) == {1, 2}
    assert len(counts) < 200


def test_one_channel_is_inverted() -> None:
    both = np.stack((tone(), 2 * tone()))
    left, right = edits.with_inverted_channel(both, 0, np.random.default_rng(5))
    assert np.array_equal(left, tone())
    assert np.array_equal(right, -2 * tone())
