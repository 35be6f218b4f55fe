"""Evidence of one compared pair: numbers, plot and audio excerpts; annotations by users.

Annotations never confirm a video.
"""

from typing import Annotated, Literal

from anyio.to_thread import run_sync
from fastapi import APIRouter, Body, Depends, Path, Query, Request
from pydantic import Field, StrictBool
from starlette.responses import Response

from api.params.fields import QueryModel
from api.params.notes import AnnotationBody
from api.responses.envelope import conditional_response, record_parameters, success_response
from api.responses.errors import OK, PARTIAL_CONTENT
from api.routes.dependencies import (
    AnnotationsDep,
    DeadlineDep,
    EvidenceDep,
    ServicesDep,
    SourcesDep,
    check_query,
)
from api.schemas import responses
from api.schemas.extensions.exports import AnnotationList, ComparisonDocument
from api.server.json_body import JsonRoute
from api.services.evidence.excerpts import (
    range_response,
    read_beginning,
    read_missing_excerpt,
)
from api.services.evidence.service import PATH
from api.services.reads.sources import Deadline
from warehouse.records.evidence import ExcerptRole
from warehouse.records.values import PLATFORM_ID

router = APIRouter(tags=["Sametrack"], route_class=JsonRoute, dependencies=[Depends(check_query)])

ComparisonId = Annotated[str, Path(description="`evidence.comparison_id` of a result")]
VideoId = Annotated[
    str, Path(pattern=f"^{PLATFORM_ID}$", description="id of a video, 5 to 30 digits. 作品 ID")
]
SoundRolePath = Annotated[ExcerptRole, Path(description="which of the two sounds")]
# A stored comparison never changes.
_CACHE_HEADERS = {"Cache-Control": "private, max-age=3600"}
# The plot has its style and pixels inline, so it also works when it is opened on its own.
_SVG_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox"
)


class PlotQuery(QueryModel):
    """Query of an evidence plot."""

    language: Literal["en", "zh"] = Field("en", description="language of the texts. 图中文字的语言")


class ExcerptQuery(QueryModel):
    """Query of an excerpt."""

    fetch: StrictBool = Field(
        False,
        description="read the sound of the video again if no excerpt is stored. "
        "未保存片段时重新读取该作品的声音",
    )


_PLOT_ERRORS = ("invalid_parameter", *responses.READ_ERRORS, "not_found")


@router.get(
    f"{PATH}/{{comparison_id}}",
    summary="Evidence of a compared pair",
    responses=responses.read_responses(
        ComparisonDocument, "Stored measurements", *responses.READ_ERRORS, "not_found"
    ),
)
def sametrack_comparison(
    request: Request, comparison_id: ComparisonId, evidence: EvidenceDep
) -> Response:
    """Return the measurements of a pair, their limits, and the path of its plot. 单次比对的证据."""
    record_parameters(request.scope, {"comparison_id": comparison_id})
    return conditional_response(request.scope, evidence.document(comparison_id))


@router.get(
    f"{PATH}/{{comparison_id}}/picture.svg",
    summary="Evidence plot of a compared pair (SVG)",
    responses={
        OK: responses.file("image/svg+xml", "Evidence plot"),
        **responses.error_responses(*_PLOT_ERRORS),
    },
    response_class=Response,
)
def sametrack_comparison_svg(
    request: Request,
    comparison_id: ComparisonId,
    query: Annotated[PlotQuery, Query()],
    evidence: EvidenceDep,
) -> Response:
    """Plot both sounds on one time axis, their similarity, and the limits. 比对图（SVG）."""
    record_parameters(request.scope, {"comparison_id": comparison_id, **query.model_dump()})
    picture = evidence.picture(comparison_id, "svg", language=query.language)
    headers = {**_CACHE_HEADERS, "Content-Security-Policy": _SVG_POLICY}
    return Response(picture, media_type="image/svg+xml", headers=headers)


@router.get(
    f"{PATH}/{{comparison_id}}/picture.png",
    summary="Evidence plot of a compared pair (PNG)",
    responses={
        OK: responses.file("image/png", "Evidence plot"),
        **responses.error_responses(*_PLOT_ERRORS),
    },
    response_class=Response,
)
def sametrack_comparison_png(
    request: Request,
    comparison_id: ComparisonId,
    query: Annotated[PlotQuery, Query()],
    evidence: EvidenceDep,
) -> Response:
    """Return the same plot as a bitmap. 比对图（PNG）."""
    record_parameters(request.scope, {"comparison_id": comparison_id, **query.model_dump()})
    picture = evidence.picture(comparison_id, "png", language=query.language)
    return Response(picture, media_type="image/png", headers=_CACHE_HEADERS)


