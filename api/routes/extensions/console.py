"""The console: one page, its static files, and the messages shared with report and terminal.

Served without a token because none of it is data. The page calls the API like any client.
"""

from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache

import orjson
from anyio.to_thread import run_sync
from fastapi import APIRouter, Request
from starlette.responses import Response

from api.responses.errors import NotFoundError
from api.routes.dependencies import ServicesDep
from api.server.middleware.static_files import StaticFile, read_static_file
from pipelines.documents import coverage_messages, messages, stop_reasons
from pipelines.parameters.scan import PARAMETERS, SORT_LABELS
from warehouse.exports.table_files import FORMAT_NAMES

router = APIRouter(include_in_schema=False)

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "media-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_TABLES: Mapping[str, Mapping[str, messages.Message]] = {
    "sort": {order: messages.Message(*labels) for order, labels in SORT_LABELS.items()},
    "file_format": {form: messages.Message(name, name) for form, name in FORMAT_NAMES.items()},
    "surface": messages.SURFACES,
    "question": messages.QUESTIONS,
    "left_out": messages.LEFT_OUT,
    "stop": stop_reasons.STOPS,
    "not_read": messages.NOT_READ,
    "link": messages.LINKS,
    "relevance": messages.RELEVANCE,
    "variant": messages.VARIANTS,
    "observation": messages.OBSERVATIONS,
    "reason": messages.REASONS,
    "estimate_method": coverage_messages.METHODS,
    "assumption": coverage_messages.ASSUMPTIONS,
    "not_estimated": coverage_messages.NOT_ESTIMATED,
    "estimate_unit": coverage_messages.UNITS,
    "not_audited": coverage_messages.NOT_AUDITED,
    "audit_verdict": coverage_messages.AUDIT_VERDICTS,
    "figure": messages.FIGURES,
}
_LIMITS = {
    one.name: {
        "minimum": one.minimum,
        "maximum": one.maximum,
        "default": one.default,
        "meaning": one.meaning,
        "meaning_zh": one.meaning_zh,
    }
    for one in PARAMETERS
}
"""Limits of the scan form; the whole reference is larger and slower to come."""
_MESSAGES = StaticFile(
    orjson.dumps(
        {
            **{
                table: {name: asdict(words) for name, words in entries.items()}
                for table, entries in _TABLES.items()
            },
            "limits": _LIMITS,
        }
    ),
    "application/json",
)


@router.get("/")
@router.get("/console")
async def console_page(request: Request, services: ServicesDep) -> Response:
    """Return the page. Its policy allows only scripts of this service and no other host."""
    page = await run_sync(read_static_file, "index.html")
    assert page is not None, "the package includes the page"
    scan_service = services.scan_service
    if scan_service is not None and scan_service.world.is_demo:
        page = _marked_as_demo(page)
    return page.answer(request.headers, Content_Security_Policy=PAGE_POLICY)


@lru_cache(maxsize=4)
def _marked_as_demo(page: StaticFile) -> StaticFile:
    """Mark the page, so that its banner is there from the first paint and nothing moves later."""
    return StaticFile(page.body.replace(b"<html ", b"<html data-demo ", 1), page.media_type)


@router.get("/console/words.json")
async def console_words(request: Request) -> Response:
    """Return messages for codes in both languages, and the limits of the scan form."""
    return _MESSAGES.answer(request.headers)


@router.get("/console/{name:path}")
async def console_file(request: Request, name: str) -> Response:
    """Return a file of the console by name."""
    found = await run_sync(read_static_file, name)
    if found is None:
        raise NotFoundError("The console has no such file")
    return found.answer(request.headers, Content_Security_Policy=PAGE_POLICY)
