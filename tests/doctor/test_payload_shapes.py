"""Key paths of a payload, and what came and went against good answers before."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.doctor.probes.probe_result import (
    STABLE_AFTER,
    change_since,
    decode_payload,
    key_paths,
)

GOOD = {"status_code": 0, "list": [{"id": "1", "music": None}, {"id": "2", "music": {"mid": "3"}}]}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc?.[]9", max_size=4), inner)
    ),
    max_leaves=20,
)


def changed(document: object, *, good_answers: int = STABLE_AFTER) -> Any:
    return change_since(key_paths(document), [key_paths(GOOD)] * good_answers)


def test_paths_are_merged_over_the_entries_of_a_list() -> None:
    assert key_paths(GOOD) == (
        "list",
        "list[].id",
        "list[].music",
        "list[].music.mid",
        "status_code",
    )


def test_a_key_that_holds_nothing_is_marked_and_ids_as_keys_are_one_key() -> None:
    document: Any = {"a": None, "b": [], "c": {}, "by_id": {"7301": {"x": 1}, "7302": {"x": 2}}}
    assert key_paths(document) == ("a?", "b?", "by_id", "by_id.*", "by_id.*.x", "c?")


def test_a_renamed_key_came_and_went_without_what_lies_below_it() -> None:
    change = changed({"status_code": 0, "entries": GOOD["list"]})
    assert (change.came, change.went, change.is_loss) == (("entries",), ("list",), True)


def test_one_good_answer_alone_makes_no_key_stable() -> None:
    change = changed({"status_code": 0}, good_answers=1)
    assert (change.went, change.is_loss) == (("list",), False)


@pytest.mark.parametrize("nothing", [None, []])
def test_payload_shape_reports_no_change_below_an_empty_list(nothing: object) -> None:
    change = changed({"status_code": 0, "list": nothing})
    assert (change.came, change.went) == ((), ())


def test_payload_shape_allows_an_empty_list_to_fill() -> None:
    before = key_paths({"list": []})
    assert change_since(key_paths(GOOD | {"status_code": 0}), [before]).came == ("status_code",)


def test_a_key_that_some_good_answers_lacked_does_not_count_as_lost() -> None:
    good = [key_paths(GOOD), key_paths({"status_code": 0}), key_paths(GOOD)]
    assert change_since(key_paths({"status_code": 0}), good).went == ()


def test_payload_shape_without_earlier_answers_reports_no_change() -> None:
    assert change_since(key_paths(GOOD), []) == change_since((), [key_paths(GOOD)])


@given(JSON)
def test_a_payload_does_not_differ_from_itself(document: object) -> None:
    paths = key_paths(document)
    change = change_since(paths, [paths] * STABLE_AFTER)
    assert (change.came, change.went) == ((), ())


@given(JSON, JSON)
def test_new_key_paths_are_in_the_payload_and_lost_ones_were_before(
    before: object, now: object
) -> None:
    here, there = key_paths(now), key_paths(before)
    change = change_since(here, [there])
    assert {path.rstrip("?") for path in here} >= {path.rstrip("?") for path in change.came}
    assert {path.rstrip("?") for path in there} >= {path.rstrip("?") for path in change.went}


@pytest.mark.parametrize(
    ("body", "payload"),
    [
        (b'{"a": 1}', {"a": 1}),
        (b'8\r\n{"a": 1}\r\n0\r\n', [{"a": 1}]),
        (b'<html><script>window._ROUTER_DATA = {"loaderData": {}}</script></html>',
         {"loaderData": {}}),
        (b'<script>global.features = [{"Hash": "x"}];</script>', [{"Hash": "x"}]),
        (b"<html></html>", None),
        (b"Access Deny", None),
        (b"", None),
    ],
)  # fmt: skip
def test_the_json_of_a_body_is_found_however_it_is_wrapped(body: bytes, payload: object) -> None:
    assert decode_payload(body, surface="any") == payload
