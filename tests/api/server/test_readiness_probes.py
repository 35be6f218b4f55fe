"""What the probes of the disk say."""

import errno
import os
from pathlib import Path

import pytest

from api.server.health import probe_disk, probe_writable
from warehouse import files


def test_a_folder_that_can_be_written_is_fine_and_stays_as_it_was(tmp_path: Path) -> None:
    assert probe_writable(tmp_path) is None
    assert [*tmp_path.iterdir()] == []


def test_a_folder_that_is_gone_is_reported_without_its_path(tmp_path: Path) -> None:
    said = probe_writable(tmp_path / "gone")
    assert said == "the data home: it cannot be written (No such file or directory)"


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.EROFS, "it is read-only for this process"),
        (errno.EACCES, "it is read-only for this process"),
        (errno.EPERM, "it is read-only for this process"),
        (errno.EIO, f"it cannot be written ({os.strerror(errno.EIO)})"),
    ],
    ids=["file system", "access", "permission", "broken device"],
)
def test_a_disk_that_refuses_a_file_is_reported_with_the_reason(
    number: int, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> object:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(files, "TemporaryFile", refuse)
    assert probe_writable(tmp_path) == f"the data home: {reason}"


def test_too_little_space_is_reported_in_megabytes(tmp_path: Path) -> None:
    assert probe_disk(tmp_path, min_free_mb=0)() is None
    said = probe_disk(tmp_path, min_free_mb=10**12)()
    assert said is not None
    assert said.endswith("MB free, 1000000000000 MB needed")
