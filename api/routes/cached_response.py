"""How the answer of a synchronous read is told: with its tag, and kept as long as it holds."""

from starlette.requests import Request
from starlette.responses import Response

from api.responses.envelope import read
from api.server.middleware.response_cache import keep
from api.services.reads.read_result import Answer


def tell(request: Request, answer: Answer) -> Response:
    """The answer in the envelope; 304 when the reader has the same `data` already."""
    if answer.is_kept:
        keep(request.scope, entities=answer.entities, until=answer.until)
    return read(request.scope, answer.document)
