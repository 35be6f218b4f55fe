"""The console: one page, its files, and the plain words that it shares with report and terminal.

Served without a token: nothing here is data. The page asks the API for data like any program.
"""

from dataclasses import asdict

import orjson
from anyio.to_thread import run_sync
from fastapi import APIRouter, Request
from starlette.responses import Response

from api.responses.errors import NotFoundError
from api.server.middleware.static_files import PageFile, read_page_file
from api.services.report import messages as wording

router = APIRouter(include_in_schema=False)

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "media-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_TABLES = {
    "surface": wording.SURFACES,
    "stop": wording.STOPS,
    "not_read": wording.NOT_READ,
    "link": wording.LINKS,
    "relevance": wording.RELEVANCE,
    "variant": wording.VARIANTS,
    "observation": wording.OBSERVATIONS,
    "reason": wording.REASONS,
}
_WORDS = PageFile(
    orjson.dumps(
        {
            table: {name: asdict(words) for name, words in entries.items()}
            for table, entries in _TABLES.items()
        }
    ),
    "application/json",
)


@router.get("/")
@router.get("/console")
async def console_page(request: Request) -> Response:
    """The page. It loads nothing from another host and runs no script but its own files."""
    page = await run_sync(read_page_file, "index.html")
    assert page is not None, "the page is part of the package"
    return page.answer(request.headers, Content_Security_Policy=PAGE_POLICY)


@router.get("/console/words.json")
async def console_words(request: Request) -> Response:
    """Plain words of surfaces, stop reasons and verdicts in both languages."""
    return _WORDS.answer(request.headers)


@router.get("/console/{name:path}")
async def console_file(request: Request, name: str) -> Response:
    """A file of the page, by its name."""
    found = await run_sync(read_page_file, name)
    if found is None:
        raise NotFoundError("The console has no such file")
    return found.answer(request.headers, Content_Security_Policy=PAGE_POLICY)
