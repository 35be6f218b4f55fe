"""The text of an event stream, read by the rule of event streams, however it is cut into parts."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.client.responses import EventText

CAPTION = "one\u2028two\u2029three\x85four\x0bfive\x1csix"
DOCUMENTS = [{"status": "running", "desc": CAPTION}, {"status": "completed", "desc": "end"}]


def stream(line_end: str) -> str:
    lines = ["retry: 2000", "", ": ping", ""]
    for document in DOCUMENTS:
        lines += ["event: progress", f"data: {json.dumps(document, ensure_ascii=False)}", ""]
    return "".join(line + line_end for line in lines)


@given(st.sampled_from(["\n", "\r\n", "\r"]), st.sets(st.integers(1, 170), max_size=8))
def test_each_event_is_one_document_wherever_the_text_is_cut(line_end: str, cuts: set[int]) -> None:
    text, events = stream(line_end), EventText()
    found: list[object] = []
    for begin, end in pairwise((0, *sorted(cuts), len(text))):
        found += events.feed(text[begin:end])
    assert [one for one in found if one is not None] == DOCUMENTS
    assert len(found) == 10, "one for each line, so that whoever waits can look at the clock"


def test_the_lines_of_one_event_are_joined() -> None:
    found: list[object] = list(EventText().feed('data: {"status":\ndata:"queued"}\n\n'))
    assert found == [None, None, {"status": "queued"}]


@pytest.mark.parametrize("data", ['{"status": "run', "", "[]", "null", '{"job_id": "j"}'])
def test_an_event_that_is_no_job_document_is_refused(data: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # of the parser, or of our own
        list(EventText().feed(f"data: {data}\n\n"))
