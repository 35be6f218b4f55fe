"""`doctor --record` keeps what was received, names nobody, and says what is not there."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.captures.recorded import BodyPseudonymiser
from pipelines.doctor.recording import INDEX, Recording, prepare_folder, record_responses
from pipelines.platform.call_trace import HttpResponse
from tests.platform.shape_answers import SEEN_AT, SHAPES
from warehouse.exports.pseudonyms import Pseudonyms
from warehouse.records.errors import InvalidParameterError
from warehouse.records.health import SurfaceHealth

HIDDEN = BodyPseudonymiser(Pseudonyms(b"k" * 32))


def health(surface: str, outcome: str = "works", **facts: Any) -> SurfaceHealth:
    return SurfaceHealth(surface=surface, outcome=outcome, observed_at=SEEN_AT, **facts)  # type: ignore[arg-type]


def response(surface: str, body: bytes, **facts: Any) -> HttpResponse:
    given = {"url": f"https://vidplat.example/{surface}?token=1", "status": 200, **facts}
    return HttpResponse(
        surface=surface, content_type="text/html", body=body, fetched_at=SEEN_AT, **given
    )


def record(
    folder: Path, health: list[SurfaceHealth], *responses: tuple[SurfaceHealth, HttpResponse]
) -> tuple[Recording, dict[str, Any]]:
    prepare_folder(folder)
    written = record_responses(
        folder, health, responses, HIDDEN, profile="sandbox", is_demo_data=True
    )
    return written, json.loads((folder / INDEX).read_text("utf-8"))


def test_a_body_is_a_file_that_the_index_describes(tmp_path: Path) -> None:
    line = health("video_page", entity_id="7568123456789012345")
    body = (SHAPES / "video_page/video.html").read_bytes()
    page = response("video_page", body, url="https://vidplat.example/video/7568123456789012345?a=1")
    written, index = record(tmp_path / "new", [line], (line, page))
    (entry,) = index["responses"]
    kept = (tmp_path / "new" / entry["body"]).read_bytes()
    assert written == Recording(body_count=1, surfaces_without_body=0)
    assert entry["path"] == f"/video/{entry['entity_id']}"
    assert entry["entity_id"] not in {None, "7568123456789012345"}
    assert "小满同学".encode() in body
    assert "小满同学".encode() not in kept
    assert (index["is_demo_data"], index["surfaces_without_body"]) == (True, [])


def test_recording_names_surfaces_without_a_body_and_bodies_left_out(tmp_path: Path) -> None:
    unasked = health("hashtag_list", "not_asked", reason="nothing_to_ask")
    named = health("web_detail", "changed", reason="no video 7568123456789012345")
    body = '{"某人甲":1,"author":{"nickname":"某人甲"}}'.encode()
    written, index = record(tmp_path, [named, unasked], (named, response("web_detail", body)))
    assert written == Recording(body_count=0, surfaces_without_body=2)
    (entry,) = index["responses"]
    assert (entry["body"], entry["sha256"]) == (None, None)
    assert entry["left_out"] == "it may name somebody"
    assert index["surfaces_without_body"] == [
        {"surface": "web_detail", "outcome": "changed", "error_type": None, "reason": "no video #"},
        {"surface": "hashtag_list", "outcome": "not_asked", "error_type": None,
         "reason": "nothing_to_ask"},
    ]  # fmt: skip
    assert list((tmp_path / "bodies").iterdir()) == []


def test_a_short_link_leads_nowhere(tmp_path: Path) -> None:
    line = health("short_link", entity_id="https://v.example/abcdef/")
    moved = response(
        "short_link", b"", url="https://v.example/abcdef/", status=302,
        location="https://share.example/share/video/7568123456789012345/?did=1",
    )  # fmt: skip
    _, index = record(tmp_path, [line], (line, moved))
    (entry,) = index["responses"]
    assert (entry["entity_id"], entry["path"], entry["body"]) == ("", "/", None)
    assert entry["left_out"] == "no body was kept of it"
    assert entry["location"] == "https://share.example/share/video/·/"


def test_a_folder_that_has_files_is_never_written_to(tmp_path: Path) -> None:
    prepare_folder(tmp_path / "new")
    prepare_folder(tmp_path / "new")
    (tmp_path / "note.txt").touch()
    with pytest.raises(InvalidParameterError, match="has files"):
        prepare_folder(tmp_path)
    with pytest.raises(InvalidParameterError, match="cannot be written"):
        prepare_folder(tmp_path / "note.txt")
