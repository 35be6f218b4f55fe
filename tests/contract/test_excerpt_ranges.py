"""A player may ask for a part of an excerpt; whatever it asks, the answer is sound."""

import pytest

from api.services.evidence.excerpts import range_response

CONTENT = bytes(range(100))
KEPT = {"Cache-Control": "private"}


def ask(**headers: str) -> tuple[int, bytes, str | None]:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = range_response(CONTENT, given, media_type="audio/mpeg", headers=KEPT)
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["cache-control"] == "private"
    assert answer.headers["content-length"] == str(len(bytes(answer.body)))
    return answer.status_code, bytes(answer.body), answer.headers.get("content-range")


@pytest.mark.parametrize(
    ("wanted", "first", "last"),
    [
        ("bytes=0-", 0, 99),
        ("bytes=0-0", 0, 0),
        ("bytes=10-19", 10, 19),
        ("bytes=90-500", 90, 99),
        ("bytes=-10", 90, 99),
        ("bytes=-500", 0, 99),
        ("bytes=99-", 99, 99),
    ],
)
def test_single_byte_range_of_an_excerpt_is_206(wanted: str, first: int, last: int) -> None:
    assert ask(range=wanted) == (206, CONTENT[first : last + 1], f"bytes {first}-{last}/100")


@pytest.mark.parametrize(
    "wanted",
    ["", "bytes=", "bytes=-", "bytes=100-", "bytes=9-5", "bytes=-0", "bytes=0-1,5-6", "lines=1-2",
     "bytes=a-b", "bytes=٣-٤", "bytes=" + "9" * 400 + "-"],
)  # fmt: skip
def test_unsatisfiable_excerpt_range_gets_the_whole_file(wanted: str) -> None:
    assert ask(range=wanted) == (200, CONTENT, None)


def test_a_part_is_only_joined_to_the_same_file() -> None:
    tag = range_response(CONTENT, {}, media_type="audio/mpeg", headers=KEPT).headers["etag"]
    assert ask(range="bytes=0-4", if_range=tag)[0] == 206
    assert ask(range="bytes=0-4", if_range='"other"')[0] == 200
