"""Health checks and metrics for supervisors.

They have no envelope. Only the metrics require a token, because they describe the activity of this
service.
"""

from anyio.to_thread import run_sync
from fastapi import APIRouter
from starlette.responses import Response

from api.responses.envelope import JsonResponse
from api.responses.errors import NOT_READY, OK
from api.routes.dependencies import ServicesDep
from api.schemas.health import Health, ReadinessReport
from api.server.metrics import MEDIA_TYPE

router = APIRouter(tags=["Operation"])


@router.get("/healthz", summary="Liveness", responses={OK: {"model": Health}})
async def healthz() -> Response:
    """Report that the process is alive. 进程存活."""
    return JsonResponse({"status": "ok"})


@router.get(
    "/readyz",
    summary="Readiness",
    responses={OK: {"model": ReadinessReport}, NOT_READY: {"model": ReadinessReport}},
)
async def readyz(services: ServicesDep) -> Response:
    """Return the checks of control store, lake, workers and disk, and the last surface probes.

    Contacts no host. 就绪检查.
    """
    document = await run_sync(services.readiness.document)
    return JsonResponse(document, status_code=OK if document["ready"] else NOT_READY)


@router.get("/metrics", include_in_schema=False)  # not part of the JSON interface
async def metrics(services: ServicesDep) -> Response:
    """Return Prometheus metrics. 监控指标."""
    return Response(await run_sync(services.metrics.text), headers={"Content-Type": MEDIA_TYPE})
