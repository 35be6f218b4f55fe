"""The last diagnosis of the platform, and a track to begin with. No platform is contacted."""

import os

from anyio.to_thread import run_sync
from dotenv import dotenv_values
from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from api.responses.documents import Envelope
from api.responses.envelope import conditional_response
from api.routes.dependencies import ReadinessDep, SourcesDep, no_query_parameters
from api.schemas.extensions.doctor import DoctorReport, ExampleDocument, SettingList
from api.schemas.responses import STORE_ERRORS, read_responses
from api.settings import applied_settings
from pipelines.doctor.probes.canaries import example_track
from warehouse.queries.surface_health import read_known_ids

router = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_query_parameters)])


@router.get(
    "/api/v1/sametrack/doctor",
    summary="Last known state of every surface",
    response_model=None,
    responses=read_responses(
        Envelope[DoctorReport], "Last probe of every surface", "unknown_parameter", *STORE_ERRORS
    ),
)
async def sametrack_doctor(request: Request, readiness: ReadinessDep) -> Response:
    """Return readiness checks and the last probe of every surface. 最近一次诊断结果.

    Probes are made by `sametrack doctor` and by the orchestrator's job `canaries`.
    """
    return conditional_response(request.scope, await run_sync(readiness.report))


@router.get(
    "/api/v1/sametrack/example",
    summary="A track to begin with",
    response_model=None,
    responses=read_responses(
        Envelope[ExampleDocument], "A track to begin with", "unknown_parameter", *STORE_ERRORS
    ),
)
async def sametrack_example(request: Request, sources: SourcesDep) -> Response:
    """Return a track of the current world: configured, of the sandbox, or observed. 示例音乐."""

    def find() -> ExampleDocument:
        profile = sources.profile
        found = example_track(
            sources.settings,
            sandbox_port=profile.port if profile.use_sandbox_port else None,
            known=read_known_ids(sources.engine),
        )
        return {"input": found.input, "title": found.title, "is_demo_data": sources.is_demo}

    return conditional_response(request.scope, await run_sync(find))


@router.get(
    "/api/v1/sametrack/settings",
    summary="Settings as they apply",
    response_model=None,
    responses=read_responses(
        Envelope[SettingList], "Settings as they apply", "unknown_parameter", "profile_not_chosen"
    ),
)
async def sametrack_settings(request: Request, sources: SourcesDep) -> Response:
    """Return every setting, its value and where it comes from; secrets stay hidden. 生效的设置."""

    def read() -> SettingList:
        found = applied_settings(
            sources.settings, environment=os.environ, file=dotenv_values(".env")
        )
        return {
            "settings": [
                {
                    "name": one.name,
                    "value": one.value,
                    "source": one.source,
                    "description": one.description,
                }
                for one in found
            ],
            "returned_count": len(found),
            "is_demo_data": sources.is_demo,
        }

    return conditional_response(request.scope, await run_sync(read))
