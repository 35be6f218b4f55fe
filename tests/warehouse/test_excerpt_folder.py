"""Excerpts are kept within a size and an age, the newest longest."""

import os
import time
from pathlib import Path

import pytest

from tests.audio.made_sounds import made_mp3
from warehouse.caches import ExcerptFolder
from warehouse.records.evidence import Excerpt

DAY_S = 86_400.0
SOUND = made_mp3(b"sound")


def excerpt(number: int) -> Excerpt:
    return Excerpt(sha256=f"{number:064x}", start_s=1.5, duration_s=8.0)


def folder(tmp_path: Path, *, max_bytes: int = 1000) -> ExcerptFolder:
    return ExcerptFolder(folder=tmp_path / "excerpts", max_bytes=max_bytes, max_age_s=DAY_S)


def grow_old(kept: ExcerptFolder, number: int, *, age_s: float) -> None:
    path = next(kept.folder.glob(f"{number:064x}-*"))
    os.utime(path, (time.time() - age_s,) * 2)


def test_excerpt_folder_reads_back_what_was_written(tmp_path: Path) -> None:
    kept = folder(tmp_path)
    assert kept.read(excerpt(1)) is None
    kept.write(excerpt(1), SOUND)
    assert kept.has(excerpt(1))
    assert kept.read(excerpt(1)) == SOUND
    assert not kept.has(excerpt(2))


def test_the_oldest_go_when_the_size_is_reached(tmp_path: Path) -> None:
    kept = folder(tmp_path)
    for number in range(4):
        kept.write(excerpt(number), made_mp3(bytes(400)))
        grow_old(kept, number, age_s=100.0 - number)
    kept.delete_surplus()
    assert [kept.has(excerpt(number)) for number in range(4)] == [False, False, True, True]


def test_old_excerpts_are_neither_read_nor_kept(tmp_path: Path) -> None:
    kept = folder(tmp_path)
    kept.write(excerpt(1), SOUND)
    grow_old(kept, 1, age_s=2 * DAY_S)
    assert kept.read(excerpt(1)) is None
    kept.delete_surplus()
    assert list(kept.folder.iterdir()) == []


def test_excerpt_folder_of_size_zero_keeps_nothing(tmp_path: Path) -> None:
    kept = folder(tmp_path, max_bytes=0)
    kept.delete_surplus()
    kept.write(excerpt(1), SOUND)
    kept.delete_surplus()
    assert not kept.has(excerpt(1))


def test_only_a_hash_names_a_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="hash"):
        folder(tmp_path).has(Excerpt(sha256="../../etc", start_s=0.0, duration_s=1.0))


@pytest.mark.parametrize("damaged", [b"", SOUND[:-1], SOUND[:10], b"garbage" * 20])
def test_a_damaged_one_counts_as_missing(tmp_path: Path, damaged: bytes) -> None:
    kept = folder(tmp_path)
    kept.write(excerpt(1), damaged)
    assert not kept.has(excerpt(1))
    assert kept.read(excerpt(1)) is None
    kept.write(excerpt(1), SOUND)
    assert kept.read(excerpt(1)) == SOUND
