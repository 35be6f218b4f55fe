"""Figures for Prometheus: what was asked of this process, and how the shared stores fare.

Labels are templates of paths, never paths: those are as many as there are ids. Not here: whether
the service can work (`health.py`), spans (`telemetry.py`).
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import override

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString
from starlette.types import Scope

from api.responses.envelope import route_of
from pipelines.documents.videos import Document
from warehouse.records.errors import SametrackError
from warehouse.records.jobs import MOVES

MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4
BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120)
BOUNDS = (*map(floatToGoString, BUCKETS_S), "+Inf")
NO_ROUTE = "none"
_METHODS = frozenset({"GET", "POST", "DELETE", "HEAD", "PUT", "PATCH", "OPTIONS"})

type _Kind = tuple[str, str, int, bool]
"""Method, route, status, and whether it was answered from memory."""


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


@dataclass(slots=True)
class _Tally:
    """Requests of one kind: how many ended within each bucket, and their seconds together."""

    counts: list[int]
    seconds: float = 0.0


class Metrics:
    """The figures of one process. `shared` None: no profile is chosen.

    Requests are tallied in plain numbers on the event loop and become figures only when they are
    asked for: the library's own counters cost more than the rest of an answer from memory.
    """

    def __init__(self, shared: SharedFigures | None = None) -> None:
        self._registry = CollectorRegistry()
        self._tallies: dict[_Kind, _Tally] = {}
        self._registry.register(_Requests(self._tallies))
        if shared is not None:
            self._registry.register(_Shared(shared))

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Count an answered request."""
        method: str = scope["method"]
        if method not in _METHODS:
            method = "other"  # else a stranger could invent labels
        kind = (method, route_of(scope) or NO_ROUTE, status, bool(scope["state"]["call"].route))
        tally = self._tallies.get(kind)
        if tally is None:
            tally = self._tallies[kind] = _Tally([0] * (len(BUCKETS_S) + 1))
        tally.counts[bisect_left(BUCKETS_S, seconds)] += 1
        tally.seconds += seconds

    def text(self) -> bytes:
        """All figures as Prometheus reads them; blocking."""
        return generate_latest(self._registry)


class _Requests(Collector):
    """The tallies as figures."""

    def __init__(self, tallies: Mapping[_Kind, _Tally]) -> None:
        self._tallies = tallies

    @override
    def collect(self) -> Iterable[Metric]:
        tallies = dict(self._tallies)  # requests go on while these are written
        requests = CounterMetricFamily(
            "sametrack_http_requests",
            "Requests answered, by the template of their path.",
            labels=("method", "route", "status", "from_memory"),
        )
        by_route: dict[str, list[_Tally]] = {}
        for (method, route, status, from_memory), tally in tallies.items():
            labels = (method, route, str(status), str(from_memory).lower())
            requests.add_metric(labels, sum(tally.counts))
            by_route.setdefault(route, []).append(tally)
        yield requests
        seconds = HistogramMetricFamily(
            "sametrack_http_request_seconds", "Seconds that answers took.", labels=("route",)
        )
        for route, found in by_route.items():
            counts = accumulate(map(sum, zip(*(tally.counts for tally in found), strict=True)))
            buckets = list(zip(BOUNDS, counts, strict=True))
            seconds.add_metric((route,), buckets, sum(tally.seconds for tally in found))
        yield seconds


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
