"""Evidence of one compared pair: numbers, plot and audio excerpts."""

from functools import partial
from typing import Annotated, Literal

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field, StrictBool
from starlette.responses import Response

from api.params.scan import QueryModel
from api.responses.envelope import conditional_response, record_parameters
from api.routes.dependencies import (
    EvidenceDep,
    OptionalSourcesDep,
    no_query_parameters,
    no_repeated_parameters,
)
from api.schemas.responses import (
    COMPARISON_RESPONSES,
    EXCERPT_RESPONSES,
    PNG_RESPONSES,
    SVG_RESPONSES,
)
from api.services.byte_ranges import range_response
from api.services.evidence.excerpt_reader import read_missing_excerpt
from api.services.evidence.service import PATH
from api.services.reads.deadline import Deadline
from warehouse.records.evidence import ExcerptRole

router = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_query_parameters)])
files = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_repeated_parameters)])

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


class ExcerptQuery(QueryModel):
    """Query of an excerpt."""

    fetch: StrictBool = Field(
        False,
        description="read the sound of the video again if no excerpt is stored. "
        "未保存片段时重新读取该作品的声音",
    )


ExcerptQueryDep = Annotated[ExcerptQuery, Query()]


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


@files.get(
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


@files.get(
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


@files.get(
    f"{PATH}/{{comparison_id}}/excerpt/{{role}}",
    summary="Excerpt of a compared sound (MP3)",
    response_class=Response,
    responses=EXCERPT_RESPONSES,
)
async def sametrack_comparison_excerpt(
    request: Request,
    comparison_id: ComparisonId,
    role: SoundRolePath,
    query: ExcerptQueryDep,
    evidence: EvidenceDep,
    sources: OptionalSourcesDep,
) -> Response:
    """Return the compared stretch of one sound as MP3; supports `Range`. 比对片段试听.

    A scan keeps excerpts of matches and of close rejections, of the sounds that it downloads. For
    others, `fetch=true` reads the video and its sound again as a guest and stores the excerpt; it
    answers 404 if the platform serves another file by now.
    """
    asked = {"comparison_id": comparison_id, "role": role, **query.model_dump()}
    record_parameters(request.scope, asked)
    if query.fetch and sources is not None:
        deadline = Deadline(sources.settings.sync_request_timeout)
        await read_missing_excerpt(evidence, sources, comparison_id, role, deadline=deadline)
    sound = await run_sync(evidence.excerpt, comparison_id, role)
    return range_response(sound, request.headers, media_type="audio/mpeg", headers=_CACHE_HEADERS)
