"""Stores for these tests: a lake in a folder, SQLite files, and a real PostgreSQL on loopback."""

from pathlib import Path

import pytest

from tests.warehouse.small_store import command, first_release_home, small_store, small_store_at

__all__ = ["command", "first_release_home", "small_store", "small_store_at"]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.soak)])
def control_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A fresh control store; on both databases in `make soak`, or where a test is `on_both`."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'control.sqlite'}"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def programs() -> Path:
    """The folder of the small programs that tests run as processes."""
    return Path(__file__).parent / "programs"
