"""Reading of paging parameters, as forgiving as the platform."""

from starlette.requests import Request

from pipelines.sandbox.server.documents.videos import Document

LARGEST_PAGE = 20


def whole(request: Request, name: str, default: int) -> int:
    """A whole number of at least 0 from the query; the default for anything else."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else default  # noqa: PLR2004  # 63 bits


def page_size(request: Request) -> int:
    """Wanted size of a page, at most `LARGEST_PAGE`."""
    return min(max(1, whole(request, "count", LARGEST_PAGE)), LARGEST_PAGE)


def with_status(**fields: object) -> Document:
    """A JSON answer that went well."""
    return {"status_code": 0, **fields}
