"""The scheme of column names, and the columns that do not follow it, each with the reason.

A stored column is not renamed for its name alone: the lake adds columns but rewrites none. Where a
view of the star has a better name, the reason says so.
"""

from collections.abc import Mapping

import pyarrow as pa

from warehouse.tables.column import (
    BOOLEAN,
    BYTES,
    DATE,
    FLOAT,
    INTEGER,
    TEXT,
    TEXT_LIST,
    TIME,
    Column,
)

SCHEME = (
    "`snake_case`",
    "ids are text and end in `_id`, lists of them in `_ids`",
    "times end in `_at`, dates in `_date`; the day of a row is `day`",
    "booleans begin with `is_` or `has_`, also after a noun: `music_is_original_sound`",
    "numbers end in their unit: `_count`, `_gained` (a difference), `_s`, `_ms`, `_days`, `_hz`, …",
    "ordinals (`rank`), scores, shares and ratios have no ending; the column `unit` has it",
    "lists are plural",
    "`music_id` is the track in what jobs conclude, and `track_music_id` in the star",
)
"""The rules, as the data dictionary states them."""

EXCEPTIONS: Mapping[str, str] = {
    "came": "stored; the counterpart of `went`",
    "create_time": "the platform's name, in every answer; `created_at` is the same as a time",
    "height": "the platform's name",
    "hot_score": "the name in every answer",
    "items": "the name in the coverage of answers",
    "new_items": "the name in the coverage of answers",
    "pages": "the name in the coverage of answers",
    "profile_complete": "the name in every answer",
    "requests": "the name in the coverage of answers",
    "rise_after": "a bound of a time that nobody observed",
    "rise_before": "a bound of a time that nobody observed",
    "said": "no id: what a user decided",
    "sec_uid": "the platform's name of the id of an account, in every answer",
    "skipped_cards": "stored",
    "statistics_complete": "the name in every answer",
    "total_favorited": "the platform's name, in every answer; in the star `likes_received_count`",
    "uid": "the platform's name of the numeric id of an account",
    "volid": "the chart's name of the id of an issue",
    "went": "stored; the counterpart of `came`",
    "width": "the platform's name",
}
"""Columns outside the scheme, with the reason."""

_ENDINGS: Mapping[pa.DataType, tuple[str, ...]] = {
    TIME: ("_at",),
    DATE: ("_date",),
    INTEGER: ("_count", "_gained", "_s", "_ms", "_days", "_bytes", "_hz"),
    FLOAT: ("_s", "_days"),
    TEXT_LIST: ("s",),
    TEXT: ("",),
    BYTES: ("",),
    BOOLEAN: ("",),
}
_RESERVED: Mapping[str, tuple[pa.DataType, ...]] = {
    "_at": (TIME,),
    "_date": (DATE,),
    "_id": (TEXT,),
    "_ids": (TEXT_LIST,),
    "_count": (INTEGER,),
    "_gained": (INTEGER,),
    "_days": (INTEGER, FLOAT),
}
_UNITLESS = frozenset({
    "HTTP status", "cursor of the platform", "distance", "ordinal", "ordinal of the source",
    "ratio", "score", "semitone", "share", "weight",
})  # fmt: skip


def follows_scheme(column: Column) -> bool:
    """Return whether the name of a column says what it has to say."""
    name = column.name
    if name != name.lower() or name.strip("_") != name or "__" in name:
        return False
    if name.endswith("id") and not name.endswith("_id"):
        return False
    if any(column.type not in types for end, types in _RESERVED.items() if name.endswith(end)):
        return False
    is_boolean = name.startswith(("is_", "has_")) or "_is_" in name
    if is_boolean or column.type == BOOLEAN:
        return is_boolean and column.type == BOOLEAN
    return name.endswith(_ENDINGS[column.type]) or name == "day" or _has_no_unit(column)


def _has_no_unit(column: Column) -> bool:
    return column.type in (INTEGER, FLOAT) and (column.unit or "").partition(",")[0] in _UNITLESS
