"""`sametrack audio common-sounds` lists what scans have learnt, `dismiss-sound` dismisses it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from api.cli.main import app
from pipelines.scan.common_sounds import CommonSoundUnknownError
from warehouse.home import open_home
from warehouse.lake.store import open_lake

NOW = datetime(2026, 1, 5, tzinfo=UTC)
SOUND = "7c1f4c0e-5b0f-4a51-9d5c-0d6c4c1e2f3a"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The home of the sandbox with one common sound."""
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    lake = open_lake(open_home(tmp_path, "sandbox").lake_url, world="sandbox")
    row = {
        "common_sound_id": SOUND, "status": "learnt", "learnt_at": NOW,
        "aweme_id": "7348759830572834348", "sound_sha256": "0" * 64, "start_s": 6.04,
        "duration_s": 3.02, "track_music_ids": ["1", "2", "3", "4"],
        "comparison_ids": ["a", "b", "c"], "first_seen_at": NOW, "features": b"packed",
        "feature_version": "3",
    }  # fmt: skip
    lake.append("marts.common_sounds", [row])


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["audio", *arguments])


@pytest.mark.usefixtures("home")
def test_common_sounds_are_listed_with_the_place_of_each() -> None:
    listed = run("common-sounds")
    assert listed.exit_code == 0
    assert listed.output.splitlines() == [
        f"{SOUND} 3.0 s at 6.0 s of 7348759830572834348, 4 tracks, learnt 2026-01-05",
        "1 common sound",
    ]


@pytest.mark.usefixtures("home")
def test_a_dismissed_sound_stays_in_the_list() -> None:
    assert run("dismiss-sound", SOUND).exit_code == 0
    listed = run("common-sounds").output
    assert "dismissed" in listed
    assert "1 common sound" in listed


@pytest.mark.usefixtures("home")
def test_an_unknown_sound_cannot_be_dismissed() -> None:
    assert isinstance(run("dismiss-sound", "0a").exception, CommonSoundUnknownError)
