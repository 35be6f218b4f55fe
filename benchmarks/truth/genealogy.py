"""Genealogy of music ids against what generated worlds know: order of birth, kind, source, copy.

`python -m benchmarks.truth.genealogy [--seeds 1,2,3] [--size 0.3] [--tracks 4]`. No platform, no
scan and no sound: what a scan with a perfect matcher would store of each track is written to a lake
in this process, of the videos alone that a guest can reach, and the view is asked.
"""

import argparse
import itertools
import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sandbox.mock.records import WorldSnapshot, to_detail, to_track
from sandbox.world.content.tables import SandboxSound
from sandbox.world.ground_truth import GroundTruth, VideoTruth, relation_of
from sandbox.world.world import SandboxWorld
from warehouse import open_warehouse
from warehouse.home import open_home
from warehouse.lake.record_rows import observation_row, video_row
from warehouse.lake.store import Lake, open_lake
from warehouse.records.videos import Video
from warehouse.tables import BY_NAME

_ORIGIN: dict[str, Any] = {"capture_id": None, "job_id": None, "data_provider": "mock"}
type Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Share:
    """How many of some answers are right."""

    right: int = 0
    total: int = 0

    def __add__(self, other: "Share") -> "Share":
        return Share(self.right + other.right, self.total + other.total)

    @property
    def value(self) -> float:
        """The share; 1 of nothing."""
        return self.right / self.total if self.total else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GenealogyScore:
    """What is right of the genealogies of some tracks.

    Attributes:
        order: Pairs of music ids of a track in the order of their births. An unknown birth is
            wrong.
        kind: Kinds.
        source: Source videos that are named, of original sounds.
        source_known: Original sounds whose source video is named, of those with one.
        uploader: Uploaders that are named.
        copy: Ids with the oldest linked id as what they copy, the oldest with none.
        link: Ids that the world says carry the recording.
        name: Of these, ids linked by their name alone.
    """

    order: Share = field(default_factory=Share)
    kind: Share = field(default_factory=Share)
    source: Share = field(default_factory=Share)
    source_known: Share = field(default_factory=Share)
    uploader: Share = field(default_factory=Share)
    copy: Share = field(default_factory=Share)
    link: Share = field(default_factory=Share)
    name: Share = field(default_factory=Share)

    def __add__(self, other: "GenealogyScore") -> "GenealogyScore":
        return GenealogyScore(
            **{one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(self)}
        )


def main() -> None:
    """Judge the genealogies of drawn worlds, and print each world and all together."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="")
    parser.add_argument("--size", type=float, default=0.3)
    parser.add_argument("--tracks", type=int, default=4)
    options = parser.parse_args()
    seeds = [int(part) for part in options.seeds.split(",") if part] or _draw()
    total = GenealogyScore()
    for seed in seeds:
        with TemporaryDirectory() as folder:
            found = judge_world(Path(folder), seed=seed, size=options.size, tracks=options.tracks)
        print(f"seed {seed}: {_line(found)}")
        total += found
    print(f"all {len(seeds)} worlds: {_line(total)}")


def judge_world(folder: Path, *, seed: int, size: float, tracks: int) -> GenealogyScore:
    """Store what guests can reach of a world's first tracks, and judge their genealogies."""
    world = SandboxWorld(seed, size)
    home = open_home(folder, "sandbox")
    lake = open_lake(home.lake_url, world="sandbox")
    asked = world.tracks[:tracks]
    truths = {one.music_id: GroundTruth(world, one.music_id).works() for one in asked}
    for sound in asked:
        _store(lake, world, sound, truths[sound.music_id])
    with open_warehouse(home.root) as wh:
        rows = wh.table("marts.genealogy").rows()
    return sum(
        (
            _judge(world, one, [row for row in rows if row["track_music_id"] == one.music_id])
            for one in asked
        ),
        GenealogyScore(),
    )


def _draw() -> list[int]:
    return [random.SystemRandom().randrange(1, 1_000_000) for _ in range(10)]


def _line(score: GenealogyScore) -> str:
    return ", ".join(
        f"{one.name.replace('_', ' ')} {share.right}/{share.total} = {share.value:.4f}"
        for one in fields(score)
        for share in (getattr(score, one.name),)
    )


def _store(lake: Lake, world: SandboxWorld, sound: SandboxSound, truth: list[VideoTruth]) -> None:
    """Write the rows of one scan with a perfect matcher."""
    at = datetime.fromtimestamp(world.now, UTC)
    view = WorldSnapshot(world=world, observed_at=at, link_of=lambda _: "")
    stamp = {"committed_at": at + timedelta(minutes=1)}
    met = [one for one in truth if one.is_public and one.round is not None]
    own = next((one for one in met if one.music_id == sound.music_id), None)
    track = {**observation_row(to_track(view, sound), **_ORIGIN), **stamp}
    lake.append("raw.tracks", [track])
    lake.append("raw.videos", [{**row, **stamp} for row in _observed(view, met)])
    confirmed = [one for one in met if one.carries_recording]
    pairs = [
        _pair(sound, own, one) | stamp
        for one in confirmed
        if own is not None and one.music_id != sound.music_id
    ]
    lake.append("marts.audio_comparisons", pairs)
    lake.append("marts.confirmed_videos", [_confirmed(sound, one) | stamp for one in confirmed])
    result: Row = {
        "job_id": sound.music_id, "music_id": sound.music_id, "document": b"x",
        "confirmed_count": len(confirmed), "algorithm": "a",
    }  # fmt: skip
    lake.append("marts.job_results", [result | stamp])


