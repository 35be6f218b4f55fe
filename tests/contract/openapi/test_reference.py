"""The reference: what it says is what the service does, in two languages."""

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.generate.files import read_description
from api.openapi.chinese_texts import DESCRIPTIONS_ZH, HINTS_ZH, PHRASES_ZH, SUMMARIES_ZH
from api.openapi.reference import INTERFACE, build_reference
from api.responses.documents import Envelope
from api.responses.errors import ERROR_SPECS
from api.responses.languages import is_chinese, split_languages
from api.schemas.extensions.reference import Reference

PATH = "/api/v1/sametrack/reference"


@pytest.fixture(scope="module")
def reference() -> Any:
    return json.loads(json.dumps(build_reference(read_description())))


def test_reference_fits_its_schema_and_answers_304_if_unchanged(
    client: TestClient, reference: Any
) -> None:
    answer = client.get(PATH)
    assert answer.json()["data"] == reference
    Envelope[Reference].model_validate(answer.json())
    again = client.get(PATH, headers={"If-None-Match": answer.headers["ETag"]})
    assert (answer.status_code, again.status_code) == (200, 304)


def test_all_operations_of_the_interface_are_in_it_by_their_numbers(reference: Any) -> None:
    listed = {
        (one["number"], one["id"], one["method"], one["path"])
        for one in reference["operations"]
        if one["number"] is not None
    }
    assert listed == {(one.number, one.id, one.method, one.path) for one in INTERFACE}
    assert len(INTERFACE) == 17


def test_every_operation_is_explained_in_both_languages(reference: Any) -> None:
    for one in reference["operations"]:
        assert one["summary"], one["id"]
        assert is_chinese(one["summary_zh"]), one["id"]
        assert not is_chinese(one["description"]), one["id"]
        assert is_chinese(one["description_zh"]), one["id"]
        assert is_chinese(one["tag_zh"]), one["tag"]


def test_every_parameter_is_explained_in_both_languages(reference: Any) -> None:
    for one in reference["operations"]:
        for parameter in one["parameters"]:
            where = (one["id"], parameter["name"])
            assert parameter["meaning"], where
            assert not is_chinese(parameter["meaning"]), where
            assert is_chinese(parameter["meaning_zh"]), where


def test_every_error_tells_in_both_languages_what_to_do(reference: Any) -> None:
    assert [one["type"] for one in reference["errors"]] == list(ERROR_SPECS)
    assert HINTS_ZH.keys() == ERROR_SPECS.keys()
    assert all(is_chinese(one["message_zh"] + one["hint_zh"]) for one in reference["errors"])


def test_no_chinese_words_are_kept_for_what_is_gone(reference: Any) -> None:
    known = {one["id"] for one in reference["operations"]}
    assert SUMMARIES_ZH.keys() | DESCRIPTIONS_ZH.keys() <= known
    description = json.dumps(read_description(), ensure_ascii=False)
    assert [said for said in PHRASES_ZH if f'"{said}"' not in description] == []


def test_limits_and_linked_defaults_are_those_of_the_interface(reference: Any) -> None:
    by_id = {one["id"]: one for one in reference["operations"]}
    scan = {one["name"]: one for one in by_id["music_collection_jobs"]["parameters"]}
    assert (scan["candidate_limit"]["minimum"], scan["candidate_limit"]["maximum"]) == (15, 2000)
    assert scan["viral_threshold"]["maximum"] is None
    assert scan["account_profile_limit"]["default_from"] == "count"
    batch = {one["name"]: one for one in by_id["fetch_music_hot_videos_batch"]["parameters"]}
    assert batch["inputs"]["type"] == "array of string"
    assert (batch["inputs"]["min_items"], batch["inputs"]["max_items"]) == (1, 10)


@pytest.mark.parametrize(
    ("text", "english", "chinese"),
    [
        ("likes of a video. 点赞数", "likes of a video", "点赞数"),
        ("One. Two. 一. 二.", "One. Two.", "一. 二."),
        ("One. 一\n二。三。", "One.", "一二。三。"),
        ("First.\n\nSecond. 第二.", "First.\n\nSecond.", "第二."),
        ("only English", "only English", ""),
        (None, "", ""),
    ],
)
def test_a_text_is_parted_by_sentences(text: str | None, english: str, chinese: str) -> None:
    words = split_languages(text)
    assert (words.en.rstrip("."), words.zh) == (english.rstrip("."), chinese)
