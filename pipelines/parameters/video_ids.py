"""Validate the request body of several videos: a list of ids of the allowed size."""

from warehouse.records.errors import InvalidVideoIdsError
from warehouse.records.values import is_platform_id

WEB_VIDEO_IDS = 50
APP_VIDEO_IDS = 10
_KINDS = {dict: "an object", str: "text", bool: "true or false", int: "a number", float: "a number"}


def read_video_ids(document: object, *, most: int) -> tuple[str, ...]:
    """Return the distinct ids of a parsed body, in order.

    Duplicates count towards the size limit.

    Raises:
        InvalidVideoIdsError: The body is not a list of 1 to `most` strings of 5 to 30 digits.
    """
    if not isinstance(document, list):
        kind = _KINDS.get(type(document), "null")
        raise InvalidVideoIdsError(f"The body is {kind}, not a list", hint=_hint(most))
    if not 1 <= len(document) <= most:
        raise InvalidVideoIdsError(f"The list has {len(document)} entries", hint=_hint(most))
    for place, entry in enumerate(document):
        if not isinstance(entry, str) or not is_platform_id(entry):
            raise InvalidVideoIdsError(
                f"Entry {place} of the list is not a string of 5 to 30 digits", hint=_hint(most)
            )
    return tuple(dict.fromkeys(document))


def _hint(most: int) -> str:
    return f"Send a top-level JSON array of 1 to {most} strings, each of 5 to 30 digits"
