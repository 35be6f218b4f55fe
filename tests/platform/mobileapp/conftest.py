"""Lock files of these tests stay in folders of their own."""

import tempfile
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _locks_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
