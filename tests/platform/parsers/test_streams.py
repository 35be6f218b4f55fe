"""A stream keeps what arrived whole, in every known form, and says when it was cut."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.platform.parsers.search import StreamDocuments, read_stream
from warehouse.records.errors import StructureChangedError

DOCUMENTS: list[dict[str, object]] = [
    {"status_code": 0, "data": [{"desc": '晚风 "}{" \\ 0'}]},
    {"data": []},
    {"has_more": 1, "cursor": 12},
]
TEXTS = [json.dumps(document, ensure_ascii=False).encode() for document in DOCUMENTS]
FRAMED = b"".join(f"{len(text):x}".encode() + b"\r\n" + text + b"\r\n" for text in TEXTS)
END = b"0\r\n\r\n"


def documents_of(stream: StreamDocuments) -> list[dict[str, object]]:
    return [document.values for document in stream.documents]


@pytest.mark.parametrize(
    ("body", "is_cut"),
    [
        (FRAMED + END, False),
        (FRAMED, True),
        (FRAMED + b"zz\r\n{}", True),
        (b"".join(TEXTS), False),
        (b"\n".join(TEXTS), False),
        (b" \r\n".join(TEXTS) + b"\r\n\r\n", False),
        (b"".join(TEXTS) + b'{"data":[', True),
        (FRAMED + b'ff\r\n{"data":[', True),
    ],
)
def test_every_whole_document_is_kept(body: bytes, is_cut: bool) -> None:
    stream = read_stream(body, surface="search_stream")
    assert (documents_of(stream), stream.is_cut) == (DOCUMENTS, is_cut)


@given(st.sampled_from([FRAMED + END, b"".join(TEXTS), b"\n".join(TEXTS)]), st.data())
def test_a_stream_cut_anywhere_keeps_its_first_documents(body: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, len(body)))
    try:
        kept = documents_of(read_stream(body[:at], surface="search_stream"))
    except StructureChangedError as error:
        assert error.reason == "broken_frame"  # noqa: PT017  # most cuts raise nothing
        kept = []
    assert kept == DOCUMENTS[: len(kept)]


@given(st.binary(max_size=80))
def test_bytes_after_the_documents_invent_none(tail: bytes) -> None:
    kept = documents_of(read_stream(FRAMED + b"!\r\n" + tail, surface="search_stream"))
    assert kept == DOCUMENTS


@pytest.mark.parametrize("body", [b"5\r\n{", b"{", b"{" * 100_000, FRAMED[:20], TEXTS[0][:-1]])
def test_a_stream_that_breaks_off_in_its_first_document_is_cut_and_empty(body: bytes) -> None:
    assert read_stream(body, surface="search_stream") == StreamDocuments((), is_cut=True)


@pytest.mark.parametrize("body", [b"", b"\r\n", b"<html>", b"5\r\n<html", b"1\r\n{\r\n" + END, END])
def test_a_stream_of_another_form_is_refused_by_name(body: bytes) -> None:
    with pytest.raises(StructureChangedError) as caught:
        read_stream(body, surface="search_stream")
    assert caught.value.reason == "broken_frame"
