"""Dependencies of the routes: services that `create_app` stored on the application.

They are all coroutines although none waits, because the framework runs plain functions in a thread.
"""

from collections import Counter
from typing import Annotated

from fastapi import Depends, Request

from api.responses.errors import NotFoundError, UnknownParameterError
from api.server.health import Readiness
from api.server.metrics import Metrics
from api.server.middleware.validation_errors import quote_value
from api.services.annotations import AnnotationService
from api.services.evidence.service import EvidenceService
from api.services.job_feed import JobBroadcaster
from api.services.job_responses import JobResponses
from api.services.pictures.service import PictureService
from api.services.reads.chart import ChartHistoryReader
from api.services.reads.sources import Sources
from api.services.sql.service import SqlService
from pipelines.scan.service.service import ScanService
from warehouse.records.errors import InvalidParameterError, ProfileNotChosenError


def _opened[Service](service: Service | None) -> Service:
    if service is None:
        raise ProfileNotChosenError(
            "No platform profile is chosen, so nothing is contacted or stored"
        )
    return service


async def _scan_service(request: Request) -> ScanService:
    scan_service: ScanService | None = request.app.state.scan_service
    return _opened(scan_service)


async def _evidence(request: Request) -> EvidenceService:
    evidence: EvidenceService | None = request.app.state.evidence
    return _opened(evidence)


async def _readiness(request: Request) -> Readiness:
    readiness: Readiness = request.app.state.readiness
    return readiness


async def no_query_parameters(request: Request) -> None:
    """Refuse query parameters, for operations that have none.

    Raises:
        UnknownParameterError: The request has a query parameter.
    """
    for name in request.query_params:
        raise UnknownParameterError(
            f"{quote_value(name)} is not a parameter of this operation",
            hint="This operation has no query parameters",
        )


async def no_repeated_parameters(request: Request) -> None:
    """Refuse repeated parameters, of which the framework would silently use the last.

    Raises:
        InvalidParameterError: A parameter is repeated.
    """
    names = Counter(name for name, _ in request.query_params.multi_items())
    twice = [name for name, times in names.items() if times > 1]
    if twice:
        raise InvalidParameterError(f"{quote_value(twice[0])} appears more than once")


async def _job_responses(request: Request) -> JobResponses:
    answers: JobResponses = request.app.state.answers
    return answers


async def _job_broadcaster(request: Request) -> JobBroadcaster:
    feed: JobBroadcaster = request.app.state.feed
    return feed


async def _sync_job_timeout(request: Request) -> float:
    max_wait_s: float = request.app.state.sync_job_timeout
    return max_wait_s


async def _metrics(request: Request) -> Metrics:
    metrics: Metrics = request.app.state.metrics
    return metrics


async def _annotations(request: Request) -> AnnotationService:
    annotations: AnnotationService | None = request.app.state.annotations
    return _opened(annotations)


async def _chart(request: Request) -> ChartHistoryReader:
    chart: ChartHistoryReader | None = request.app.state.chart
    return _opened(chart)


async def _sources(request: Request) -> Sources:
    sources: Sources | None = request.app.state.sources
    return _opened(sources)


async def _sources_if_any(request: Request) -> Sources | None:
    sources: Sources | None = request.app.state.sources
    return sources


async def _pictures(request: Request) -> PictureService:
    pictures: PictureService | None = request.app.state.pictures
    if pictures is None:
        raise NotFoundError("This service shows no pictures")
    return pictures


async def _sql(request: Request) -> SqlService:
    sql: SqlService | None = request.app.state.sql
    return _opened(sql)


AnnotationsDep = Annotated[AnnotationService, Depends(_annotations)]
JobResponsesDep = Annotated[JobResponses, Depends(_job_responses)]
ChartHistoryDep = Annotated[ChartHistoryReader, Depends(_chart)]
ScanServiceDep = Annotated[ScanService, Depends(_scan_service)]
EvidenceDep = Annotated[EvidenceService, Depends(_evidence)]
MetricsDep = Annotated[Metrics, Depends(_metrics)]
JobBroadcasterDep = Annotated[JobBroadcaster, Depends(_job_broadcaster)]
SyncJobTimeoutDep = Annotated[float, Depends(_sync_job_timeout)]
SourcesDep = Annotated[Sources, Depends(_sources)]
OptionalSourcesDep = Annotated[Sources | None, Depends(_sources_if_any)]
PicturesDep = Annotated[PictureService, Depends(_pictures)]
SqlDep = Annotated[SqlService, Depends(_sql)]
ReadinessDep = Annotated[Readiness, Depends(_readiness)]
