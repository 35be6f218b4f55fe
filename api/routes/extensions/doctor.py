"""The last diagnosis of the platform, and a track to begin with. No platform is contacted."""

import os

from dotenv import dotenv_values

from api.responses.documents import to_document
from api.routes.dependencies import ServicesDep, SourcesDep
from api.routes.operations import OperationRoutes
from api.schemas import health
from api.schemas.responses import READ_ERRORS
from api.settings import applied_settings
from pipelines.doctor.probes.canaries import example_track
from warehouse.queries.surface_health import read_known_ids

operations = OperationRoutes()


@operations.read(
    "/api/v1/sametrack/doctor",
    "Last known state of every surface",
    "Last probe of every surface",
    *READ_ERRORS,
)
def sametrack_doctor(services: ServicesDep) -> health.DoctorReport:
    """Return readiness checks and the last probe of every surface. 最近一次诊断结果.

    Probes are made by `sametrack doctor` and by the orchestrator's job `canaries`.
    """
    return services.readiness.report()


@operations.read(
    "/api/v1/sametrack/example", "A track to begin with", "A track to begin with", *READ_ERRORS
)
def sametrack_example(sources: SourcesDep) -> health.ExampleDocument:
    """Return a track of the current world: configured, of the sandbox, or observed. 示例音乐."""
    profile = sources.profile
    track = example_track(
        sources.settings,
        sandbox_port=profile.port if profile.use_sandbox_port else None,
        known=read_known_ids(sources.engine),
    )
    return {"input": track.input, "title": track.title, "is_demo_data": sources.is_demo}


@operations.read(
    "/api/v1/sametrack/settings",
    "Settings as they apply",
    "Settings as they apply",
    "unknown_parameter",
    "profile_not_chosen",
)
def sametrack_settings(sources: SourcesDep) -> health.SettingList:
    """Return every setting, its value and where it comes from; secrets stay hidden. 生效的设置."""
    settings = applied_settings(
        sources.settings, environment=os.environ, file=dotenv_values(".env")
    )
    return {
        "settings": [to_document(health.SettingDocument, setting) for setting in settings],
        "returned_count": len(settings),
        "is_demo_data": sources.is_demo,
    }
