"""Sounds are kept for excerpts, and gone afterwards, whatever happens; no failure ends a scan."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import MeasuredVideo, ScanState, SoundWorkspace
from pipelines.scan.verify_audio import cut_group_excerpts, finish_cutting, keep_sound
from warehouse.caches import ExcerptFolder
from warehouse.records.evidence import Comparison, MatchThresholds, PairEvidence
from warehouse.records.videos import Video

CONFIRMED = PairEvidence(
    verdict="confirmed", reason="whole_rule_met", overlap_s=6.0, score=0.9,
    reference_start_s=0.0, candidate_start_s=0.0, speed=1.0, semitones=0.0,
)  # fmt: skip
COMPARED = Comparison(
    comparison_id="1", reference_aweme_id="r", candidate_aweme_id="c", reference_music_id="own",
    candidate_music_id="m", pair=CONFIRMED, limits=MatchThresholds(), algorithm="a",
    feature_version="f", library_version="l",
)  # fmt: skip


def video_of(name: str) -> Video:
    return Video(
        aweme_id=name, surface="video_detail", observed_at=datetime(2026, 1, 1, tzinfo=UTC)
    )


MEASURED = [cast("MeasuredVideo", SimpleNamespace(video=video_of("c")))]


class Encoder:
    """Cuts excerpts: an encoded one, none, or an error; for `held` it never ends."""

    def __init__(self, answer: bytes | OSError | None, *, is_held: bool) -> None:
        self._answer = answer
        self._is_held = is_held
        self.asked: list[Path] = []
        self.has_begun = asyncio.Event()

    async def cut(self, path: Path, *, start_s: float, duration_s: float) -> bytes | None:
        assert (start_s, duration_s) == (0.0, 7.0)
        self.asked.append(path)
        self.has_begun.set()
        if self._is_held:
            await asyncio.Event().wait()
        if isinstance(self._answer, OSError):
            raise self._answer
        return self._answer


class CuttingScan:
    """The part of a scan that excerpts need."""

    def __init__(
        self, folder: Path, answer: bytes | OSError | None = None, *, most: int = 1000,
        is_held: bool = False,
    ) -> None:  # fmt: skip
        self.job = SimpleNamespace(job_id="job")
        self.sounds = SoundWorkspace()
        self.state = ScanState(sound_hashes={"r": "a" * 64, "c": "b" * 64})
        self.decoders = Encoder(answer, is_held=is_held)
        self.excerpts = ExcerptFolder(
            folder=folder / "excerpts", max_bytes=most, max_age_s=86_400.0
        )
        self.home = SimpleNamespace(sounds_dir=folder)
        self.runtime = self.stopwatch = self
        self.is_over = False

    def is_cancelled(self) -> bool:
        return self.is_over

    def waiting(self, kind: str) -> AbstractContextManager[None]:
        assert kind == "audio"
        return nullcontext()

    @property
    def run(self) -> ScanRun:
        return cast("ScanRun", self)

    async def keep(self, *names: str) -> None:
        for name in names:
            path = self.home.sounds_dir / f"{name}.m4a"
            path.touch()
            await keep_sound(self.run, video_of(name), path)


def files_of(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


async def cut(scan: CuttingScan, pairs: Sequence[Comparison] = (COMPARED,)) -> None:
    await scan.keep("r", "c")
    cut_group_excerpts(scan.run, MEASURED, pairs)
    await finish_cutting(scan.run)


async def test_without_room_for_excerpts_a_sound_is_deleted_at_once(tmp_path: Path) -> None:
    scan = CuttingScan(tmp_path, most=0)
    await scan.keep("c")
    assert (scan.sounds.files, files_of(tmp_path)) == ({}, [])


async def test_a_sound_that_an_earlier_run_has_kept_is_found_again(tmp_path: Path) -> None:
    scan = CuttingScan(tmp_path)
    await scan.keep("c")
    scan.sounds.files.clear()
    await keep_sound(scan.run, video_of("c"), tmp_path / "c.m4a")
    assert scan.sounds.files == {"c": tmp_path / ".kept-job-c.m4a"}


async def test_a_sound_that_another_scan_has_removed_is_not_waited_for(tmp_path: Path) -> None:
    scan = CuttingScan(tmp_path)
    await keep_sound(scan.run, video_of("c"), tmp_path / "c.m4a")
    assert scan.sounds.files == {}


async def test_both_excerpts_of_a_pair_are_stored_and_the_sounds_are_gone(tmp_path: Path) -> None:
    scan = CuttingScan(tmp_path, b"encoded")
    await cut(scan)
    assert files_of(tmp_path) == [f"{'a' * 64}-0-7000.mp3", f"{'b' * 64}-0-7000.mp3"]
    assert scan.sounds.files == {}


async def test_a_sound_that_cannot_be_encoded_has_no_excerpt(tmp_path: Path) -> None:
    scan = CuttingScan(tmp_path, None)
    await cut(scan)
    assert len(scan.decoders.asked) == 2
    assert files_of(tmp_path) == []


async def test_a_sound_that_is_not_kept_has_no_excerpt(tmp_path: Path) -> None:
    scan = CuttingScan(tmp_path, b"encoded")
    await scan.keep("c")
    cut_group_excerpts(scan.run, MEASURED, [COMPARED])
    await finish_cutting(scan.run)
    assert files_of(tmp_path) == [f"{'b' * 64}-0-7000.mp3"]


async def test_a_full_disk_loses_an_excerpt_and_no_scan(tmp_path: Path) -> None:
    scan = CuttingScan(tmp_path, OSError(28, "No space left on device"))
    await cut(scan)
    assert len(scan.decoders.asked) == 1
    assert (scan.sounds.files, files_of(tmp_path)) == ({}, [])


async def test_the_cuts_of_a_cancelled_scan_are_given_up(tmp_path: Path) -> None:
    scan = CuttingScan(tmp_path, is_held=True)
    await scan.keep("r", "c")
    cut_group_excerpts(scan.run, MEASURED, [COMPARED])
    [task] = scan.sounds.cutting
    await scan.decoders.has_begun.wait()
    scan.is_over = True
    await finish_cutting(scan.run)
    assert task.cancelled()
    assert (scan.sounds.cutting, scan.sounds.files, files_of(tmp_path)) == ([], {}, [])


async def test_a_folder_that_cannot_be_trimmed_ends_no_scan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[Path] = []

    def refuse(folder: ExcerptFolder) -> None:
        tried.append(folder.folder)
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(ExcerptFolder, "delete_surplus", refuse)
    scan = CuttingScan(tmp_path)
    await scan.keep("c")
    await finish_cutting(scan.run)
    assert tried == [tmp_path / "excerpts"]
    assert (scan.sounds.files, files_of(tmp_path)) == ({}, [])