@router.get(
    f"{PATH}/{{comparison_id}}/excerpt/{{role}}",
    summary="Excerpt of a compared sound (MP3)",
    responses={
        OK: responses.file("audio/mpeg", "Audio excerpt of at most ten seconds, mono"),
        PARTIAL_CONTENT: responses.file("audio/mpeg", "The bytes requested by `Range`"),
        **responses.error_responses(*_PLOT_ERRORS),
        **responses.error_responses(
            "provider_unsupported", "audio_unavailable", *responses.UPSTREAM_ERRORS
        ),
    },
    response_class=Response,
)
async def sametrack_comparison_excerpt(
    request: Request,
    comparison_id: ComparisonId,
    role: SoundRolePath,
    query: Annotated[ExcerptQuery, Query()],
    evidence: EvidenceDep,
    services: ServicesDep,
) -> Response:
    """Return the compared stretch of one sound as MP3; supports `Range`. 比对片段试听.

    A scan keeps excerpts of matches and of close rejections, of the sounds that it downloads. For
    others, `fetch=true` reads the sound again as a guest, from its video or from the page of the
    song, and stores the excerpt; it answers 404 if the platform serves another file by now.
    """
    parameters = {"comparison_id": comparison_id, "role": role, **query.model_dump()}
    record_parameters(request.scope, parameters)
    sources = services.sources
    if query.fetch and sources is not None:
        deadline = Deadline(sources.settings.sync_request_timeout)
        await read_missing_excerpt(evidence, sources, comparison_id, role, deadline=deadline)
    sound = await run_sync(evidence.excerpt, comparison_id, role)
    return range_response(sound, request.headers, media_type="audio/mpeg", headers=_CACHE_HEADERS)


@router.get(
    "/api/v1/sametrack/videos/{aweme_id}/excerpt",
    summary="Beginning of a video's sound (MP3)",
    responses={
        OK: responses.file("audio/mpeg", "The first ten seconds, mono"),
        PARTIAL_CONTENT: responses.file("audio/mpeg", "The bytes requested by `Range`"),
        **responses.error_responses(
            "invalid_parameter",
            *responses.READ_ERRORS,
            "not_found",
            "provider_unsupported",
            "audio_unavailable",
            *responses.UPSTREAM_ERRORS,
        ),
    },
    response_class=Response,
)
async def sametrack_video_excerpt(
    request: Request, aweme_id: VideoId, sources: SourcesDep, deadline: DeadlineDep
) -> Response:
    """Return the first seconds of a video's sound as MP3, for a video that no scan compared. 试听.

    The video and its sound are read as a guest, and nothing of the sound is kept.
    """
    record_parameters(request.scope, {"aweme_id": aweme_id})
    sound = await read_beginning(sources, aweme_id, deadline=deadline)
    return range_response(sound, request.headers, media_type="audio/mpeg", headers=_CACHE_HEADERS)


@router.post(
    f"{PATH}/{{comparison_id}}/annotations",
    summary="Annotate a compared pair",
    responses=responses.action_responses(
        AnnotationList,
        "Annotations of the pair, including the new one",
        *responses.BODY_ERRORS,
        "not_found",
        *responses.WRITE_ERRORS,
    ),
)
def sametrack_annotate(
    request: Request,
    comparison_id: ComparisonId,
    body: Annotated[AnnotationBody, Body()],
    annotations: AnnotationsDep,
) -> Response:
    """Store a manual verdict next to the evidence. It does not change the result. 人工标注."""
    record_parameters(request.scope, {"comparison_id": comparison_id, **body.model_dump()})
    stored = annotations.add(comparison_id, body.verdict, note=body.note, origin="api")
    return success_response(request.scope, stored)


@router.get(
    f"{PATH}/{{comparison_id}}/annotations",
    summary="Annotations of a compared pair",
    responses=responses.read_responses(
        AnnotationList, "Annotations of the pair", *responses.READ_ERRORS, "not_found"
    ),
)
def sametrack_annotations(
    request: Request, comparison_id: ComparisonId, annotations: AnnotationsDep
) -> Response:
    """Return all annotations of a pair, oldest first. 人工标注列表."""
    record_parameters(request.scope, {"comparison_id": comparison_id})
    return conditional_response(request.scope, annotations.of(comparison_id))
