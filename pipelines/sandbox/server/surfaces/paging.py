"""Parses paging parameters as leniently as the platform."""

from starlette.requests import Request

from pipelines.sandbox.server.documents.videos import Document

MAX_PAGE_SIZE = 20


def read_non_negative(request: Request, name: str, default: int) -> int:
    """Return a non-negative integer of the query, or the default."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else default  # noqa: PLR2004  # 63 bits


def page_size(request: Request) -> int:
    """Return the requested page size, at most `MAX_PAGE_SIZE`."""
    return min(max(1, read_non_negative(request, "count", MAX_PAGE_SIZE)), MAX_PAGE_SIZE)


def with_status(**fields: object) -> Document:
    """Return a JSON document with a success status."""
    return {"status_code": 0, **fields}
