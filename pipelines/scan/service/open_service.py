"""Build the scan service from the settings, for every process that submits scans."""

from collections.abc import Callable
from typing import Any

from pipelines.platform.profiles import Profile
from pipelines.platform.providers import (
    music_provider_name,
    reads_first_screens_alone,
    supported_music_providers,
)
from pipelines.scan.service.result_cache import Results
from pipelines.scan.service.service import ScanDesk, World
from pipelines.settings import Settings
from warehouse.control import ControlStore
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries.results import read_result_document


def build_desk(
    settings: Settings,
    profile: Profile,
    *,
    control: ControlStore,
    engine: Engine,
    has_room: Callable[[], bool] = lambda: True,
) -> ScanDesk:
    """Build the service over open stores."""
    world = World(
        name=profile.name,
        provider=music_provider_name(settings),
        scan_providers=supported_music_providers(),
        find_target=profile.find_target,
        result_cache_ttl_s=settings.result_cache_ttl,
        job_retention_days=settings.job_retention_days,
        worker_lost_after_s=settings.worker_lost_after_s,
        is_awaited=reads_first_screens_alone(music_provider_name(settings)),
    )
    return ScanDesk(
        control=control,
        results=Results(lambda job_id: _read_result(engine, job_id)),
        world=world,
        has_room=has_room,
    )


def _read_result(engine: Engine, job_id: str) -> dict[str, Any] | None:
    """Read a result; refresh the engine once, because another process may just have stored it."""
    found = read_result_document(engine, job_id)
    if found is None:
        engine.refresh()
        found = read_result_document(engine, job_id)
    return found
