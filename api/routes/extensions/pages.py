"""The API description with its page, and the console: one page, its files and its messages.

All files are local; nothing is loaded from a CDN. The console is served without a token because
none of it is data: the page calls the API like any client.
"""

import mimetypes
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, FastAPI, Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from api.openapi.description import in_chinese
from api.openapi.reference import build_reference
from api.params.fields import field_parameter
from api.params.watchlists import ThresholdsBody
from api.responses import envelope
from api.responses.errors import NotFoundError
from api.routes.dependencies import ServicesDep, check_query
from api.schemas.extensions.reference import Reference
from api.schemas.responses import read_responses
from api.services.exports.tables import TABLES as EXPORT_TABLES
from pipelines.documents import messages
from pipelines.documents.result_plots import AXES
from pipelines.parameters.scan import PARAMETERS, SORT_LABELS
from warehouse.exports.table_files import FORMAT_NAMES

router = APIRouter(include_in_schema=False)
reference = APIRouter(tags=["Sametrack"], dependencies=[Depends(check_query)])

CHINESE = "zh"
CONSOLE_ROOT = Path(__file__).parents[2] / "console"
_SWAGGER = CONSOLE_ROOT / "vendor" / "swagger-ui-dist"
# Swagger UI does not render under `require-trusted-types-for`.
_REFERENCE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
CONSOLE_FOLDERS = tuple(
    f"{name}/" for name in ("app", "style", "vendor/preact", "vendor/htm", "vendor/signals")
)
_CONSOLE_FILES = StaticFiles(directory=CONSOLE_ROOT)
# A browser asks each time, so that a change shows at once.
_REVALIDATED = "no-cache"
# The list of types of a machine may have an older name.
for _suffix in (".js", ".mjs"):
    mimetypes.add_type("text/javascript", _suffix)
# The files of the reference page; a path is never built from a request.
_FILES = {
    "swagger-ui-bundle.js": (_SWAGGER, "text/javascript"),
    "swagger-ui.css": (_SWAGGER, "text/css"),
    "reference.js": (CONSOLE_ROOT, "text/javascript"),
    "reference.css": (CONSOLE_ROOT, "text/css"),
}
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
    "stop": messages.STOPS,
    "not_read": messages.NOT_READ,
    "link": messages.LINKS,
    "relevance": messages.RELEVANCE,
    "variant": messages.VARIANTS,
    "audio_check": messages.AUDIO_CHECKS,
    "observation": messages.OBSERVATIONS,
    "relation": messages.RELATIONS,
    "shared_part": messages.SHARED_PARTS,
    "reason": messages.REASONS,
    "estimate_method": messages.METHODS,
    "assumption": messages.ASSUMPTIONS,
    "not_estimated": messages.NOT_ESTIMATED,
    "estimate_unit": messages.UNITS,
    "not_audited": messages.NOT_AUDITED,
    "audit_verdict": messages.AUDIT_VERDICTS,
    "figure": messages.FIGURES,
    "axis": AXES,
}
_LIMITS = {
    parameter.name: {
        "minimum": parameter.minimum,
        "maximum": parameter.maximum,
        "default": parameter.default,
        "meaning": parameter.meaning,
        "meaning_zh": parameter.meaning_zh,
    }
    for parameter in (
        *PARAMETERS,
        *(field_parameter(ThresholdsBody, name) for name in ThresholdsBody.model_fields),
    )
}
"""Limits of the forms of scans and watchlists, so that the console need not load the reference."""
_MESSAGES = {
    **{
        table: {name: asdict(words) for name, words in entries.items()}
        for table, entries in _TABLES.items()
    },
    "limits": _LIMITS,
    "columns": {
        table: [
            {"name": column.name, "kind": column.kind, "path": column.path or column.name}
            for column in columns
        ]
        for table, (columns, _) in EXPORT_TABLES.items()
    },
}
"""What the console knows before any answer: messages for codes, limits of the scan form, and the
columns of the files that it writes by itself."""


@reference.get(
    "/api/v1/sametrack/reference",
    summary="Reference of operations, parameters and errors",
    responses=read_responses(Reference, "All operations and error types", "unknown_parameter"),
)
def sametrack_reference(request: Request) -> Response:
    """Return all operations with parameters and limits, and all errors, in two languages.

    全部接口的参数、取值范围与错误说明，中英双语.
    """
    app: FastAPI = request.app
    # Built once: it changes only with the release.
    if not hasattr(app.state, "reference"):
        app.state.reference = envelope.encode_data(build_reference(app.openapi()))
    encoded: envelope.EncodedData = app.state.reference
    return envelope.conditional_response(request.scope, encoded)


@router.get("/openapi.json")
async def openapi_json(request: Request, lang: str = "en") -> Response:
    """Return the OpenAPI 3.1.0 description, in Chinese with `lang=zh`."""
    # In a thread: the first call takes half a second.
    document = await run_sync(request.app.openapi)
    return envelope.JsonResponse(
        await run_sync(in_chinese, document) if lang == CHINESE else document
    )


@router.get("/docs")
async def reference_page() -> Response:
    """Return the page that shows the API description."""
    headers = {"Content-Security-Policy": _REFERENCE_POLICY}
    page = (CONSOLE_ROOT / "reference.html").read_bytes()
    return Response(page, media_type="text/html; charset=utf-8", headers=headers)


@router.get("/docs/{name}")
async def reference_file(name: str) -> Response:
    """Return a file of the page from a fixed table; no path is ever built from a request."""
    if name not in _FILES:
        raise NotFoundError("The reference page has no such file")
    folder, media_type = _FILES[name]
    headers = {"Cache-Control": "public, max-age=3600"}
    return Response(
        (folder / name).read_bytes(), media_type=f"{media_type}; charset=utf-8", headers=headers
    )


@router.get("/")
@router.get("/console")
async def console_page(services: ServicesDep) -> Response:
    """Return the page. Its policy allows only scripts of this service and no other host."""
    page = (CONSOLE_ROOT / "index.html").read_bytes()
    scan_service = services.scan_service
    if scan_service is not None and scan_service.world.is_demo:
        # The banner is there from the first paint, so that nothing moves later.
        page = page.replace(b"<html ", b"<html data-demo ", 1)
    headers = {"Content-Security-Policy": PAGE_POLICY, "Cache-Control": _REVALIDATED}
    return Response(page, media_type="text/html; charset=utf-8", headers=headers)


@router.get("/console/words.json")
async def console_words() -> Response:
    """Return messages for codes in both languages, limits of the scan form, columns of exports."""
    return envelope.JsonResponse(_MESSAGES, headers={"Cache-Control": _REVALIDATED})


@router.get("/console/{name:path}")
async def console_file(request: Request, name: str) -> Response:
    """Return a file of the console by name."""
    if not name.startswith(CONSOLE_FOLDERS):
        raise NotFoundError("The console has no such file")
    response = await _CONSOLE_FILES.get_response(name, request.scope)
    response.headers["Cache-Control"] = _REVALIDATED
    response.headers["Content-Security-Policy"] = PAGE_POLICY
    return response
