"""Prometheus metrics: requests of this process, and the state of the shared stores.

A label holds the template of a path, never a path, because there are as many paths as ids. Not
here: readiness (`health.py`), spans (`pipelines/captures/tracing.py`).
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import override

from prometheus_client import CollectorRegistry, core, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString
from starlette.types import Scope

from api.responses.envelope import route_of
from api.schemas.health import SurfaceState
from warehouse.records.errors import SametrackError
from warehouse.records.jobs import TRANSITIONS

MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4
BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120)
BUCKET_LABELS = (*map(floatToGoString, BUCKETS_S), "+Inf")
NO_ROUTE = "none"
_METHODS = frozenset({"GET", "POST", "DELETE", "HEAD", "PUT", "PATCH", "OPTIONS"})

type _RequestLabels = tuple[str, str, int, bool]
"""Method, route, status, and whether the response came from the cache."""
type _Sample = tuple[tuple[str, ...], float]
"""Values of the labels, and the number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreMetrics:
    """Functions that read store metrics at each scrape. They block, and each may fail on its own.

    Attributes:
        jobs: Number of stored jobs per status.
        queue_age_s: Age of the oldest queued job in seconds.
        workers: Number of live workers.
        upstream_requests: Requests since midnight UTC per host.
        surfaces: Outcome of the last probe of each surface.
    """

    jobs: Callable[[], Mapping[str, int]]
    queue_age_s: Callable[[], float]
    workers: Callable[[], int]
    upstream_requests: Callable[[], Mapping[str, int]]
    surfaces: Callable[[], Iterable[SurfaceState]]


@dataclass(slots=True)
class _Tally:
    """Requests with the same labels: how many ended within each bucket, and their total seconds."""

    counts: list[int]
    seconds: float = 0.0


class Metrics:
    """Metrics of one process. `shared` is None while no profile is chosen.

    Requests are counted in plain numbers on the event loop and turned into metrics only at a
    scrape: the library's own counters cost more than the rest of a cached response.
    """

    def __init__(self, shared: StoreMetrics | None = None) -> None:
        self._registry = CollectorRegistry()
        self._tallies: dict[_RequestLabels, _Tally] = {}
        self._registry.register(_RequestCollector(self._tallies))
        if shared is not None:
            self._registry.register(_StoreCollector(shared))

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a finished request."""
        method: str = scope["method"]
        if method not in _METHODS:
            # Otherwise a client could create any number of labels.
            method = "other"
        labels = (method, route_of(scope) or NO_ROUTE, status, bool(scope["state"]["call"].route))
        tally = self._tallies.get(labels)
        if tally is None:
            tally = self._tallies[labels] = _Tally([0] * (len(BUCKETS_S) + 1))
        tally.counts[bisect_left(BUCKETS_S, seconds)] += 1
        tally.seconds += seconds

    def text(self) -> bytes:
        """Return all metrics in the Prometheus text format. Blocks."""
        return generate_latest(self._registry)


class _RequestCollector(Collector):
    """Exposes the request counts."""

    def __init__(self, tallies: Mapping[_RequestLabels, _Tally]) -> None:
        self._tallies = tallies

    @override
    def collect(self) -> Iterable[core.Metric]:
        # A copy: requests continue while these are written.
        tallies = dict(self._tallies)
        requests = core.CounterMetricFamily(
            "sametrack_http_requests",
            "Requests answered, by path template.",
            labels=("method", "route", "status", "from_memory"),
        )
        by_route: dict[str, list[_Tally]] = {}
        for (method, route, status, from_memory), tally in tallies.items():
            labels = (method, route, str(status), str(from_memory).lower())
            requests.add_metric(labels, sum(tally.counts))
            by_route.setdefault(route, []).append(tally)
        yield requests
        seconds = core.HistogramMetricFamily(
            "sametrack_http_request_seconds", "Response time in seconds.", labels=("route",)
        )
        for route, group in by_route.items():
            # A bucket of Prometheus counts everything up to its bound, so the counts are summed.
            counts = accumulate(map(sum, zip(*(tally.counts for tally in group), strict=True)))
            buckets = list(zip(BUCKET_LABELS, counts, strict=True))
            seconds.add_metric((route,), buckets, sum(tally.seconds for tally in group))
        yield seconds


class _StoreCollector(Collector):
    """Reads the stores at each scrape and leaves out metrics that cannot be read."""

    def __init__(self, shared: StoreMetrics) -> None:
        self._shared = shared

    def describe(self) -> Iterable[core.Metric]:
        """Return nothing: registering must not read the stores."""
        return ()

    @override
    def collect(self) -> Iterable[core.Metric]:
        is_readable = 1.0
        for name, text, labels, read in _STORE_METRICS:
            family = core.GaugeMetricFamily(name, text, labels=labels)
            try:
                for values, number in read(self._shared):
                    family.add_metric(values, number)
            except SametrackError:
                # One metric less is better than no scrape at all.
                is_readable = 0.0
            else:
                yield family
        yield core.GaugeMetricFamily(
            "sametrack_stores_readable", "1 if all store metrics could be read.", is_readable
        )


def _job_counts(shared: StoreMetrics) -> Iterable[_Sample]:
    counts = shared.jobs()
    # Every status has a sample, 0 included: no alert can watch a series that vanishes.
    return [((status,), counts.get(status, 0)) for status in TRANSITIONS]


_STORE_METRICS: tuple[
    tuple[str, str, tuple[str, ...], Callable[[StoreMetrics], Iterable[_Sample]]], ...
] = (
    (
        "sametrack_jobs",
        "Stored jobs.",
        ("status",),
        _job_counts,
    ),
    (
        "sametrack_queue_age_seconds",
        "Age of the oldest queued job.",
        (),
        lambda shared: [((), shared.queue_age_s())],
    ),
    (
        "sametrack_workers_alive",
        "Live workers.",
        (),
        lambda shared: [((), shared.workers())],
    ),
    (
        "sametrack_upstream_requests_today",
        "Requests to a platform host since midnight UTC.",
        ("host",),
        lambda shared: [((host,), count) for host, count in shared.upstream_requests().items()],
    ),
    (
        "sametrack_surface_probe",
        "Outcome of the last probe of a surface, as a label; always 1.",
        ("surface", "outcome"),
        lambda shared: [((state["surface"], state["outcome"]), 1) for state in shared.surfaces()],
    ),
)
"""Name, text and labels of each metric of the stores, and how its samples are read."""
