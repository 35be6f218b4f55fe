"""Build the scan service from the settings, for every process that submits scans."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from pipelines.documents.result_types import JobResult
from pipelines.open_stores import engine_when_used, open_control_of
from pipelines.platform import providers
from pipelines.platform.profiles import PlatformProfile
from pipelines.scan.rules.audio_checks import with_audio_checks
from pipelines.scan.service.service import ResultCache, ScanConfig, ScanService
from pipelines.settings import Settings
from warehouse.control import ControlStore
from warehouse.files import free_megabytes
from warehouse.home import Home, open_home

if TYPE_CHECKING:
    from warehouse.engine.duckdb_engine import Engine


@contextmanager
def open_scan_service(settings: Settings) -> Iterator[ScanService]:
    """Open the scan service of the chosen profile; closes its stores afterwards.

    Only the control store is opened at once. DuckDB and Delta are loaded when a result is read.

    Raises:
        ProfileNotChosenError: No profile is chosen.
        WarehouseError: A store cannot be opened, is too new, or belongs to another profile.
    """
    profile = providers.choose_profile(settings)
    home = open_home(settings.data_home, profile.name)
    with open_control_of(settings, home) as control, engine_when_used(settings, home) as engine:
        yield build_scan_service(settings, profile, home, control=control, open_engine=engine)


def build_scan_service(
    settings: Settings,
    profile: PlatformProfile,
    home: Home,
    *,
    control: ControlStore,
    open_engine: "Callable[[], Engine]",
) -> ScanService:
    """Build the service over open stores. It accepts no scan while the disk is nearly full."""

    def read_result(job_id: str) -> JobResult | None:
        from warehouse.queries import results  # noqa: PLC0415 -- loads DuckDB, 0.3 s

        engine = open_engine()
        document = results.read_result_document(engine, job_id)
        if document is None:
            # Another process may just have stored it.
            engine.refresh()
            document = results.read_result_document(engine, job_id)
        result = cast("JobResult | None", document)  # a worker stored it as one of these
        if result is None or "kind" in result:
            return result
        scan_job_id = result.get("scan_job_id", job_id)  # of a copy: the job that compared
        return with_audio_checks(result, results.read_verdicts(engine, scan_job_id))

    provider = providers.music_provider_name(settings)
    world = ScanConfig(
        name=profile.name,
        provider=provider,
        scan_providers=frozenset(providers.PROVIDERS),
        find_target=profile.find_target,
        result_cache_ttl_s=settings.result_cache_ttl,
        job_retention_days=settings.job_retention_days,
        worker_lost_after_s=settings.worker_lost_after_s,
        is_awaited=providers.PROVIDERS[provider].first_screens,
    )
    return ScanService(
        control=control,
        results=ResultCache(read_result),
        world=world,
        has_free_space=lambda: free_megabytes(home.root) >= settings.min_free_disk_mb,
    )
