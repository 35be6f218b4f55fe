"""Devices of these tests, and lock files that stay in folders of their own."""

import tempfile
from pathlib import Path

import pytest

from tests.platform.mobileapp.devices import changed_app, device, small_world

__all__ = ["changed_app", "device", "small_world"]


@pytest.fixture(autouse=True)
def _locks_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
