"""Manual annotations of compared pairs. They never confirm a video."""

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Body, Depends, Request
from starlette.responses import Response

from api.params.scan import AnnotationBody
from api.responses.envelope import conditional_response, record_parameters, success_response
from api.routes.dependencies import AnnotationsDep, no_query_parameters
from api.routes.extensions.evidence import ComparisonId
from api.schemas.responses import ANNOTATE_RESPONSES, ANNOTATIONS_RESPONSES
from api.server.middleware.json_body import JsonRoute
from api.services.evidence.service import PATH

router = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_query_parameters)])
writing = APIRouter(
    tags=["Sametrack"], route_class=JsonRoute, dependencies=[Depends(no_query_parameters)]
)


@writing.post(
    f"{PATH}/{{comparison_id}}/annotations",
    summary="Annotate a compared pair",
    response_model=None,
    responses=ANNOTATE_RESPONSES,
)
async def sametrack_annotate(
    request: Request,
    comparison_id: ComparisonId,
    body: Annotated[AnnotationBody, Body()],
    scan_service: AnnotationsDep,
) -> Response:
    """Store a manual verdict next to the evidence. It does not change the result. 人工标注."""
    record_parameters(request.scope, {"comparison_id": comparison_id, **body.model_dump()})
    data = await run_sync(
        lambda: scan_service.add(comparison_id, body.verdict, note=body.note, origin="api")
    )
    return success_response(request.scope, data)


@router.get(
    f"{PATH}/{{comparison_id}}/annotations",
    summary="Annotations of a compared pair",
    response_model=None,
    responses=ANNOTATIONS_RESPONSES,
)
async def sametrack_annotations(
    request: Request, comparison_id: ComparisonId, scan_service: AnnotationsDep
) -> Response:
    """Return all annotations of a pair, oldest first. 人工标注列表."""
    record_parameters(request.scope, {"comparison_id": comparison_id})
    return conditional_response(request.scope, await run_sync(scan_service.of, comparison_id))
