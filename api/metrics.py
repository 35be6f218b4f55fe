"""Figures for Prometheus: what was asked of this process, and how the shared stores fare.

Labels are templates of paths, never paths: those are as many as there are ids. Not here: whether
the service can work (`health.py`), spans (`telemetry.py`).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import override

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector
from starlette.types import Scope

from api.envelope import route_of
from pipelines.domain.documents import Document
from pipelines.domain.errors import SametrackError
from pipelines.domain.jobs import MOVES

MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4
BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120)
NO_ROUTE = "none"
_METHODS = frozenset({"GET", "POST", "DELETE", "HEAD", "PUT", "PATCH", "OPTIONS"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFigures:
    """What the stores are asked at each scrape; blocking, and each may fail by itself.

    Attributes:
        jobs: Kept jobs per status.
        queue_age_s: Seconds that the oldest queued job has waited.
        workers: How many workers are alive.
        upstream_requests: Requests of today (UTC) per host.
        surfaces: Per surface what its last probe said.
    """

    jobs: Callable[[], Mapping[str, int]]
    queue_age_s: Callable[[], float]
    workers: Callable[[], int]
    upstream_requests: Callable[[], Mapping[str, int]]
    surfaces: Callable[[], Iterable[Document]]


class Metrics:
    """The figures of one process. `shared` None: no profile is chosen."""

    def __init__(self, shared: SharedFigures | None = None) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "sametrack_http_requests", "Requests answered, by the template of their path.",
            ("method", "route", "status", "from_memory"), registry=self._registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "sametrack_http_request_seconds", "Seconds that answers took.",
            ("route",), registry=self._registry, buckets=BUCKETS_S,
        )  # fmt: skip
        self._children: dict[tuple[str, str, int, bool], tuple[Counter, Histogram]] = {}
        if shared is not None:
            self._registry.register(_Shared(shared))

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Count an answered request."""
        call = scope["state"]["call"]
        key = (scope["method"], route_of(scope), status, bool(call.route))
        counter, histogram = self._children.get(key) or self._child(*key)
        counter.inc()
        histogram.observe(seconds)

    def text(self) -> bytes:
        """All figures as Prometheus reads them; blocking."""
        return generate_latest(self._registry)

    def _child(
        self, method: str, route: str, status: int, from_memory: bool
    ) -> tuple[Counter, Histogram]:
        named = method if method in _METHODS else "other"  # else a stranger could invent labels
        route = route or NO_ROUTE
        child = (
            self._requests.labels(named, route, status, str(from_memory).lower()),
            self._seconds.labels(route),
        )
        if named == method:
            self._children[method, route if route != NO_ROUTE else "", status, from_memory] = child
        return child


class _Shared(Collector):
    """Asks the stores when it is asked; a figure that cannot be read is left out."""

    def __init__(self, shared: SharedFigures) -> None:
        self._shared = shared

    def describe(self) -> Iterable[Metric]:
        """Nothing beforehand: registering must not read the stores."""
        return ()

    @override
    def collect(self) -> Iterable[Metric]:
        readable = 1.0
        for read in (self._jobs, self._queue, self._workers, self._upstream, self._surfaces):
            try:
                yield read()
            except SametrackError:
                readable = 0.0
        yield GaugeMetricFamily(
            "sametrack_stores_readable", "1 when every shared figure could be read.", readable
        )

    def _jobs(self) -> Metric:
        counts = self._shared.jobs()
        family = GaugeMetricFamily("sametrack_jobs", "Jobs that are kept.", labels=["status"])
        for status in MOVES:
            family.add_metric([status], counts.get(status, 0))
        return family

    def _queue(self) -> Metric:
        return GaugeMetricFamily(
            "sametrack_queue_age_seconds",
            "How long the oldest queued job has waited.",
            self._shared.queue_age_s(),
        )

    def _workers(self) -> Metric:
        return GaugeMetricFamily(
            "sametrack_workers_alive", "Workers that are alive.", self._shared.workers()
        )

    def _upstream(self) -> Metric:
        family = GaugeMetricFamily(
            "sametrack_upstream_requests_today",
            "Requests to a host of the platform since midnight UTC.",
            labels=["host"],
        )
        for host, count in self._shared.upstream_requests().items():
            family.add_metric([host], count)
        return family

    def _surfaces(self) -> Metric:
        family = GaugeMetricFamily(
            "sametrack_surface_probe",
            "Always 1: the outcome of the last probe of a surface.",
            labels=["surface", "outcome"],
        )
        for state in self._shared.surfaces():
            family.add_metric([str(state["surface"]), str(state["outcome"])], 1)
        return family
