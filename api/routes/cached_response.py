"""Turns the result of a synchronous read into a response that may be cached."""

from starlette.requests import Request
from starlette.responses import Response

from api.responses.envelope import read
from api.server.middleware.response_cache import keep
from api.services.reads.read_result import Answer


def tell(request: Request, answer: Answer) -> Response:
    """Wrap the result in the envelope with an ETag, or answer 304."""
    if answer.is_kept:
        keep(request.scope, entities=answer.entities, until=answer.until)
    return read(request.scope, answer.document)
