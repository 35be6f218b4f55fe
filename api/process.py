"""The API process: opens the stores that the settings name, serves requests, shuts down cleanly.

It imports neither Dagster nor audio decoding; a test checks `sys.modules`. Without a platform
profile the service still starts, and each request reports what is missing.
"""

import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import override

import uvicorn
from starlette.types import ASGIApp

from api.app import create_app
from api.routes.dependencies import Services
from api.server.access.sessions import open_session_key, signer_of
from api.server.health import PlatformHealth, Readiness, probe_disk, probe_workers, probe_writable
from api.server.listener import server_options
from api.server.metrics import Metrics, StoreMetrics
from api.server.middleware import RequestLogger
from api.server.response_cache import EntityChanges
from api.services.evidence.annotations import AnnotationService
from api.services.evidence.service import EvidenceService
from api.services.job_feed import JobBroadcaster
from api.services.pictures import PictureService
from api.services.reads.chart import open_chart_history
from api.services.reads.sources import Sources
from api.services.shared_links import SharedLinkService
from api.services.sql.runner import StatementLimits, StatementRunner
from api.services.sql.service import SqlService
from api.services.tracks import TrackService
from api.settings import SHARED_PAGES, ApiSettings
from pipelines.captures.tracing import start_tracing
from pipelines.logs import buffered_logging
from pipelines.open_stores import open_control_of, open_engine_of
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import build_picture_source, choose_profile
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.scan.service.open_service import build_scan_service
from warehouse.caches import open_excerpts, open_pictures
from warehouse.control import ControlStore, captures, hosts, jobs
from warehouse.control.access.sessions import StoredSessions
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import Home, open_home
from warehouse.queries import results, surface_health
from warehouse.records.errors import ProfileNotChosenError
from warehouse.records.values import Row


def run_server(settings: ApiSettings) -> None:
    """Serve until SIGINT or SIGTERM. Running requests may finish; jobs are not affected."""
    # uvicorn raises the signal again after it has stopped; exit normally, so that the stores close.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(0))
    # Made here, because the server ends its streams before it closes the application.
    feed = JobBroadcaster(limit=settings.event_streams_max)
    start_tracing()
    with (
        suppress(KeyboardInterrupt),
        buffered_logging() as lines,
        build_app_from_settings(settings, feed=feed, note=lines.note) as app,
    ):
        _Server(
            feed,
            uvicorn.Config(
                app,
                host=settings.api_host,
                port=settings.api_port,
                timeout_graceful_shutdown=settings.stop_grace_s,
                log_config=None,
                **server_options(settings),
            ),
        ).run()


