"""Evidence of one compared pair: numbers, plot and audio excerpts."""

from functools import partial
from typing import Annotated, Literal

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field
from starlette.responses import Response

from api.params.scan import QueryModel
from api.responses.envelope import conditional_response, record_parameters
from api.routes.dependencies import EvidenceDep, no_query_parameters, no_repeated_parameters
from api.schemas.responses import (
    COMPARISON_RESPONSES,
    EXCERPT_RESPONSES,
    PNG_RESPONSES,
    SVG_RESPONSES,
)
from api.services.byte_ranges import range_response
from api.services.evidence.service import PATH
from warehouse.records.evidence import ExcerptRole

router = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_query_parameters)])
plots = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_repeated_parameters)])

ComparisonId = Annotated[str, Path(description="`evidence.comparison_id` of a result")]
SoundRolePath = Annotated[ExcerptRole, Path(description="which of the two sounds")]
_CACHE_HEADERS = {"Cache-Control": "private, max-age=3600"}  # a stored comparison never changes
# the plot has its style and pixels inline, so it also works when opened on its own
_SVG_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox"
)


class PlotQuery(QueryModel):
    """Query of an evidence plot."""

    language: Literal["en", "zh"] = Field("en", description="language of the texts. 图中文字的语言")


PlotQueryDep = Annotated[PlotQuery, Query()]


@router.get(
    f"{PATH}/{{comparison_id}}",
    summary="Evidence of a compared pair",
    response_model=None,
    responses=COMPARISON_RESPONSES,
)
async def sametrack_comparison(
    request: Request, comparison_id: ComparisonId, scan_service: EvidenceDep
) -> Response:
    """Return the measurements of a pair, their limits, and the path of its plot. 单次比对的证据."""
    record_parameters(request.scope, {"comparison_id": comparison_id})
    return conditional_response(request.scope, await run_sync(scan_service.document, comparison_id))


@plots.get(
    f"{PATH}/{{comparison_id}}/picture.svg",
    summary="Evidence plot of a compared pair (SVG)",
    response_class=Response,
    responses=SVG_RESPONSES,
)
async def sametrack_comparison_svg(
    request: Request, comparison_id: ComparisonId, query: PlotQueryDep, evidence: EvidenceDep
) -> Response:
    """Plot both sounds on one time axis, their similarity, and the limits. 比对图（SVG）."""
    record_parameters(request.scope, {"comparison_id": comparison_id, **query.model_dump()})
    picture = await run_sync(
        partial(evidence.picture, comparison_id, "svg", language=query.language)
    )
    headers = {**_CACHE_HEADERS, "Content-Security-Policy": _SVG_POLICY}
    return Response(picture, media_type="image/svg+xml", headers=headers)


@plots.get(
    f"{PATH}/{{comparison_id}}/picture.png",
    summary="Evidence plot of a compared pair (PNG)",
    response_class=Response,
    responses=PNG_RESPONSES,
)
async def sametrack_comparison_png(
    request: Request, comparison_id: ComparisonId, query: PlotQueryDep, evidence: EvidenceDep
) -> Response:
    """Return the same plot as a bitmap. 比对图（PNG）."""
    record_parameters(request.scope, {"comparison_id": comparison_id, **query.model_dump()})
    picture = await run_sync(
        partial(evidence.picture, comparison_id, "png", language=query.language)
    )
    return Response(picture, media_type="image/png", headers=_CACHE_HEADERS)


@router.get(
    f"{PATH}/{{comparison_id}}/excerpt/{{role}}",
    summary="Excerpt of a compared sound (MP3)",
    response_class=Response,
    responses=EXCERPT_RESPONSES,
)
async def sametrack_comparison_excerpt(
    request: Request, comparison_id: ComparisonId, role: SoundRolePath, scan_service: EvidenceDep
) -> Response:
    """Return the compared stretch of one sound as MP3; supports `Range`. 比对片段试听."""
    record_parameters(request.scope, {"comparison_id": comparison_id, "role": role})
    sound = await run_sync(scan_service.excerpt, comparison_id, role)
    return range_response(sound, request.headers, media_type="audio/mpeg", headers=_CACHE_HEADERS)
