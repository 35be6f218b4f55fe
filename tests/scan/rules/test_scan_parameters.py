"""The parameters of a scan: the table of the interface, endpoint 5, and the linked values."""

from dataclasses import fields
from typing import get_args

import pytest

from api.responses.languages import is_chinese
from pipelines.parameters.scan import (
    LOW_CANDIDATE_LIMIT,
    MAX_SEARCH_KEYWORDS,
    PARAMETERS,
    SORT_LABELS,
    ScanParameters,
    SortBy,
    scan_parameters,
)

ORDERS = ("hot_score", "digg", "comment", "collect", "share", "latest", "oldest")
INTERFACE = [  # name, type, default, allowed; linked defaults are named, not given
    ("candidate_limit", int, 150, 15, 2000, (), None),
    ("count", int, 30, 1, 500, (), None),
    ("sort_by", str, "hot_score", None, None, ORDERS, None),
    ("viral_threshold", int, 10_000, 0, None, (), None),
    ("viral_only", bool, False, None, None, (), None),
    ("search_enabled", bool, True, None, None, (), None),
    ("search_candidate_limit", int, None, 0, 5000, (), "candidate_limit"),
    ("search_batch_target", int, 150, 1, 1000, (), None),
    ("search_page_limit", int, 30, 1, 60, (), None),
    ("search_request_budget", int, 180, 10, 180, (), None),
    ("verify_audio", bool, True, None, None, (), None),
    ("match_threshold", float, 0.65, 0, 1, (), None),
    ("account_profile_limit", int, None, 0, 500, (), "count"),
    ("refresh", bool, False, None, None, (), None),
]
_DEFAULTS = {name: default for name, _, default, *_ in INTERFACE}
OMITTED = {
    **{name: _DEFAULTS[linked or name] for name, *_, linked in INTERFACE},
    "search_keywords": [],
}


def test_the_table_is_that_of_the_interface() -> None:
    assert [
        (p.name, p.kind, p.default, p.minimum, p.maximum, p.choices, p.linked_to)
        for p in PARAMETERS
    ] == INTERFACE


def test_at_most_eight_keywords_and_a_floor_that_is_advice() -> None:
    assert (MAX_SEARCH_KEYWORDS, LOW_CANDIDATE_LIMIT) == (8, 100)


def test_each_order_is_shown_in_english_and_in_chinese() -> None:
    assert tuple(SORT_LABELS) == get_args(SortBy)
    labels = [label for both in SORT_LABELS.values() for label in both]
    assert [is_chinese(label) for label in labels] == [False, True] * len(SORT_LABELS)
    assert len(set(labels)) == len(labels)


def test_omitted_scan_parameters_take_their_defaults() -> None:
    assert scan_parameters({}).to_document() == OMITTED
    assert ScanParameters().to_document() == OMITTED


def test_every_parameter_is_a_field() -> None:
    names = {field.name for field in fields(ScanParameters)} - {"search_keywords"}
    assert names == {name for name, *_ in INTERFACE}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("candidate_limit", 15), ("count", 1), ("sort_by", "oldest"), ("viral_threshold", 0),
        ("viral_only", True), ("search_enabled", False), ("search_candidate_limit", 0),
        ("search_batch_target", 1), ("search_page_limit", 1), ("search_request_budget", 10),
        ("verify_audio", False), ("match_threshold", 0.0), ("account_profile_limit", 0),
        ("refresh", True),
    ],
)  # fmt: skip
def test_given_scan_parameters_are_kept_even_if_zero_or_empty(name: str, value: object) -> None:
    assert scan_parameters({name: value}).to_document()[name] == value


def test_null_scan_parameters_count_as_omitted() -> None:
    assert scan_parameters(dict.fromkeys(OMITTED)).to_document() == OMITTED


def test_search_keywords_are_kept_as_given() -> None:
    given = scan_parameters({"search_keywords": ["Rain", "晴天"]})
    assert given.search_keywords == ("Rain", "晴天")
    assert given.to_document()["search_keywords"] == ["Rain", "晴天"]


def test_linked_parameters_follow_what_they_are_linked_to() -> None:
    parameters = scan_parameters({"candidate_limit": 400, "count": 50})
    assert (parameters.search_candidate_limit, parameters.account_profile_limit) == (400, 50)


def test_a_linked_parameter_that_is_given_stays() -> None:
    assert scan_parameters({"count": 50, "account_profile_limit": 0}).account_profile_limit == 0


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(TypeError):
        scan_parameters({"candidate_limits": 10})
