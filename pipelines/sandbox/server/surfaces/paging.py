"""Parses paging parameters as leniently as the platform."""

from starlette.requests import Request

from pipelines.sandbox.server.documents.videos import Document

LARGEST_PAGE = 20


def whole(request: Request, name: str, default: int) -> int:
    """Return a non-negative integer of the query, or the default."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else default  # noqa: PLR2004  # 63 bits


def page_size(request: Request) -> int:
    """Return the requested page size, at most `LARGEST_PAGE`."""
    return min(max(1, whole(request, "count", LARGEST_PAGE)), LARGEST_PAGE)


def with_status(**fields: object) -> Document:
    """Return a JSON document with a success status."""
    return {"status_code": 0, **fields}
