"""Units of columns, derived from their names; exceptions are listed here."""

_BY_NAME = {
    "audio_share": "share, 0 to 1",
    "best_rank": "ordinal, from 1",
    "chroma_distance": "distance, 0 to 2",
    "create_time": "unix s",
    "cursor": "cursor of the platform",
    "cursor_in": "cursor of the platform",
    "cursor_out": "cursor of the platform",
    "expansion_round": "ordinal, from 0",
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
_BY_ENDING = (
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
    found = _BY_NAME.get(name)
    return found or next((unit for end, unit in _BY_ENDING if name.endswith(end)), None)
