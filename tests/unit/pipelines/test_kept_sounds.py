"""Sounds set aside for an excerpt do not outlive a killed scan for long."""

import os
import time
from pathlib import Path

from pipelines.scan.excerpts import remove_abandoned

DAY_S = 86_400.0


def test_only_what_was_set_aside_long_ago_is_removed(tmp_path: Path) -> None:
    for name, age_s in ((".kept-old", 2 * DAY_S), (".kept-new", 60.0), ("other", 2 * DAY_S)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() - age_s,) * 2)
    remove_abandoned(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {".kept-new", "other"}
