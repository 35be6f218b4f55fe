"""Bodies that are described but never read: endpoints 14 and 15 answer 501 whatever they say."""

from typing import Any

_UNUSED = "accepted, never used"


def _body(**texts: str) -> dict[str, Any]:
    """`keyword` (required), `cursor` and more text fields with their defaults."""
    more = {
        name: {"type": "string", "default": default, "description": _UNUSED}
        for name, default in texts.items()
    }
    schema = {
        "type": "object",
        "required": ["keyword"],
        "properties": {
            "keyword": {"type": "string", "description": "what to search for"},
            "cursor": {"type": "integer", "default": 0, "description": _UNUSED},
            "search_id": {"type": "string", "default": "", "description": _UNUSED},
            **more,
        },
    }
    content = {"application/json": {"schema": schema, "example": {"keyword": "Paper Boats"}}}
    return {"requestBody": {"content": content, "required": True}}


MUSIC_SEARCH_BODY = _body()
VIDEO_SEARCH_BODY = _body(
    backtrace="", sort_type="0", publish_time="0", filter_duration="0", content_type="0"
)
