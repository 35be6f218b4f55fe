"""The API description and its page. All files are local; nothing is loaded from a CDN."""

from pathlib import Path

from anyio.to_thread import run_sync
from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response

from api.openapi.description import in_chinese
from api.openapi.reference import build_reference
from api.responses.envelope import EncodedData, JsonResponse, encode_data
from api.responses.errors import NotFoundError
from api.routes.operations import Operations
from api.schemas.extensions.reference import Reference

router = APIRouter(include_in_schema=False)
operations = Operations()

CHINESE = "zh"
_CONSOLE = Path(__file__).parents[2] / "console"
_SWAGGER = _CONSOLE / "vendor" / "swagger-ui-dist"
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)  # Swagger UI does not render under require-trusted-types-for, so it is left out
_FILES = {
    "swagger-ui-bundle.js": (_SWAGGER, "text/javascript"),
    "swagger-ui.css": (_SWAGGER, "text/css"),
    "reference.js": (_CONSOLE, "text/javascript"),
    "reference.css": (_CONSOLE, "text/css"),
}


@operations.read(
    "/api/v1/sametrack/reference",
    "Reference of operations, parameters and errors",
    "All operations and error types",
    "unknown_parameter",
    model=Reference,
)
def sametrack_reference(request: Request) -> EncodedData:
    """Return all operations with parameters and limits, and all errors, in two languages.

    全部接口的参数、取值范围与错误说明，中英双语.
    """
    return _reference(request.app)


def _reference(app: FastAPI) -> EncodedData:
    """Build the reference once: it changes only with the release."""
    if not hasattr(app.state, "reference"):
        app.state.reference = encode_data(build_reference(app.openapi()))
    made: EncodedData = app.state.reference
    return made


@router.get("/openapi.json")
async def openapi_json(request: Request, lang: str = "en") -> Response:
    """Return the OpenAPI 3.1.0 description, in Chinese with `lang=zh`."""
    document = await run_sync(request.app.openapi)  # the first call takes half a second
    return JsonResponse(await run_sync(in_chinese, document) if lang == CHINESE else document)


@router.get("/docs")
async def reference_page() -> Response:
    """Return the page that shows the API description."""
    headers = {"Content-Security-Policy": _PAGE_POLICY}
    page = (_CONSOLE / "reference.html").read_bytes()
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
