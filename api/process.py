"""The API process: opens the stores that the settings name, serves requests, shuts down cleanly.

It imports neither Dagster nor audio decoding; a test checks `sys.modules`. Without a platform
profile the service still starts, and each request reports what is missing.
"""

import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import override

import uvicorn
from starlette.types import ASGIApp

from api.app import create_app
from api.routes.dependencies import Services
from api.server.health import PlatformHealth, Readiness, probe_disk, probe_workers, probe_writable
from api.server.listener import server_options
from api.server.metrics import Metrics, StoreMetrics
from api.server.request_context import RequestLogger
from api.services.entity_changes import EntityChanges
from api.services.evidence.annotations import AnnotationService
from api.services.evidence.service import EvidenceService
from api.services.job_feed import JobBroadcaster
from api.services.pictures import PictureService
from api.services.reads.chart_backlog import open_chart_history
from api.services.reads.sources import Sources
from api.services.sql.runner import StatementLimits, StatementRunner
from api.services.sql.service import SqlService
from api.settings import ApiSettings
from pipelines.captures.tracing import start_tracing
from pipelines.logs import buffered_logging
from pipelines.open_stores import open_control_of, open_engine_of
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import build_picture_source, choose_profile
from pipelines.scan.service.open_service import build_scan_service
from warehouse.control import ControlStore, job_claims, jobs
from warehouse.control.captures import generations
from warehouse.control.hosts import budgets, circuits, robots
from warehouse.control.sessions import StoredSessions
from warehouse.engine.duckdb_engine import Engine
from warehouse.home.cache_files import open_excerpts, open_pictures
from warehouse.home.folder import Home, open_home
from warehouse.lake.store import Lake
from warehouse.queries.results import (
    read_annotations,
    read_captions,
    read_comparison,
    read_comparisons,
    read_picture_url,
    read_sounds,
)
from warehouse.queries.surface_health import read_last_worked, read_latest_health
from warehouse.records.errors import ProfileNotChosenError
from warehouse.records.values import Row


@contextmanager
def open_services(settings: ApiSettings) -> Iterator[Services]:
    """Open the stores of the chosen profile, if one is chosen."""
    with ExitStack() as stack:
        try:
            profile = choose_profile(settings)
        except ProfileNotChosenError as error:
            reason = error.detail
            yield Services(readiness=Readiness({"profile": lambda: reason}))
            return
        yield _open_stores(settings, profile, stack)


@contextmanager
def build_app_from_settings(
    settings: ApiSettings, *, feed: JobBroadcaster, note: RequestLogger | None = None
) -> Iterator[ASGIApp]:
    """Build the application over open stores and close them afterwards.

    `note` writes the log line of a request.
    """
    with open_services(settings) as opened, open_chart_history(opened.sources) as chart:
        yield create_app(replace(opened, chart=chart, feed=feed), settings=settings, note=note)


