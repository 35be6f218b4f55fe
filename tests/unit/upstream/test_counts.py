"""Counts are read as written, and a rounded one says that it is."""

import pytest

from pipelines.platform.parsers.counts import Count, parse_count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0", Count(0, is_exact=True)),
        ("1234", Count(1234, is_exact=True)),
        ("1,234", Count(1234, is_exact=True)),
        ("1.2w", Count(12_000, is_exact=False)),
        ("1.2W", Count(12_000, is_exact=False)),
        ("1.2万", Count(12_000, is_exact=False)),
        ("3亿", Count(300_000_000, is_exact=False)),
        ("12.5k", Count(12_500, is_exact=False)),
        ("100+", Count(100, is_exact=False)),
        (" 7 ", Count(7, is_exact=True)),
    ],
)
def test_count_is_read_as_written(text: str, count: Count) -> None:
    assert parse_count(text) == count


@pytest.mark.parametrize(
    "text", ["", "-1", "1.5", "w", "1e9", "１２", "1,23", "abc", "9" * 30, "99999999999999999亿"]
)
def test_what_is_no_count_is_not_guessed(text: str) -> None:
    assert parse_count(text) is None
