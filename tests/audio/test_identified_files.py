"""`sametrack audio identify`: clips looked up in a folder and in a table."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.cli.commands.audio.compare import audio_app

pytestmark = pytest.mark.full

runner = CliRunner()


@pytest.fixture
def references(sounds: Path, tmp_path: Path) -> Path:
    """A folder with two songs, one of them further down, and a file that is no sound."""
    folder = tmp_path / "references"
    (folder / "more").mkdir(parents=True)
    shutil.copy(sounds / "song.m4a", folder / "more" / "song.m4a")
    shutil.copy(sounds / "other.m4a", folder)
    shutil.copy(sounds / "text.mp4", folder)
    return folder


def test_each_clip_is_named_with_its_evidence(sounds: Path, references: Path) -> None:
    clips = [str(sounds / name) for name in ("song.mp3", "silent.wav")]
    result = runner.invoke(
        audio_app, ["identify", *clips, "--catalog", str(references), "--json", "--top", "2"]
    )
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["reference_count"] == 2
    assert document["unusable_references"] == {"undecodable": 1}
    song, silent = document["clips"]
    assert song["recording"] == "more/song.m4a"
    best = song["references"][0]
    assert (best["verdict"], best["speed"]) == ("confirmed", 1.0)
    assert best["searched"] is not None
    assert (silent["recording"], silent["not_comparable_reason"]) == (None, "silent")


def test_a_table_names_the_recordings_and_the_index_is_kept(
    sounds: Path, references: Path, tmp_path: Path
) -> None:
    table = references / "songs.csv"
    table.write_text(
        "label,path\nPaper Boats,more/song.m4a\nElse,other.m4a\nGone,gone.m4a\n", encoding="utf-8"
    )
    kept = tmp_path / "kept"
    command = ["identify", str(sounds / "song.mp3"), "--catalog", str(table), "--index", str(kept)]
    first = runner.invoke(audio_app, command)
    assert first.exit_code == 0, first.output
    assert "Paper Boats" in first.stdout
    assert "confirmed" in first.stdout
    entries = sorted(path.name for path in kept.iterdir())
    again = json.loads(runner.invoke(audio_app, [*command, "--json"]).stdout)
    assert again["unusable_references"] == {"file_missing": 1}
    assert again["unusable_files"] == [
        {"reference": "Gone", "not_comparable_reason": "file_missing"}
    ]
    assert again["clips"][0]["recording"] == "Paper Boats"
    assert sorted(path.name for path in kept.iterdir()) == entries


def test_a_folder_without_a_usable_sound_is_refused(sounds: Path, tmp_path: Path) -> None:
    shutil.copy(sounds / "text.mp4", tmp_path)
    result = runner.invoke(
        audio_app, ["identify", str(sounds / "song.mp3"), "--catalog", str(tmp_path)]
    )
    assert result.exit_code == 2
    assert "no sound that can be compared" in result.output


def test_a_table_without_paths_is_refused(sounds: Path, tmp_path: Path) -> None:
    table = tmp_path / "songs.csv"
    table.write_text("title\nPaper Boats\n", encoding="utf-8")
    result = runner.invoke(
        audio_app, ["identify", str(sounds / "song.mp3"), "--catalog", str(table)]
    )
    assert result.exit_code == 2
    assert "no column `path`" in result.output
