"""Stores for these tests: a lake in a folder, SQLite files, and a real PostgreSQL on loopback."""

from pathlib import Path

import pytest


@pytest.fixture(params=["sqlite", "postgresql"])
def control_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A fresh control store on each of the two databases."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'control.sqlite'}"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def programs() -> Path:
    """The folder of the small programs that tests run as processes."""
    return Path(__file__).parent / "programs"
