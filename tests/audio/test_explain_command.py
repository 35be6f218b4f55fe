"""`sametrack audio explain` over real files: numbers, pictures, and what it refuses."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from PIL import Image
from typer.testing import CliRunner

from api.cli.commands.audio.compare import audio_app

pytestmark = pytest.mark.full

runner = CliRunner()


def explain(*arguments: str | Path) -> str:
    result = runner.invoke(audio_app, ["explain", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_audio_explain_draws_the_pair_as_svg_and_png(sounds: Path, tmp_path: Path) -> None:
    pair = ("--reference", sounds / "song.m4a", "--candidate", sounds / "song.mp3")
    explain(*pair, "--out", tmp_path / "pair.svg")
    explain(*pair, "--out", tmp_path / "pair.PNG")
    ET.fromstring((tmp_path / "pair.svg").read_text())
    with Image.open(tmp_path / "pair.PNG") as picture:
        picture.verify()
    assert "song.mp3" in (tmp_path / "pair.svg").read_text()


def test_audio_explain_json_has_values_with_their_limits(sounds: Path) -> None:
    pair = ("--reference", sounds / "song.m4a", "--candidate", sounds / "other.m4a")
    document = json.loads(explain(*pair, "--json"))
    assert document["evidence"]["verdict"] == "rejected"
    chroma = document["measures"][0]
    assert chroma["value"] == document["evidence"]["chroma_distance"]
    assert chroma["is_met"] == (chroma["value"] <= chroma["limit"])


def test_audio_explain_prints_each_threshold(sounds: Path, tmp_path: Path) -> None:
    pair = ("--reference", sounds / "song.m4a", "--candidate", sounds / "song.mp3")
    text = explain(*pair, "--out", tmp_path / "deep" / "pair.svg")
    assert "confirmed" in text
    assert "not met" not in text
    assert "written" in text
    assert (tmp_path / "deep" / "pair.svg").exists()
    other = ("--reference", sounds / "song.m4a", "--candidate", sounds / "other.m4a")
    assert "not met" in explain(*other)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--reference", "a.m4a"],
        ["an-id", "--reference", "a.m4a", "--candidate", "b.m4a"],
        ["--reference", "text.mp4", "--candidate", "song.m4a"],
        ["--reference", "song.m4a", "--candidate", "song.mp3", "--out", "pair.gif"],
    ],
)
def test_audio_explain_refuses_missing_and_unreadable_files(
    sounds: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(sounds)
    assert runner.invoke(audio_app, ["explain", *arguments]).exit_code != 0
    assert not (sounds / "pair.gif").exists()
