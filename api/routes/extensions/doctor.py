"""The last diagnosis of the platform's surfaces. Reads stored probes and contacts no host."""

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from api.responses.envelope import conditional_response
from api.routes.dependencies import ReadinessDep, no_query_parameters
from api.schemas.responses import DOCTOR_RESPONSES

router = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_query_parameters)])


@router.get(
    "/api/v1/sametrack/doctor",
    summary="Last known state of every surface",
    response_model=None,
    responses=DOCTOR_RESPONSES,
)
async def sametrack_doctor(request: Request, readiness: ReadinessDep) -> Response:
    """Return readiness checks and the last probe of every surface. 最近一次诊断结果.

    Probes are made by `sametrack doctor` and by the orchestrator's job `canaries`.
    """
    return conditional_response(request.scope, await run_sync(readiness.report))
