"""One seed is one world, whatever process asks, and in whatever order."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.world.content.examples import VIDEO_IDS
from sandbox.world.random_streams import scattered, stream, timed_ids
from sandbox.world.sound.sound_cache import SoundCache
from sandbox.world.world import SandboxWorld

pytestmark = pytest.mark.full

_PRINT_WORLD = """
import hashlib, json, sys
from pathlib import Path
from sandbox.world.sound.sound_cache import SoundCache
from sandbox.world.ground_truth import GroundTruth
from sandbox.world.world import SandboxWorld

world = SandboxWorld(11, 0.1)
digest = hashlib.sha256()
for table in (world.works, world.sounds):
    for name in table.__dataclass_fields__:
        digest.update(getattr(table, name).tobytes())
for index in range(40):
    digest.update(world.caption(world.works.row(index)).encode())
    digest.update(repr(world.account(index % world.account_count)).encode())
truth = GroundTruth(world, world.tracks[3].music_id)
digest.update(repr(truth.works()).encode())
sound = hashlib.sha256(SoundCache(world, Path(sys.argv[1])).file(world.tracks[3]).read_bytes())
print(json.dumps([digest.hexdigest(), sound.hexdigest()]))
"""


def test_a_process_with_another_hash_seed_sees_the_same_world_and_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other_seed = "1" if os.environ.get("PYTHONHASHSEED") == "4242" else "4242"
    there = subprocess.run(
        [sys.executable, "-c", _PRINT_WORLD, str(tmp_path / "there")],
        env={**os.environ, "PYTHONHASHSEED": other_seed},
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    monkeypatch.setattr(sys, "argv", ["-c", str(tmp_path / "here")])
    exec(_PRINT_WORLD, {})
    here = capsys.readouterr().out
    assert [len(digest) for digest in json.loads(here)] == [64, 64]
    assert here == there


def test_another_seed_is_another_world() -> None:
    one, other = SandboxWorld(1, 0.1), SandboxWorld(2, 0.1)
    shared = set(one.works.aweme_id.tolist()) & set(other.works.aweme_id.tolist())
    assert shared == set(VIDEO_IDS.tolist())


def test_order_of_questions_changes_no_answer() -> None:
    forwards, backwards = SandboxWorld(5, 0.1), SandboxWorld(5, 0.1)
    rows = range(len(forwards.works))
    there = [forwards.caption(forwards.works.row(row)) for row in rows]
    back = [backwards.caption(backwards.works.row(row)) for row in reversed(rows)]
    assert there == list(reversed(back))


def test_a_sound_has_the_same_bytes_whatever_was_rendered_before(tmp_path: Path) -> None:
    world = SandboxWorld(5, 0.1)
    rows = [world.sounds.row(index) for index in range(4)]
    straight = SoundCache(world, tmp_path / "straight")
    reversed_ = SoundCache(world, tmp_path / "reversed")
    there = [straight.file(sound).read_bytes() for sound in rows]
    back = [reversed_.file(sound).read_bytes() for sound in reversed(rows)]
    assert there == list(reversed(back))


@given(count=st.integers(0, 3000), salt=st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_scattered_numbers_never_repeat_and_fit_32_bits(count: int, salt: int) -> None:
    numbers = scattered(count, salt=salt)
    assert len(set(numbers.tolist())) == count
    assert all(0 <= number < 2**32 for number in numbers.tolist())


@given(st.lists(st.integers(1_700_000_000, 1_770_000_000), min_size=1, max_size=50))
@settings(deadline=None)
def test_ids_have_19_digits_and_tell_their_time(times: list[int]) -> None:
    ids = timed_ids(np.asarray(times, dtype=np.int64), salt=7)
    assert all(len(str(value)) == 19 for value in ids.tolist())
    assert [value >> 32 for value in ids.tolist()] == times


def test_streams_of_other_kinds_and_indexes_differ() -> None:
    drawn = [
        stream(1, "a").integers(2**60),
        stream(1, "b").integers(2**60),
        stream(1, "a", 0).integers(2**60),
        stream(1, "a", 1).integers(2**60),
        stream(2, "a").integers(2**60),
    ]
    assert len(set(map(int, drawn))) == len(drawn)


@pytest.mark.parametrize(
    ("seed", "size", "tracks"), [(-1, 1.0, None), (1, 0.0, None), (1, 0.1, 31), (1, 1.0, 0)]
)
def test_a_world_that_cannot_be_is_refused(seed: int, size: float, tracks: int | None) -> None:
    with pytest.raises(ValueError, match=r"seed|tracks"):
        SandboxWorld(seed, size, tracks=tracks)
