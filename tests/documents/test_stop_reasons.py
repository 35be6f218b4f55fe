"""Why reading stopped: each reason has its texts, and says whether anything is left to read."""

from typing import get_args

import pytest

from pipelines.documents.messages import EXHAUSTED_REASONS, STOPS, stop_message
from warehouse.records.search import SearchStop


def test_exhausted_stop_reasons_leave_nothing_to_read() -> None:
    assert {
        "completed", "exhausted", "no_new_items", "cursor_stalled", "page_limit",
    } == EXHAUSTED_REASONS  # fmt: skip


@pytest.mark.parametrize("reason", get_args(SearchStop))
def test_every_reason_of_the_search_has_texts(reason: str) -> None:
    assert STOPS[reason].en
    assert STOPS[reason].zh


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("exhausted", "end"),
        ("page_limit", "dry"),
        ("search_page_limit", "limit"),
        ("search_candidate_limit", "limit"),
        ("request_budget", "limit"),
        ("upstream_budget_spent", "limit"),
        ("surface_off", "limit"),
        ("upstream_verification", "problem"),
        ("empty_ambiguous", "problem"),
    ],
)
def test_ends_limits_and_problems_are_told_apart(reason: str, kind: str) -> None:
    assert STOPS[reason].kind == kind


def test_a_reason_without_texts_reads_as_its_name() -> None:
    assert "internal_error" not in STOPS
    assert stop_message("internal_error").en == "internal error"
    assert stop_message("exhausted") is STOPS["exhausted"]
