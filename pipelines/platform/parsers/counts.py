"""Parser of counts: a number, or a text that may be rounded ("1.2w")."""

import re
from typing import NamedTuple

from pipelines.platform.parsers.fields import JsonNode
from warehouse.records.values import MAX_COUNT

_COUNT = re.compile(
    r"(?P<whole>[0-9]{1,18}|[0-9]{1,3}(?:,[0-9]{3}){1,5})(?:\.(?P<part>[0-9]{1,6}))?"
    r"(?P<unit>[wW万kK千mM亿]?)(?P<more>\+?)",
    re.ASCII,
)
_UNITS = {"": 1, "k": 10**3, "千": 10**3, "w": 10**4, "万": 10**4, "m": 10**6, "亿": 10**8}


class ParsedCount(NamedTuple):
    """A count; `is_exact` is False if it was shown rounded."""

    value: int
    is_exact: bool


def read_count(node: JsonNode, key: str) -> ParsedCount | None:
    """Return the count under a key; None when absent, null or an empty text.

    Raises:
        StructureChangedError: It is neither a number up to `MAX_COUNT` nor a text with one.
    """
    value = node.values.get(key)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        whole = node.whole(key) or 0
        count = ParsedCount(whole, is_exact=True) if whole <= MAX_COUNT else None
    else:
        count = parse_count(value)
    if count is None:
        raise node.changed(key, value)
    return count


def parse_count(text: str) -> ParsedCount | None:
    """Parse "1234", "1,234", "1.2w", "1.2万", "1亿" or "100+"; return None for anything else."""
    found = _COUNT.fullmatch(text.strip())
    # A fraction without a unit, such as 1.5, is no count; 1.200 might be a thousand.
    if found is None or (found["part"] and not found["unit"]):
        return None
    factor = _UNITS[found["unit"].lower()]
    part = found["part"] or ""
    value = int(found["whole"].replace(",", "")) * factor
    value += int(part or "0") * factor // 10 ** len(part)
    is_exact = not found["unit"] and not found["more"]
    return ParsedCount(value, is_exact) if value <= MAX_COUNT else None
