"""Evidence of one compared pair: numbers, plot and audio excerpts."""

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Path, Request
from starlette.responses import Response

from api.responses.envelope import read, understood
from api.routes.dependencies import Evidence, no_query
from api.schemas import COMPARISON_ANSWERS, EXCERPT_ANSWERS, PNG_ANSWERS, SVG_ANSWERS
from api.services.byte_ranges import whole_or_part
from api.services.evidence.service import PATH
from warehouse.records.excerpts import Role

router = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_query)])

ComparisonId = Annotated[str, Path(description="`evidence.comparison_id` of a result")]
WhichSound = Annotated[Role, Path(description="which of the two sounds")]
_KEPT = {"Cache-Control": "private, max-age=3600"}  # a stored comparison never changes
# the plot has its style and pixels inline, so it also works when opened on its own
_SVG_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox"
)


@router.get(
    f"{PATH}/{{comparison_id}}",
    summary="Evidence of a compared pair",
    response_model=None,
    responses=COMPARISON_ANSWERS,
)
async def sametrack_comparison(
    request: Request, comparison_id: ComparisonId, desk: Evidence
) -> Response:
    """Return the measurements of a pair, their limits, and the path of its plot. 单次比对的证据."""
    understood(request.scope, {"comparison_id": comparison_id})
    return read(request.scope, await run_sync(desk.document, comparison_id))


@router.get(
    f"{PATH}/{{comparison_id}}/picture.svg",
    summary="Evidence plot of a compared pair (SVG)",
    response_class=Response,
    responses=SVG_ANSWERS,
)
async def sametrack_comparison_svg(
    request: Request, comparison_id: ComparisonId, desk: Evidence
) -> Response:
    """Plot both sounds on one time axis, their similarity, and the limits. 比对图 (SVG)."""
    understood(request.scope, {"comparison_id": comparison_id})
    picture = await run_sync(desk.picture, comparison_id, "svg")
    headers = {**_KEPT, "Content-Security-Policy": _SVG_POLICY}
    return Response(picture, media_type="image/svg+xml", headers=headers)


@router.get(
    f"{PATH}/{{comparison_id}}/picture.png",
    summary="Evidence plot of a compared pair (PNG)",
    response_class=Response,
    responses=PNG_ANSWERS,
)
async def sametrack_comparison_png(
    request: Request, comparison_id: ComparisonId, desk: Evidence
) -> Response:
    """Return the same plot as a bitmap. 比对图 (PNG)."""
    understood(request.scope, {"comparison_id": comparison_id})
    picture = await run_sync(desk.picture, comparison_id, "png")
    return Response(picture, media_type="image/png", headers=_KEPT)


@router.get(
    f"{PATH}/{{comparison_id}}/excerpt/{{role}}",
    summary="Excerpt of a compared sound (MP3)",
    response_class=Response,
    responses=EXCERPT_ANSWERS,
)
async def sametrack_comparison_excerpt(
    request: Request, comparison_id: ComparisonId, role: WhichSound, desk: Evidence
) -> Response:
    """Return the compared stretch of one sound as MP3; supports `Range`. 比对片段试听."""
    understood(request.scope, {"comparison_id": comparison_id, "role": role})
    sound = await run_sync(desk.excerpt, comparison_id, role)
    return whole_or_part(sound, request.headers, media_type="audio/mpeg", headers=_KEPT)
