"""Which hosts and origins the guard lets in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from api.guard import check_host, check_site, host_name

ALLOWED = frozenset({"localhost", "127.0.0.1", "::1", "box.example"})


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("localhost", "localhost"),
        ("LOCALHOST:8780", "localhost"),
        ("localhost.", "localhost"),
        ("127.0.0.1:1", "127.0.0.1"),
        ("[::1]:8780", "::1"),
        ("[::1]", "::1"),
        ("box.example", "box.example"),
    ],
)
def test_our_own_names_come_in_whatever_their_form(header: str, name: str) -> None:
    assert host_name(header) == name
    assert check_host(Headers({"host": header}), ALLOWED) is None


@pytest.mark.parametrize(
    "header",
    [
        "evil.example",
        "localhost.evil.example",
        "evil.example:8780",
        "127.0.0.1.evil.example",
        "2130706433",
        "0.0.0.0",
        "127.1",
        "[::ffff:127.0.0.1]",
        "localhost:99999",
        "localhost:",
        "localhost:80:80",
        "localhost@evil.example",
        "localhost evil.example",
        "localhost/",
        "localhost,evil.example",
        "::1",
        "[::1",
        "",
        ".",
        "ｌocalhost",
        "localhost\\",
    ],
)
def test_any_other_name_stays_outside(header: str) -> None:
    headers = Headers(raw=[(b"host", header.encode("latin-1", "replace"))])
    assert check_host(headers, ALLOWED) is not None


def test_a_missing_or_doubled_host_stays_outside() -> None:
    assert check_host(Headers(raw=[]), ALLOWED) is not None
    assert check_host(Headers(raw=[(b"host", b"localhost")] * 2), ALLOWED) is not None


@given(st.text(max_size=40))
def test_no_text_makes_the_host_check_fail_open(text: str) -> None:
    name = host_name(text)
    assert name is None or (name.isascii() and name == name.lower())


@pytest.mark.parametrize(
    ("method", "headers", "always", "is_let_in"),
    [
        ("POST", {}, True, True),
        ("POST", {"sec-fetch-site": "same-origin"}, True, True),
        ("POST", {"sec-fetch-site": "none"}, True, True),
        ("POST", {"sec-fetch-site": "cross-site"}, False, False),
        ("POST", {"sec-fetch-site": "same-site"}, False, False),
        ("POST", {"sec-fetch-site": "new-word"}, False, False),
        ("DELETE", {"sec-fetch-site": "cross-site"}, False, False),
        ("GET", {"sec-fetch-site": "cross-site"}, True, False),
        ("GET", {"sec-fetch-site": "cross-site"}, False, True),
        ("POST", {"origin": "http://localhost:8780"}, True, True),
        ("POST", {"origin": "http://localhost:9999"}, True, False),
        ("POST", {"origin": "http://localhost"}, True, False),
        ("POST", {"origin": "null"}, True, False),
        ("POST", {"origin": "http://evil.example"}, True, False),
        ("POST", {"origin": "http://localhost:8780.evil.example"}, True, False),
        ("POST", {"origin": "http://evil@localhost:8780"}, True, False),
        ("POST", {"origin": "file://localhost:8780"}, True, False),
        ("POST", {"origin": ""}, True, False),
        ("POST", {"origin": "http://evil.example", "sec-fetch-site": "same-origin"}, True, False),
    ],
)
def test_other_sites_pages_stay_outside(
    method: str, headers: dict[str, str], always: bool, is_let_in: bool
) -> None:
    given_headers = Headers({"host": "localhost:8780", **headers})
    assert (check_site(given_headers, method, always=always) is None) == is_let_in
