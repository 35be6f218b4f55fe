"""Request bodies of endpoints 14 and 15, described only: these always answer 501."""

from warehouse.records.values import Document

_UNUSED = "accepted but unused"


def _body(**texts: str) -> Document:
    """Describe a body with `keyword` (required), `cursor`, `search_id` and the given text
    fields.
    """
    more = {
        name: {"type": "string", "default": default, "description": _UNUSED}
        for name, default in texts.items()
    }
    schema = {
        "type": "object",
        "required": ["keyword"],
        "properties": {
            "keyword": {"type": "string", "description": "search keyword"},
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
