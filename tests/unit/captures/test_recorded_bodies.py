"""Recorded bodies become shape files: nobody is named in them, and they are read as before."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.captures.recorded.body_forms import decode_body
from pipelines.captures.recorded.folder import (
    RecordedBody,
    RecordedFolder,
    read_folder,
    write_folder,
)
from pipelines.captures.recorded.known_fields import completeness, known_fields
from pipelines.captures.recorded.pseudonymised import BodyPseudonymiser
from pipelines.captures.recorded.shape_files import (
    RecordedReader,
    pseudonymised,
    summarise,
    write_shapes,
)
from pipelines.platform.profiles import load_profile
from pipelines.platform.reparse import BodyParser
from tests.answers import SEEN_AT, read_index
from warehouse.exports.pseudonyms import Pseudonyms
from warehouse.records.errors import InvalidParameterError
from warehouse.records.videos import Statistics, Track, Video, VideoPage

SURFACE_OF = {"work_page": "video_page", "detail_body": "detail"}
RECORDS = [
    shape
    for shape in read_index()
    if shape.outcome == "records" and shape.status == 200 and not shape.is_chart
    and shape.parser not in {"user_account", "search_single"}
]  # fmt: skip


@pytest.fixture(scope="module")
def reader() -> RecordedReader:
    return RecordedReader(BodyParser(load_profile("sandbox", sandbox_port=8790)))


@pytest.fixture
def pseudonymiser() -> BodyPseudonymiser:
    return BodyPseudonymiser(Pseudonyms(b"k" * 32))


def recorded(file: str) -> RecordedBody:
    """A shape file as the live check would have recorded it."""
    shape = next(one for one in read_index() if one.file == file)
    return RecordedBody(
        surface=SURFACE_OF.get(shape.parser, shape.parser),
        entity_id=shape.asked,
        observed_at=SEEN_AT,
        status=shape.status,
        content_type=None,
        path=f"/{shape.asked}",
        outcome="ok" if shape.outcome == "records" else shape.outcome,
        body=shape.body,
        cursor=0 if shape.parser == "user_page" else None,
    )


def test_a_pseudonymised_body_gives_the_same_fields(
    reader: RecordedReader, pseudonymiser: BodyPseudonymiser
) -> None:
    for shape in RECORDS:
        kept = recorded(shape.file)
        before, hidden = reader.read(kept), pseudonymised(kept, pseudonymiser)
        assert hidden is not None, shape.file
        after = reader.read(hidden)
        assert (after.outcome, after.fields) == (before.outcome, before.fields), shape.file


def test_nobody_is_named_in_a_pseudonymised_page(pseudonymiser: BodyPseudonymiser) -> None:
    kept = recorded("video_page/video.html")
    hidden = pseudonymised(kept, pseudonymiser)
    assert hidden is not None
    for named in ("小满同学", "xiaoman88", "MS4wLjABAAAAq7Rk2dV0", "晚风与海", kept.entity_id):
        assert named.encode() in kept.body
        assert named.encode() not in hidden.body
    assert b"7361234567890123456" in hidden.body  # music ids are public
    assert hidden.entity_id not in kept.body.decode()


@pytest.mark.parametrize("form", ["cut_off", "glued", "glued_and_cut", "cut_in_the_last_document"])
def test_nobody_is_named_in_a_pseudonymised_stream(
    form: str, pseudonymiser: BodyPseudonymiser
) -> None:
    kept = recorded(f"search_stream/{form}.txt")
    hidden = pseudonymised(kept, pseudonymiser)
    assert hidden is not None
    for named in ("小满同学", "xiaoman88", "MS4wLjABAAAAq7Rk2dV0", "7568123456789012346"):
        assert named.encode() in kept.body
        assert named.encode() not in hidden.body


def test_a_pseudonym_keeps_the_second_that_an_id_was_created_in(
    pseudonymiser: BodyPseudonymiser,
) -> None:
    hidden = int(pseudonymiser.entity("video_page", "7568123456789012345"))
    assert hidden >> 32 == 7568123456789012345 >> 32
    assert hidden != 7568123456789012345


def test_equal_accounts_stay_equal_and_others_differ(pseudonymiser: BodyPseudonymiser) -> None:
    first = pseudonymiser.entity("user_info", "MS4wLjABAAAAone")
    assert first == pseudonymiser.entity("user_posts", "MS4wLjABAAAAone")
    assert first != pseudonymiser.entity("user_info", "MS4wLjABAAAAtwo")


def test_the_title_of_a_sound_keeps_its_form_without_the_name(
    pseudonymiser: BodyPseudonymiser,
) -> None:
    body = '{"music_info":{"id":7361234567890123457,"title":"@某人甲创作的原声","author":"某人甲"}}'
    hidden = (pseudonymiser.body(body.encode()) or b"").decode()
    assert "创作的原声" in hidden
    assert "某人甲" not in hidden


def test_a_name_in_a_key_is_not_let_through(pseudonymiser: BodyPseudonymiser) -> None:
    body = '{"某人甲":1,"author":{"nickname":"某人甲"}}'
    assert pseudonymiser.body(body.encode()) is None


@pytest.mark.parametrize(
    "file",
    [
        "video_page/video.html", "music_list/first_page.json",
        "search_stream/several_documents.txt", "search_stream/cut_off.txt",
        "search_stream/glued.txt", "search_stream/glued_and_cut.txt",
        "search_stream/cut_in_the_last_document.txt",
    ],
)  # fmt: skip
def test_each_form_of_a_body_is_encoded_as_it_came(file: str, reader: RecordedReader) -> None:
    kept = recorded(file)
    decoded = decode_body(kept.body)
    assert decoded is not None
    again = replace(kept, body=decoded.encode(decoded.payload))
    assert reader.read(again).value == reader.read(kept).value


def test_a_shape_is_smaller_and_its_expected_values_stand_beside_it(
    tmp_path: Path, reader: RecordedReader, pseudonymiser: BodyPseudonymiser
) -> None:
    kept = recorded("video_page/video.html")
    folder = RecordedFolder(profile="sandbox", is_pseudonymised=False, bodies=(kept,))
    (shape,) = write_shapes(tmp_path, folder, reader, pseudonymiser)
    assert shape.file == "video_page/recorded_20261120T080000.html"
    assert 0 < shape.size < shape.size_before
    index = (tmp_path / "index.toml").read_text()
    assert 'parser = "work_page"' in index
    assert 'outcome = "records"' in index
    expected = (tmp_path / "expected/video_page/recorded_20261120T080000.json").read_text()
    assert '"digg_count"' in expected
    assert kept.entity_id not in index + expected


def test_a_refusal_becomes_a_shape_with_its_row(tmp_path: Path, reader: RecordedReader) -> None:
    refused = [shape for shape in read_index() if shape.row == "login_code" and shape.status == 200]
    kept = recorded(refused[0].file)
    folder = RecordedFolder(profile="sandbox", is_pseudonymised=True, bodies=(kept,))
    write_shapes(tmp_path, folder, reader, None)
    assert 'row = "login_code"' in (tmp_path / "index.toml").read_text()


def test_a_redirect_and_an_unread_surface_are_named_and_left_out(
    tmp_path: Path, reader: RecordedReader
) -> None:
    page = recorded("video_page/video.html")
    bodies = (replace(page, location="http://x.example/"), replace(page, surface="short_link"))
    folder = RecordedFolder(profile="sandbox", is_pseudonymised=True, bodies=bodies)
    shapes = write_shapes(tmp_path, folder, reader, None)
    assert [shape.left_out for shape in shapes] == ["no parser reads it"] * 2


def test_what_is_read_otherwise_than_when_received_is_counted(reader: RecordedReader) -> None:
    kept = recorded("video_page/video.html")
    found = [reader.read(kept), reader.read(replace(kept, outcome="upstream_structure_changed"))]
    assert summarise(found) == ("2 of 2 bodies give records; 1 differently from when received")


def test_a_folder_is_read_as_it_was_written(tmp_path: Path) -> None:
    folder = RecordedFolder(
        profile="sandbox", is_pseudonymised=False, bodies=(recorded("video_page/video.html"),)
    )
    write_folder(tmp_path, folder)
    assert read_folder(tmp_path) == folder


def _changed_body(place: Path) -> None:
    next(place.glob("bodies/*")).write_bytes(b"{}")


def _path_outside(place: Path) -> None:
    manifest = place / "bodies.json"
    manifest.write_text(manifest.read_text().replace('"bodies/01', '"../bodies/01'))


def _no_manifest(place: Path) -> None:
    (place / "bodies.json").unlink()


@pytest.mark.parametrize("spoil", [_changed_body, _path_outside, _no_manifest])
def test_a_folder_that_was_changed_is_refused(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    kept = recorded("video_page/video.html")
    write_folder(
        tmp_path, RecordedFolder(profile="sandbox", is_pseudonymised=False, bodies=(kept,))
    )
    spoil(tmp_path)
    with pytest.raises(InvalidParameterError):
        read_folder(tmp_path)


def test_the_known_fields_of_a_list_are_counted() -> None:
    at = datetime(2026, 11, 20, tzinfo=UTC)
    one = Video(aweme_id="1", surface="music_list", observed_at=at, desc="a")
    other = replace(one, desc=None, statistics=Statistics(digg_count=0), hashtags=())
    page = VideoPage(videos=(one, other), cursor=None, has_more=False)
    found = {entry.field: (entry.known, entry.total) for entry in known_fields(page)}
    assert (found["desc"], found["statistics.digg_count"]) == ((1, 2), (1, 2))
    assert (found["create_time"], found["aweme_id"]) == ((0, 2), (2, 2))
    assert found["hashtags"] == (1, 2)
    assert not {"surface", "local_source"} & found.keys()


def test_completeness_is_the_share_of_known_values() -> None:
    track = Track(music_id="1", surface="music_info", observed_at=datetime.now(UTC), title="a")
    found = known_fields(track)
    assert completeness(found) == pytest.approx(2 / len(found))
    assert completeness(()) is None


@pytest.mark.parametrize(
    "body",
    [
        b'<html><script>push({"nickname":"Ann"})</script></html>',  # a container that is not known
        b"account MS4wLjABAAAAq7Rk2dV0 is unknown",
        b'<a href="http://x.example/share/video/7568123456789012345/?did=1">Found</a>',
    ],
    ids=["unknown page", "text", "redirect"],
)
def test_a_body_in_no_known_form_that_may_name_somebody_is_not_let_through(
    body: bytes, pseudonymiser: BodyPseudonymiser
) -> None:
    assert pseudonymiser.body(body) is None


def test_of_a_body_that_broke_off_nothing_is_kept(pseudonymiser: BodyPseudonymiser) -> None:
    body = b'{"aweme_list":[{"author":{"sec_uid":"MS4wLjABAAAAq7Rk2dV0","nickname":"Ann"}}'
    assert pseudonymiser.body(body) == b"{"


def test_refusals_in_no_known_form_are_kept_as_they_came(pseudonymiser: BodyPseudonymiser) -> None:
    for file in ("video_page/script_challenge.html", "video_page/captcha.html"):
        body = recorded(file).body
        assert pseudonymiser.body(body) == body


def test_a_pseudonymised_short_link_leads_nowhere(pseudonymiser: BodyPseudonymiser) -> None:
    kept = RecordedBody(
        surface="short_link", entity_id="http://v.example/abcdef/", observed_at=SEEN_AT,
        status=302, content_type=None, path="/abcdef/", outcome="ok", body=b"Found",
        location="http://share.example/share/video/7568123456789012345/?did=1",
    )  # fmt: skip
    hidden = pseudonymised(kept, pseudonymiser)
    assert hidden is not None
    assert (hidden.entity_id, hidden.path) == ("", "/")
    assert hidden.location == "http://share.example/share/video/·/"
