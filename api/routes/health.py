"""Whether the process lives and whether it can work. For supervisors: no envelope, and no
token but for the figures, which tell what is done here.
"""

from anyio.to_thread import run_sync
from fastapi import APIRouter
from starlette.responses import Response

from api.responses.envelope import Json
from api.responses.errors import NOT_READY, OK
from api.routes.dependencies import Figures, Ready
from api.schemas import Health, ReadinessReport
from api.server.metrics import MEDIA_TYPE

router = APIRouter(tags=["Operation"])


@router.get("/healthz", summary="Alive", response_model=None, responses={OK: {"model": Health}})
async def healthz() -> Response:
    """The process is alive. 进程存活."""
    return Json({"status": "ok"})


@router.get(
    "/readyz",
    summary="Ready, or what is wrong",
    response_model=None,
    responses={OK: {"model": ReadinessReport}, NOT_READY: {"model": ReadinessReport}},
)
async def readyz(readiness: Ready) -> Response:
    """Control store, lake, workers and disk, what is wrong with each, and how the platform's
    surfaces last fared. Nothing is asked of the platform. 就绪检查.
    """
    document = await run_sync(readiness.document)
    return Json(document, status_code=OK if document["ready"] else NOT_READY)


@router.get("/metrics", include_in_schema=False)  # no part of the JSON interface
async def metrics(figures: Figures) -> Response:
    """Figures for Prometheus. 监控指标."""
    return Response(await run_sync(figures.text), headers={"Content-Type": MEDIA_TYPE})
