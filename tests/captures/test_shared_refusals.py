"""What another process was refused: told on where it predicts the next attempt, else asked anew."""

from typing import Any, cast

import pytest

from pipelines.captures.capture import CaptureRequest
from pipelines.captures.stored_captures import raise_refusal, restore_value, upstream_errors
from warehouse.engine.duckdb_engine import Engine
from warehouse.records.errors import (
    InvalidMusicInputError,
    RefusedLatelyError,
    SametrackError,
    UnresolvedIdError,
    UpstreamError,
)
from warehouse.records.videos import Unavailability

NOTHING_ASKED = cast("Any", None)


def capture(outcome: str, reason: str | None = "why") -> dict[str, Any]:
    return {
        "outcome": outcome, "surface": "user_posts", "entity_id": "7300000000000000001",
        "reason": reason, "http_status": 403,
    }  # fmt: skip


@pytest.mark.parametrize("error", [InvalidMusicInputError, UnresolvedIdError])
def test_not_found_refusal_is_shared_with_other_processes(error: type[SametrackError]) -> None:
    with pytest.raises(error, match="found no such item"):
        raise_refusal(capture(error.type))


@pytest.mark.parametrize("kind", sorted({*upstream_errors()} - {RefusedLatelyError.type}))
def test_a_refusal_keeps_its_name_and_reason(kind: str) -> None:
    with pytest.raises(UpstreamError) as met:
        raise_refusal(capture(kind))
    found = met.value
    assert (found.type, found.surface, found.reason, found.status) == (
        kind, "user_posts", "why", 403,
    )  # fmt: skip


@pytest.mark.parametrize("outcome", [RefusedLatelyError.type, "of tomorrow"])
def test_refusal_that_does_not_predict_the_next_answer_is_not_shared(outcome: str) -> None:
    question = cast("CaptureRequest", None)
    assert restore_value(cast("Engine", None), question, capture(outcome)) is None


def test_a_video_that_is_gone_is_gone_for_others() -> None:
    found = restore_value(NOTHING_ASKED, NOTHING_ASKED, capture("unavailable", "deleted"))
    assert isinstance(found, Unavailability)
    assert found.filter_reason == "deleted"
