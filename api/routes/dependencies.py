"""Dependencies of the routes: the services of the application, and checks of a request.

They are all coroutines although none waits, because the framework runs plain functions in a thread.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, cast

from fastapi import Depends, Request
from fastapi.routing import APIRoute

from api.responses.envelope import request_info
from api.responses.errors import NotFoundError, UnknownParameterError
from api.server.access.sessions import SessionsInMemory, SessionStore
from api.server.health import Readiness
from api.server.metrics import Metrics
from api.server.response_cache import EntityChanges
from api.server.validation_errors import quote_value
from api.services.evidence.annotations import AnnotationService
from api.services.evidence.service import EvidenceService
from api.services.job_document import JobResponses
from api.services.job_feed import JobBroadcaster
from api.services.pictures import PictureService
from api.services.reads.chart import ChartHistoryReader
from api.services.reads.sources import Deadline, Sources, preferred_wait
from api.services.shared_links import SharedLinkService
from api.services.sql.service import SqlService
from pipelines.scan.service.service import ScanService
from warehouse.records import errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Services of an application. While no profile is chosen, all that need one are None.

    `pictures` None: none are shown. `changes` None: what depends on captures is not cached. `feed`
    None: one with the limit of the settings. `sync_job_timeout`: seconds that a request waits for a
    job.
    """

    readiness: Readiness
    scan_service: ScanService | None = None
    evidence: EvidenceService | None = None
    annotations: AnnotationService | None = None
    sources: Sources | None = None
    chart: ChartHistoryReader | None = None
    sql: SqlService | None = None
    pictures: PictureService | None = None
    shared_links: SharedLinkService | None = None
    changes: EntityChanges | None = None
    feed: JobBroadcaster | None = None
    sessions: SessionStore = field(default_factory=SessionsInMemory)
    metrics: Metrics = field(default_factory=Metrics)
    job_responses: JobResponses = field(default_factory=JobResponses)
    sync_job_timeout: float = 120.0


async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


class NotChosen:
    """Stands for a service while no platform profile is chosen; any use of it is refused.

    The framework resolves services before it reads parameters. So that a wrong parameter is
    reported first, a missing service raises where the handler uses it.
    """

    def __init__(self, error: errors.SametrackError) -> None:
        self._error = error

    def __getattr__(self, _name: str) -> object:
        raise self._error


def _part(name: str) -> Callable[[Request], Awaitable[object]]:
    """Return a dependency on one of the services."""

    async def find(request: Request) -> object:
        service: object = getattr(request.app.state.services, name)
        if service is not None:
            return service
        detail = "No platform profile is chosen, so nothing is contacted or stored"
        if "job_id" in request.path_params:
            return NotChosen(errors.JobNotFoundError(f"No job has this id. {detail}"))
        return NotChosen(errors.ProfileNotChosenError(detail))

    return find


def built_from[Service, Built](service: Service, build: Callable[[Service], Built]) -> Built:
    """Return what is built from a service; while no profile is chosen, what refuses its use."""
    return cast("Built", service) if isinstance(service, NotChosen) else build(service)


async def check_query(request: Request) -> None:
    """Refuse repeated parameters, or any at all if the operation has none.

    The framework would silently ignore unknown ones, and use the last of repeated ones.

    Raises:
        InvalidParameterError: A parameter is repeated.
        UnknownParameterError: The operation has no query parameters, and the request has one.
    """
    route: APIRoute = request.scope["route"]
    counts = Counter(name for name, _ in request.query_params.multi_items())
    for name, count in counts.items():
        if not route.dependant.query_params:
            raise UnknownParameterError(
                f"{quote_value(name)} is not a parameter of this operation",
                hint="This operation has no query parameters",
            )
        if count > 1:
            raise errors.InvalidParameterError(f"{quote_value(name)} appears more than once")


ServicesDep = Annotated[Services, Depends(_services)]
AnnotationsDep = Annotated[AnnotationService, Depends(_part("annotations"))]
ChartHistoryDep = Annotated[ChartHistoryReader, Depends(_part("chart"))]
EvidenceDep = Annotated[EvidenceService, Depends(_part("evidence"))]
JobBroadcasterDep = Annotated[JobBroadcaster, Depends(_part("feed"))]
JobResponsesDep = Annotated[JobResponses, Depends(_part("job_responses"))]
ScanServiceDep = Annotated[ScanService, Depends(_part("scan_service"))]
SharedLinksDep = Annotated[SharedLinkService, Depends(_part("shared_links"))]
SourcesDep = Annotated[Sources, Depends(_part("sources"))]
SqlDep = Annotated[SqlService, Depends(_part("sql"))]
SyncJobTimeoutDep = Annotated[float, Depends(_part("sync_job_timeout"))]


async def _pictures(services: ServicesDep) -> PictureService:
    if services.pictures is None:
        raise NotFoundError("This service shows no pictures")
    return services.pictures


async def _deadline(request: Request, sources: SourcesDep) -> Deadline:
    """Return the deadline of a request; a client may set an earlier one with `Prefer: wait`."""
    if isinstance(sources, NotChosen):
        return cast("Deadline", sources)
    limit_s = sources.settings.sync_request_timeout
    prefer = request.headers.get("prefer")
    waits_s = None if prefer is None else preferred_wait(prefer)
    return Deadline(limit_s if waits_s is None else min(limit_s, waits_s))


async def _moment(request: Request) -> datetime:
    return request_info(request.scope).moment


PicturesDep = Annotated[PictureService, Depends(_pictures)]
DeadlineDep = Annotated[Deadline, Depends(_deadline)]
MomentDep = Annotated[datetime, Depends(_moment)]
