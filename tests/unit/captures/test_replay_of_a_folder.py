"""`sametrack replay --from` shows what is read from each body, and writes shape files."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from api.cli.main import app
from pipelines.captures.recorded.folder import RecordedFolder, write_folder
from tests.unit.captures.test_recorded_bodies import recorded
from warehouse.records.errors import InvalidParameterError

PAGE, LIST = "video_page/video.html", "music_list/first_page.json"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DATA_HOME", str(tmp_path / "home"))
    return tmp_path / "live-check"


def replay(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["replay", *arguments])


def write(place: Path, *, outcome: str = "ok") -> None:
    bodies = (replace(recorded(PAGE), outcome=outcome), recorded(LIST))
    write_folder(place, RecordedFolder(profile="sandbox", is_pseudonymised=False, bodies=bodies))


def test_each_body_is_read_and_becomes_a_shape_file(place: Path) -> None:
    write(place)
    ended = replay("--from", str(place), "--json")
    assert ended.exit_code == 0, ended.output
    report = json.loads(ended.stdout)
    assert [(one["surface"], one["now"]) for one in report["bodies"]] == [
        ("video_page", "records"),
        ("music_list", "records"),
    ]
    assert report["bodies"][0]["fields"]["statistics.digg_count"] == [1, 1]
    for shape in report["shapes"]:
        assert (place / "shapes" / shape["file"]).stat().st_size == shape["size"]
    named = "小满同学".encode()
    assert not any(named in path.read_bytes() for path in (place / "shapes").rglob("*.*"))


def test_a_body_that_is_read_otherwise_is_exit_status_1(place: Path) -> None:
    write(place, outcome="upstream_page_without_data")
    ended = replay("--from", str(place), "--surface", "video_page")
    assert ended.exit_code == 1
    assert "1 differently from when received" in ended.stdout


def test_shape_files_go_where_they_are_wanted(place: Path, tmp_path: Path) -> None:
    write(place)
    assert replay("--from", str(place), "--out", str(tmp_path / "there")).exit_code == 0
    assert (tmp_path / "there/index.toml").exists()
    assert not (place / "shapes").exists()


@pytest.mark.parametrize("arguments", [["--out", "there"], ["--from", "folder", "--write"]])
def test_options_that_do_not_fit_are_input_errors(arguments: list[str], place: Path) -> None:
    assert replay(*arguments).exit_code == 2
    assert not place.exists()


def test_a_folder_without_a_manifest_is_named(place: Path) -> None:
    ended = replay("--from", str(place))
    assert isinstance(ended.exception, InvalidParameterError)
    assert "live-check" in ended.exception.detail
