"""Our own: the last report about the platform's surfaces. Reads what was kept; asks nobody."""

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from api.responses.envelope import read
from api.routes.dependencies import Ready, no_query
from api.schemas import DOCTOR_ANSWERS

router = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_query)])


@router.get(
    "/api/v1/sametrack/doctor",
    summary="Last known state of every surface",
    response_model=None,
    responses=DOCTOR_ANSWERS,
)
async def sametrack_doctor(request: Request, readiness: Ready) -> Response:
    """What this service needs, and how each surface of the platform fared when it was last probed.

    `sametrack doctor` and the orchestrator's job `canaries` probe; this reads. 最近一次诊断结果.
    """
    return read(request.scope, await run_sync(readiness.report))