def run_server(settings: ApiSettings) -> None:
    """Serve until SIGINT or SIGTERM. Running requests may finish; jobs are not affected."""
    # uvicorn raises the signal again after it has stopped; exit normally so that the stores close
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(0))
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
    """Ends event streams before shutting down: an open stream would keep the server running."""

    def __init__(self, feed: JobBroadcaster, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._feed = feed

    @override
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._feed.stop()
        await super().shutdown(sockets)


def _open_stores(settings: ApiSettings, profile: PlatformProfile, stack: ExitStack) -> Services:
    home = open_home(settings.data_home, profile.name)
    control = stack.enter_context(open_control_of(settings, home))
    engine = stack.enter_context(open_engine_of(settings, home))
    lake = engine.lake
    scan_service = build_scan_service(
        settings, profile, home, control=control, open_engine=lambda: engine
    )
    is_demo = scan_service.world.is_demo
    platform = _platform(control, engine, is_demo=is_demo)
    sources = Sources(
        settings=settings,
        profile=profile,
        engine=engine,
        control=control,
        sounds_dir=home.sounds_dir,
    )
    changes = EntityChanges(partial(generations.read, control), see=engine.refresh)
    control.on_generations_change = changes.mark_changed
    runner = stack.enter_context(closing(_statement_runner(settings, lake)))
    return Services(
        readiness=Readiness(_probes(settings, home, control, lake), platform),
        scan_service=scan_service,
        evidence=_evidence(settings, home, engine, is_demo=is_demo),
        annotations=_annotations(lake, engine, is_demo=is_demo),
        sources=sources,
        sql=SqlService(runner, is_demo=is_demo),
        pictures=_pictures(settings, home, sources),
        changes=changes,
        sessions=StoredSessions(control),
        metrics=Metrics(
            _store_metrics(control, platform, lost_after_s=settings.worker_lost_after_s)
        ),
    )


def _probes(
    settings: ApiSettings, home: Home, control: ControlStore, lake: Lake
) -> dict[str, Callable[[], str | None]]:
    room = probe_disk(home.root, min_free_mb=settings.min_free_disk_mb)
    return {
        "control_store": lambda: _probe_control(control),
        "lake": lambda: _probe_lake(lake),
        "workers": probe_workers(
            lambda: job_claims.live_workers(control, settings.worker_lost_after_s)
        ),
        "disk": lambda: probe_writable(home.root) or room(),
    }


def _pictures(settings: ApiSettings, home: Home, sources: Sources) -> PictureService | None:
    if not settings.pictures:
        return None
    return PictureService(
        files=open_pictures(
            home, max_mb=settings.pictures_max_mb, max_count=settings.pictures_max_count
        ),
        find_url=partial(read_picture_url, sources.engine),
        open_source=lambda: build_picture_source(
            settings, sources.profile, control=sources.control
        ),
    )


def _statement_runner(settings: ApiSettings, lake: Lake) -> StatementRunner:
    limits = StatementLimits(settings.sql_time_limit_s, settings.sql_memory_mb)
    return StatementRunner(lake.url, lake.world, limits=limits)


def _platform(control: ControlStore, engine: Engine, *, is_demo: bool) -> PlatformHealth:
    return PlatformHealth(
        latest=partial(read_latest_health, engine),
        last_worked=partial(read_last_worked, engine),
        circuits=partial(circuits.read_all, control),
        robots=partial(robots.decisions, control),
        is_demo=is_demo,
    )


def _store_metrics(
    control: ControlStore, platform: PlatformHealth, *, lost_after_s: float
) -> StoreMetrics:
    return StoreMetrics(
        jobs=partial(jobs.counts, control),
        queue_age_s=partial(jobs.queue_age_s, control),
        workers=lambda: len(job_claims.live_workers(control, lost_after_s)),
        upstream_requests=partial(budgets.spent_today, control),
        surfaces=platform.states,
    )


def _evidence(
    settings: ApiSettings, home: Home, engine: Engine, *, is_demo: bool
) -> EvidenceService:
    return EvidenceService(
        read_comparison=partial(read_comparison, engine),
        read_comparisons=partial(read_comparisons, engine),
        read_captions=partial(read_captions, engine),
        read_sounds=partial(read_sounds, engine),
        excerpts=open_excerpts(
            home, max_mb=settings.excerpts_max_mb, days=settings.excerpt_retention_days
        ),
        is_demo=is_demo,
    )


def _annotations(lake: Lake, engine: Engine, *, is_demo: bool) -> AnnotationService:
    return AnnotationService(
        read_comparison=partial(read_comparison, engine),
        read_annotations=partial(_read_annotations, engine),
        append=lake.append,
        is_demo=is_demo,
    )


def _read_annotations(engine: Engine, comparison_id: str | None) -> list[Row]:
    engine.refresh()  # make annotations that were just added visible
    return read_annotations(engine, comparison_id)


def _probe_control(control: ControlStore) -> None:
    jobs.newest(control, limit=1)


def _probe_lake(lake: Lake) -> None:
    lake.files("marts.job_results")
