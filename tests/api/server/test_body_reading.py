"""Bodies are one unambiguous JSON document, declared as such."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.responses.errors import MalformedJsonError, UnsupportedMediaTypeError
from api.server.json_body import check_content_type, parse_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(VALUES)
def test_a_document_is_read_as_it_was_written(value: object) -> None:
    assert parse_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff",
        '{"a": 1}'.encode("utf-16"),
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": 1, "a": 2}',
        b'{"a": 1} {"b": 2}',
        b"[" * 9 + b"]" * 9,
        b"[" * 30_000 + b"]" * 30_000,
        b"{'a': 1}",
        b'\xef\xbb\xbf{"a": 1}',
    ],
)
def test_invalid_json_body_is_malformed(body: bytes) -> None:
    with pytest.raises(MalformedJsonError):
        parse_json(body)


@given(st.binary(max_size=60))
def test_random_bytes_are_a_json_document_or_malformed(body: bytes) -> None:
    try:
        found = parse_json(body)
    except MalformedJsonError:
        return
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(
    "header",
    [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON;charset=UTF-8",
        'application/json ; charset="utf-8" ',
        "application/json;",
        "application/json; profile=x; charset=utf-8",
        r'application/json; profile="a \"b\"; charset=utf-16"',
    ],
)
def test_json_is_accepted_as_json(header: str) -> None:
    check_content_type(header)
    assert header.lower().startswith("application/json")


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=utf-16",
        "application/jsonp",
        "application/json; charset",
        "application/json; charset=utf-8; charset=utf-16",
        'application/json; charset="utf-8',
        "application/json, application/json",
        "application/json; x*=1; x*0=2",
        f"application/json; x*{'9' * 5_000}=1",
        "application/json; charset*0*=a%00b'c'd",
        f"application/json; {'a=' * 20_000}",
        f"application/json{'; ' * 20_000}x",
        "text/json",
    ],
)
def test_other_content_types_are_unsupported(header: str | None) -> None:
    with pytest.raises(UnsupportedMediaTypeError):
        check_content_type(header)
