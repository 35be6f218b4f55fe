"""The last diagnosis of the platform, and a track to begin with. No platform is contacted."""

import os

from dotenv import dotenv_values
from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from api.responses.envelope import conditional_response
from api.routes.dependencies import ServicesDep, SourcesDep, check_query
from api.schemas import health
from api.schemas.responses import READ_ERRORS, read_responses
from api.settings import applied_settings
from pipelines.doctor.probes.canaries import example_track
from pipelines.documents.videos import to_document
from warehouse.queries.surface_health import read_known_ids

router = APIRouter(tags=["Sametrack"], dependencies=[Depends(check_query)])


@router.get(
    "/api/v1/sametrack/doctor",
    summary="Last known state of every surface",
    responses=read_responses(health.DoctorReport, "Last probe of every surface", *READ_ERRORS),
)
def sametrack_doctor(request: Request, services: ServicesDep) -> Response:
    """Return readiness checks and the last probe of every surface. 最近一次诊断结果.

    Probes are made by `sametrack doctor` and by the orchestrator's job `canaries`.
    """
    return conditional_response(request.scope, services.readiness.report())


@router.get(
    "/api/v1/sametrack/example",
    summary="A track to begin with",
    responses=read_responses(health.ExampleDocument, "A track to begin with", *READ_ERRORS),
)
def sametrack_example(request: Request, sources: SourcesDep) -> Response:
    """Return a track of the current world: configured, of the sandbox, or observed. 示例音乐."""
    profile = sources.profile
    track = example_track(
        sources.settings,
        sandbox_port=profile.port if profile.use_sandbox_port else None,
        known=read_known_ids(sources.engine),
    )
    example: health.ExampleDocument = {
        "input": track.input,
        "title": track.title,
        "is_demo_data": sources.is_demo,
    }
    return conditional_response(request.scope, example)


@router.get(
    "/api/v1/sametrack/settings",
    summary="Settings as they apply",
    responses=read_responses(
        health.SettingList, "Settings as they apply", "unknown_parameter", "profile_not_chosen"
    ),
)
def sametrack_settings(request: Request, sources: SourcesDep) -> Response:
    """Return every setting, its value and where it comes from; secrets stay hidden. 生效的设置."""
    settings = applied_settings(
        sources.settings, environment=os.environ, file=dotenv_values(".env")
    )
    setting_list: health.SettingList = {
        "settings": [to_document(health.SettingDocument, setting) for setting in settings],
        "returned_count": len(settings),
        "is_demo_data": sources.is_demo,
    }
    return conditional_response(request.scope, setting_list)
