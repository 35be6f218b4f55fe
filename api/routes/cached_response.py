"""Turns the result of a synchronous read into a response that may be cached."""

from starlette.requests import Request
from starlette.responses import Response

from api.responses.envelope import conditional_response
from api.server.middleware.response_cache import cache_response
from api.services.reads.read_result import ReadResult


def to_response[Answer](request: Request, answer: ReadResult[Answer]) -> Response:
    """Wrap the result in the envelope with an ETag, or answer 304."""
    if answer.is_cacheable:
        cache_response(request.scope, entities=answer.entities, until=answer.until)
    return conditional_response(request.scope, answer.document)
