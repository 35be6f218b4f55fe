"""Sounds that a scan has downloaded do not outlive it for long if it is killed."""

import os
import time
from pathlib import Path

from pipelines.scan.verify_audio import remove_abandoned

DAY_S = 86_400.0


SOUND = 64 * "a" + "-7000.mp4"


def test_only_sounds_that_were_left_long_ago_are_removed(tmp_path: Path) -> None:
    names = (".kept-job-7000.mp4", ".part-ab12", SOUND, "other")
    for age, age_s in (("new", 60.0), ("old", 2 * DAY_S)):
        for name in names:
            path = tmp_path / f"{name}{age}"
            path.touch()
            os.utime(path, (time.time() - age_s,) * 2)
    remove_abandoned(tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {*(f"{name}new" for name in names), "otherold"}


def test_a_folder_that_a_killed_service_left_is_removed_and_does_not_end_the_removal(
    tmp_path: Path,
) -> None:
    (tmp_path / ".kept-abcd").mkdir()
    (tmp_path / ".kept-abcd" / SOUND).touch()
    (tmp_path / SOUND).touch()
    for path in (tmp_path / ".kept-abcd", tmp_path / SOUND):
        os.utime(path, (time.time() - 2 * DAY_S,) * 2)
    remove_abandoned(tmp_path)
    assert list(tmp_path.iterdir()) == []
