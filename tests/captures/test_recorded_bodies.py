"""Nobody is named in a pseudonymised body, and the parsers read it as before."""

from dataclasses import asdict, is_dataclass, replace

import pytest

from pipelines.captures.recorded import BodyPseudonymiser, decode_body
from pipelines.platform.profiles import load_profile
from pipelines.platform.reparse import ArchivedBody, BodyParser
from tests.platform.shape_answers import SEEN_AT, read_index
from warehouse.exports.pseudonyms import Pseudonyms

SURFACE_OF = {"work_page": "video_page", "detail_body": "detail"}
RECORDS = [
    shape
    for shape in read_index()
    if shape.outcome == "records" and shape.status == 200 and not shape.is_chart
    and shape.parser not in {"user_account", "search_single"}
]  # fmt: skip


@pytest.fixture(scope="module")
def parser() -> BodyParser:
    return BodyParser(load_profile("sandbox", sandbox_port=8790))


@pytest.fixture
def pseudonymiser() -> BodyPseudonymiser:
    return BodyPseudonymiser(Pseudonyms(b"k" * 32))


def recorded(file: str) -> ArchivedBody:
    """A shape file as a capture would have received it."""
    shape = next(one for one in read_index() if one.file == file)
    return ArchivedBody(
        surface=SURFACE_OF.get(shape.parser, shape.parser),
        entity_id=shape.asked,
        observed_at=SEEN_AT,
        status=shape.status,
        content_type=None,
        path=f"/{shape.asked}",
        body=shape.body,
        cursor=0 if shape.parser == "user_page" else None,
    )


def hidden(kept: ArchivedBody, pseudonymiser: BodyPseudonymiser) -> ArchivedBody | None:
    body = pseudonymiser.body(kept.body)
    entity_id = pseudonymiser.entity(kept.surface, kept.entity_id)
    return None if body is None else replace(kept, body=body, entity_id=entity_id)


def form(value: object) -> object:
    """The fields of a record with the types of their values."""
    if is_dataclass(value) and not isinstance(value, type):
        return form(asdict(value))
    if isinstance(value, dict):
        return {name: form(below) for name, below in value.items()}
    return [form(below) for below in value] if isinstance(value, list | tuple) else type(value)


def test_a_pseudonymised_body_gives_the_same_fields(
    parser: BodyParser, pseudonymiser: BodyPseudonymiser
) -> None:
    for shape in RECORDS:
        kept = recorded(shape.file)
        changed = hidden(kept, pseudonymiser)
        assert changed is not None, shape.file
        assert form(parser.read(changed)) == form(parser.read(kept)), shape.file


def test_pseudonymised_page_contains_no_names_or_account_ids(
    pseudonymiser: BodyPseudonymiser,
) -> None:
    kept = recorded("video_page/video.html")
    changed = hidden(kept, pseudonymiser)
    assert changed is not None
    for named in ("小满同学", "xiaoman88", "MS4wLjABAAAAq7Rk2dV0", "晚风与海", kept.entity_id):
        assert named.encode() in kept.body
        assert named.encode() not in changed.body
    assert b"7361234567890123456" in changed.body  # music ids are public
    assert changed.entity_id not in kept.body.decode()


@pytest.mark.parametrize("form", ["cut_off", "glued", "glued_and_cut", "cut_in_the_last_document"])
def test_pseudonymised_search_stream_contains_no_names_or_video_ids(
    form: str, pseudonymiser: BodyPseudonymiser
) -> None:
    kept = recorded(f"search_stream/{form}.txt")
    changed = hidden(kept, pseudonymiser)
    assert changed is not None
    for named in ("小满同学", "xiaoman88", "MS4wLjABAAAAq7Rk2dV0", "7568123456789012346"):
        assert named.encode() in kept.body
        assert named.encode() not in changed.body


def test_a_pseudonym_keeps_the_second_that_an_id_was_created_in(
    pseudonymiser: BodyPseudonymiser,
) -> None:
    changed = int(pseudonymiser.entity("video_page", "7568123456789012345"))
    assert changed >> 32 == 7568123456789012345 >> 32
    assert changed != 7568123456789012345


def test_equal_accounts_stay_equal_and_others_differ(pseudonymiser: BodyPseudonymiser) -> None:
    first = pseudonymiser.entity("user_info", "MS4wLjABAAAAone")
    assert first == pseudonymiser.entity("user_posts", "MS4wLjABAAAAone")
    assert first != pseudonymiser.entity("user_info", "MS4wLjABAAAAtwo")


def test_the_title_of_a_sound_keeps_its_form_without_the_name(
    pseudonymiser: BodyPseudonymiser,
) -> None:
    body = '{"music_info":{"id":7361234567890123457,"title":"@某人甲创作的原声","author":"某人甲"}}'
    changed = (pseudonymiser.body(body.encode()) or b"").decode()
    assert "创作的原声" in changed
    assert "某人甲" not in changed


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
def test_each_form_of_a_body_is_encoded_as_it_came(file: str, parser: BodyParser) -> None:
    kept = recorded(file)
    decoded = decode_body(kept.body)
    assert decoded is not None
    again = replace(kept, body=decoded.encode(decoded.payload))
    assert parser.read(again) == parser.read(kept)


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


def test_pseudonymised_truncated_body_keeps_no_data(pseudonymiser: BodyPseudonymiser) -> None:
    body = b'{"aweme_list":[{"author":{"sec_uid":"MS4wLjABAAAAq7Rk2dV0","nickname":"Ann"}}'
    assert pseudonymiser.body(body) == b"{"


def test_refusals_in_no_known_form_are_kept_as_they_came(pseudonymiser: BodyPseudonymiser) -> None:
    for file in ("video_page/script_challenge.html", "video_page/captcha.html"):
        body = recorded(file).body
        assert pseudonymiser.body(body) == body
