"""Recorded bodies that cannot become a usual shape: not read, not written, or not made smaller."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.captures.recorded.folder import RecordedBody, RecordedFolder
from pipelines.captures.recorded.pseudonymised import BodyPseudonymiser
from pipelines.captures.recorded.shape_files import RecordedReader, to_document, write_shapes
from pipelines.platform.profiles import load_profile
from pipelines.platform.reparse import BodyParser
from tests.unit.captures.test_recorded_bodies import recorded
from warehouse.exports.pseudonyms import Pseudonyms

PAGE = "video_page/video.html"
NAME_IN_A_KEY = '{"某人甲":1,"author":{"nickname":"某人甲"}}'.encode()


@pytest.fixture
def reader() -> RecordedReader:
    return RecordedReader(BodyParser(load_profile("sandbox", sandbox_port=8790)))


def folder_of(*bodies: RecordedBody) -> RecordedFolder:
    return RecordedFolder(profile="sandbox", is_pseudonymised=False, bodies=bodies)


def test_a_redirect_has_no_reading_and_counts_as_unchanged(reader: RecordedReader) -> None:
    found = reader.read(replace(recorded(PAGE), location="http://elsewhere.example/"))
    shown = to_document(found)
    assert (shown["then"], shown["now"], shown["has_changed"]) == ("records", None, False)
    assert (shown["records"], shown["completeness"], shown["fields"]) == (0, None, {})


def test_a_body_that_keeps_a_name_is_left_out_and_written_nowhere(
    tmp_path: Path, reader: RecordedReader
) -> None:
    named = replace(recorded(PAGE), surface="music_info", body=NAME_IN_A_KEY)
    pseudonymiser = BodyPseudonymiser(Pseudonyms(b"k" * 32))
    left, written = write_shapes(tmp_path, folder_of(named, recorded(PAGE)), reader, pseudonymiser)
    assert (left.left_out, left.file, left.size_before) == (
        "a name could not be removed", None, len(NAME_IN_A_KEY),
    )  # fmt: skip
    assert written.left_out is None
    index = (tmp_path / "index.toml").read_text(encoding="utf-8")
    assert index.count("[[shape]]") == 1
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any("某人甲".encode() in path.read_bytes() for path in files)


def test_a_body_in_no_known_form_is_kept_byte_by_byte(
    tmp_path: Path, reader: RecordedReader
) -> None:
    body = b"<html><title>one moment</title>no data</html>"
    (shape,) = write_shapes(
        tmp_path, folder_of(replace(recorded(PAGE), body=body)), reader, pseudonymiser=None
    )
    assert shape.file is not None
    assert (tmp_path / shape.file).read_bytes() == body
    assert shape.size == shape.size_before == len(body)
    expected = (tmp_path / "expected" / shape.file).with_suffix(".json").read_text(encoding="utf-8")
    assert json.loads(expected)["outcome"] == "upstream_structure_changed"
