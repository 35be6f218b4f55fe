"""Counts are read as written, and a rounded one says that it is."""

import pytest

from pipelines.platform.parsers.fields import JsonNode, ParsedCount, parse_count, read_count
from warehouse.records.errors import StructureChangedError
from warehouse.records.values import MAX_COUNT


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0", ParsedCount(0, is_exact=True)),
        ("1234", ParsedCount(1234, is_exact=True)),
        ("1,234", ParsedCount(1234, is_exact=True)),
        ("1.2w", ParsedCount(12_000, is_exact=False, step=1000)),
        ("1.2W", ParsedCount(12_000, is_exact=False, step=1000)),
        ("1.2万", ParsedCount(12_000, is_exact=False, step=1000)),
        ("123.4万", ParsedCount(1_234_000, is_exact=False, step=1000)),
        ("3亿", ParsedCount(300_000_000, is_exact=False, step=100_000_000)),
        ("12.5k", ParsedCount(12_500, is_exact=False, step=100)),
        ("100+", ParsedCount(100, is_exact=False)),
        (" 7 ", ParsedCount(7, is_exact=True)),
    ],
)
def test_count_is_read_as_written(text: str, count: ParsedCount) -> None:
    assert parse_count(text) == count


@pytest.mark.parametrize(
    "text",
    [
        "", "-1", "1.5", "w", "1e9", "１２", "1,23", "abc", "9" * 30, "99999999999999999亿",
        str(MAX_COUNT + 1),
    ],
)  # fmt: skip
def test_text_that_is_not_a_count_is_none(text: str) -> None:
    assert parse_count(text) is None


@pytest.mark.parametrize("value", [MAX_COUNT, str(MAX_COUNT)])
def test_the_largest_count_is_read_and_any_above_it_is_refused(value: int | str) -> None:
    node = JsonNode({"share_count": value}, "detail", "$")
    assert read_count(node, "share_count") == ParsedCount(MAX_COUNT, is_exact=True)
    above = JsonNode({"share_count": type(value)(MAX_COUNT + 1)}, "detail", "$")
    with pytest.raises(StructureChangedError, match="share_count has an unknown type or range"):
        read_count(above, "share_count")