def _observed(view: WorldSnapshot, met: list[VideoTruth]) -> Iterator[Row]:
    for one in met:
        work = view.world.video_of_id(one.aweme_id)
        assert work is not None
        video = to_detail(view, work)
        assert isinstance(video, Video)
        yield video_row(video, **_ORIGIN)


def _confirmed(sound: SandboxSound, one: VideoTruth) -> Row:
    is_own = one.music_id == sound.music_id
    return {
        "music_id": sound.music_id, "aweme_id": one.aweme_id, "job_id": sound.music_id,
        "link_type": "exact_music_id" if is_own else "audio_fingerprint_match",
        "source_music_id": one.music_id, "source_music_title": None, "sec_uid": one.sec_uid,
        "comparison_id": None if is_own else f"{sound.music_id}-{one.aweme_id}",
        "reference_aweme_id": None, "expansion_round": one.round, "algorithm": "a",
    }  # fmt: skip


def _pair(sound: SandboxSound, own: VideoTruth, one: VideoTruth) -> Row:
    unknown = dict.fromkeys(column.name for column in BY_NAME["marts.audio_comparisons"].columns)
    return unknown | {
        "comparison_id": f"{sound.music_id}-{one.aweme_id}", "job_id": sound.music_id,
        "track_music_id": sound.music_id, "reference_aweme_id": own.aweme_id,
        "candidate_aweme_id": one.aweme_id, "reference_music_id": sound.music_id,
        "candidate_music_id": one.music_id, "verdict": "confirmed", "reason": "perfect",
        "score": 1.0, "limits": json.dumps({}), "algorithm": "a", "feature_version": "f",
        "library_version": "l",
    }  # fmt: skip


def _judge(world: SandboxWorld, asked: SandboxSound, rows: list[Row]) -> GenealogyScore:
    sounds = {row["music_id"]: world.sound_of(row["music_id"]) for row in rows}
    known = {music_id: sound for music_id, sound in sounds.items() if sound is not None}
    assert len(known) == len(rows)
    born = {music_id: _first_post(world, sound) for music_id, sound in known.items()}
    oldest = min(born, key=lambda music_id: (born[music_id], music_id))
    sources = {music_id: _source(world, sound) for music_id, sound in known.items()}
    found = {row["music_id"]: row for row in rows}
    named = [row for row in rows if row["source_aweme_id"] is not None]
    uploaders = [row for row in rows if row["sec_uid"] is not None]
    return GenealogyScore(
        order=_order(found, born),
        kind=_count(row["kind"] == _kind(known[row["music_id"]], asked) for row in rows),
        source=_count(row["source_aweme_id"] == sources[row["music_id"]] for row in named),
        source_known=_count(
            found[music_id]["source_aweme_id"] is not None
            for music_id, source in sources.items()
            if source is not None
        ),
        uploader=_count(
            row["sec_uid"] == world.sec_uid(known[row["music_id"]].owner) for row in uploaders
        ),
        copy=_count(
            row["copy_of_music_id"] == (None if row["music_id"] == oldest else oldest)
            for row in rows
        ),
        link=_count(_is_same(world, known[row["music_id"]], asked) for row in rows),
        name=_count(
            _is_same(world, known[row["music_id"]], asked)
            for row in rows
            if row["evidence"] == "name"
        ),
    )


def _is_same(world: SandboxWorld, sound: SandboxSound, asked: SandboxSound) -> bool:
    return relation_of(world, sound, asked) == "same"


def _order(found: dict[str, Row], born: dict[str, int]) -> Share:
    """Count the pairs whose births are known and in the order of the first posts."""
    return _count(
        None not in (times := (found[one]["created_at"], found[other]["created_at"]))
        and (times[0] < times[1]) == (born[one] < born[other])
        for one, other in itertools.combinations(sorted(found), 2)
        if born[one] != born[other]
    )


def _count(answers: Iterable[bool]) -> Share:
    known = list(answers)
    return Share(sum(known), len(known))


def _first_post(world: SandboxWorld, sound: SandboxSound) -> int:
    """Return when the first video with a sound was published, hidden ones included.

    It is the world's plan, which the time in the music id follows.
    """
    return int(world.works.create_time[world.works.sound == sound.index].min())


def _source(world: SandboxWorld, sound: SandboxSound) -> str | None:
    row = world.source_video(sound.index)
    return None if row is None else str(world.works.aweme_id[row])


def _kind(sound: SandboxSound, asked: SandboxSound) -> str:
    if sound.index == asked.index:
        return "own_id"
    return "original_sound" if sound.owner >= 0 else "library"


if __name__ == "__main__":
    main()
