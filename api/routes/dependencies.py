"""Dependencies of the routes: services that `create_app` stored on the application.

They are all coroutines although none waits, because the framework runs plain functions in a thread.
"""

from collections import Counter
from typing import Annotated

from fastapi import Depends, Request

from api.responses.errors import UnknownParameterError
from api.server.health import Readiness
from api.server.metrics import Metrics
from api.server.middleware.validation_errors import quoted
from api.services.annotations import AnnotationDesk
from api.services.evidence.service import EvidenceDesk
from api.services.job_feed import JobFeed
from api.services.job_responses import JobAnswers
from api.services.reads.chart import ChartHistory
from api.services.reads.sources import Sources
from pipelines.scan.service.service import ScanDesk
from warehouse.records.errors import InvalidParameterError, ProfileNotChosenError


async def _desk(request: Request) -> ScanDesk:
    desk: ScanDesk | None = request.app.state.desk
    if desk is None:
        raise ProfileNotChosenError("No platform profile is chosen, so nothing is contacted")
    return desk


async def _evidence(request: Request) -> EvidenceDesk:
    desk: EvidenceDesk | None = request.app.state.evidence
    if desk is None:
        raise ProfileNotChosenError("No platform profile is chosen, so nothing is stored")
    return desk


async def _readiness(request: Request) -> Readiness:
    readiness: Readiness = request.app.state.readiness
    return readiness


async def no_query(request: Request) -> None:
    """Refuse query parameters, for operations that have none.

    Raises:
        UnknownParameterError: The request has a query parameter.
    """
    for name in request.query_params:
        raise UnknownParameterError(
            f"{quoted(name)} is not a parameter of this operation",
            hint="This operation has no query parameters",
        )


async def no_repeats(request: Request) -> None:
    """Refuse repeated parameters, of which the framework would silently use the last.

    Raises:
        InvalidParameterError: A parameter is repeated.
    """
    names = Counter(name for name, _ in request.query_params.multi_items())
    twice = [name for name, times in names.items() if times > 1]
    if twice:
        raise InvalidParameterError(f"{quoted(twice[0])} appears more than once")


async def _answers(request: Request) -> JobAnswers:
    answers: JobAnswers = request.app.state.answers
    return answers


async def _feed(request: Request) -> JobFeed:
    feed: JobFeed = request.app.state.feed
    return feed


async def _patience(request: Request) -> float:
    patience_s: float = request.app.state.sync_job_timeout
    return patience_s


async def _metrics(request: Request) -> Metrics:
    metrics: Metrics = request.app.state.metrics
    return metrics


async def _annotations(request: Request) -> AnnotationDesk:
    desk: AnnotationDesk | None = request.app.state.annotations
    if desk is None:
        raise ProfileNotChosenError("No platform profile is chosen, so nothing is stored")
    return desk


async def _chart(request: Request) -> ChartHistory:
    chart: ChartHistory | None = request.app.state.chart
    if chart is None:
        raise ProfileNotChosenError("No platform profile is chosen, so nothing is contacted")
    return chart


async def _reads(request: Request) -> Sources:
    sources: Sources | None = request.app.state.sources
    if sources is None:
        raise ProfileNotChosenError("No platform profile is chosen, so nothing is contacted")
    return sources


Annotations = Annotated[AnnotationDesk, Depends(_annotations)]
Answers = Annotated[JobAnswers, Depends(_answers)]
Chart = Annotated[ChartHistory, Depends(_chart)]
Desk = Annotated[ScanDesk, Depends(_desk)]
Evidence = Annotated[EvidenceDesk, Depends(_evidence)]
Figures = Annotated[Metrics, Depends(_metrics)]
Feed = Annotated[JobFeed, Depends(_feed)]
Patience = Annotated[float, Depends(_patience)]
Reads = Annotated[Sources, Depends(_reads)]
Ready = Annotated[Readiness, Depends(_readiness)]