class _Server(uvicorn.Server):
    """Ends event streams before it shuts down: an open stream would keep the server running."""

    def __init__(self, feed: JobBroadcaster, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._feed = feed

    @override
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._feed.stop()
        await super().shutdown(sockets)


@contextmanager
def build_app_from_settings(
    settings: ApiSettings, *, feed: JobBroadcaster, note: RequestLogger | None = None
) -> Iterator[ASGIApp]:
    """Build the application over open stores and close them afterwards.

    `note` writes the log line of a request.
    """
    with open_services(settings) as opened, open_chart_history(opened.sources) as chart:
        services = replace(opened, chart=chart, feed=feed)
        yield create_app(services, settings=settings, note=note)


@contextmanager
def open_services(settings: ApiSettings) -> Iterator[Services]:
    """Open the stores of the chosen profile, if one is chosen, and the services over them."""
    try:
        profile = choose_profile(settings)
    except ProfileNotChosenError as error:
        reason = error.detail
        yield Services(readiness=Readiness({"profile": lambda: reason}))
        return
    home = open_home(settings.data_home, profile.name)
    limits = StatementLimits(settings.sql_time_limit_s, settings.sql_memory_mb)
    with (
        open_control_of(settings, home) as control,
        open_engine_of(settings, home) as engine,
        closing(StatementRunner(engine.lake.url, engine.lake.world, limits=limits)) as runner,
    ):
        yield _build_services(settings, profile, home, control, engine, runner)


def _build_services(
    settings: ApiSettings,
    profile: PlatformProfile,
    home: Home,
    control: ControlStore,
    engine: Engine,
    runner: StatementRunner,
) -> Services:
    scan_service = build_scan_service(
        settings, profile, home, control=control, open_engine=lambda: engine
    )
    is_demo = scan_service.world.is_demo
    sources = Sources(
        settings=settings,
        profile=profile,
        engine=engine,
        control=control,
        sounds_dir=home.sounds_dir,
    )

    # A capture of this process invalidates cached responses at once. Those of other processes are
    # noticed by their counters; then the engine has to see the new files, too.
    changes = EntityChanges(partial(captures.read_generations, control), see=engine.refresh)
    control.on_generations_change = changes.report_changed

    def read_all_annotations(comparison_id: str | None) -> list[Row]:
        engine.refresh()  # an annotation is shown right after it was added
        return results.read_annotations(engine, comparison_id)

    evidence = EvidenceService(
        read_comparison=partial(results.read_comparison, engine),
        read_comparisons=partial(results.read_comparisons, engine),
        read_captions=partial(results.read_captions, engine),
        read_sounds=partial(results.read_sounds, engine),
        excerpts=open_excerpts(
            home, max_mb=settings.excerpts_max_mb, days=settings.excerpt_retention_days
        ),
        is_demo=is_demo,
    )
    readiness, metrics = _build_health(settings, home, control, engine, is_demo=is_demo)
    return Services(
        readiness=readiness,
        metrics=metrics,
        scan_service=scan_service,
        evidence=evidence,
        annotations=AnnotationService(
            read_comparison=partial(results.read_comparison, engine),
            read_annotations=read_all_annotations,
            append=engine.lake.append,
            is_demo=is_demo,
        ),
        sources=sources,
        sql=SqlService(runner, is_demo=is_demo),
        pictures=_build_pictures(settings, home, sources) if settings.pictures else None,
        shared_links=SharedLinkService(
            control,
            scan_service,
            evidence,
            read_track=TrackService(engine, control, is_demo=is_demo).page,
            open_signer=lambda: signer_of(open_session_key(settings.data_home), SHARED_PAGES),
        ),
        changes=changes,
        sessions=StoredSessions(control),
    )


def _build_pictures(settings: ApiSettings, home: Home, sources: Sources) -> PictureService:
    files = open_pictures(
        home, max_mb=settings.pictures_max_mb, max_count=settings.pictures_max_count
    )
    return PictureService(
        files=files,
        find_url=partial(results.read_picture_url, sources.engine),
        open_source=lambda: build_picture_source(
            ProviderDependencies(
                settings=settings, profile=sources.profile, control=sources.control
            )
        ),
    )


def _build_health(
    settings: ApiSettings, home: Home, control: ControlStore, engine: Engine, *, is_demo: bool
) -> tuple[Readiness, Metrics]:
    """Build what reports the state of this process, its stores and the platform."""

    def live_workers() -> Sequence[str]:
        return jobs.live_workers(control, settings.worker_lost_after_s)

    # The probes of the stores read something small and discard it.
    def probe_control() -> None:
        jobs.newest(control, limit=1)

    def probe_lake() -> None:
        engine.lake.files("marts.job_results")

    probe_space = probe_disk(home.root, min_free_mb=settings.min_free_disk_mb)
    platform = PlatformHealth(
        latest=partial(surface_health.read_latest_health, engine),
        last_worked=partial(surface_health.read_last_worked, engine),
        circuits=partial(hosts.read_circuits, control),
        robots=partial(hosts.robots_decisions, control),
        is_demo=is_demo,
    )
    probes: dict[str, Callable[[], str | None]] = {
        "control_store": probe_control,
        "lake": probe_lake,
        "workers": probe_workers(live_workers),
        "disk": lambda: probe_writable(home.root) or probe_space(),
    }
    store_metrics = StoreMetrics(
        jobs=partial(jobs.counts, control),
        queue_age_s=partial(jobs.queue_age_s, control),
        workers=lambda: len(live_workers()),
        upstream_requests=partial(hosts.spent_today, control),
        surfaces=platform.states,
    )
    return Readiness(probes, platform), Metrics(store_metrics)
