"""The scheme of column names, the columns that do not follow it, and the units that names imply.

A stored column is not renamed for its name alone: the lake adds columns but rewrites none. Where a
view of the star has a better name, the reason says so.
"""

from collections.abc import Mapping

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
    "foreign_rows": "the name in the coverage of answers",
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

_UNIT_OF_NAME = {
    "audio_share": "share, 0 to 1",
    "best_rank": "ordinal, from 1",
    "chroma_distance": "distance, 0 to 2",
    "create_time": "unix s",
    "cursor": "cursor of the platform",
    "cursor_in": "cursor of the platform",
    "cursor_out": "cursor of the platform",
    "expansion_round": "ordinal, from 0",
    "foreign_rows": "count",
    "height": "px",
    "hot_score": "weighted count",
    "http_status": "HTTP status",
    "items": "count",
    "mfcc_distance": "distance, 0 to 2",
    "new_items": "count",
    "next_cursor": "cursor of the platform",
    "number": "ordinal, from 1",
    "own_share": "share, 0 to 1",
    "pages": "count",
    "peak_agreement": "share, -1 to 1",
    "position": "ordinal, from 0",
    "previous_rank": "ordinal, from 1",
    "priority": "weight",
    "rank": "ordinal, from 1",
    "requests": "count",
    "round": "ordinal, from 0",
    "run_number": "ordinal, from 1",
    "sample_share": "share, 0 to 1",
    "upper_share": "share, 0 to 1",
    "score": "score, 0 to 1",
    "semitones": "semitone",
    "sequence": "ordinal, from 1",
    "skipped_cards": "count",
    "sort": "ordinal of the source",
    "speed": "ratio",
    "total_favorited": "count",
    "weekday": "ordinal, from 1",
    "width": "px",
}
_UNIT_OF_ENDING = (
    ("_count", "count"),
    ("_gained", "count"),
    ("_bytes", "byte"),
    ("_days", "day"),
    ("_ms", "ms"),
    ("_hz", "Hz"),
    ("_s", "s"),
)


def unit_of(name: str) -> str | None:
    """Return the unit of a numeric column of this name, or None if the name implies none."""
    # A name of its own first: `create_time` or `rank` has no ending.
    unit = _UNIT_OF_NAME.get(name)
    return unit or next((unit for end, unit in _UNIT_OF_ENDING if name.endswith(end)), None)
