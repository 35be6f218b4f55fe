"""A typed client of the service: `Client` is synchronous, `AsyncClient` asynchronous.

Needs only httpx2: the folder can be copied into another project.
"""

from .awaiting.client import AsyncClient
from .blocking.client import Client
from .connection import DEFAULT_URL, Connection
from .errors import (
    AccessError,
    BadRequestError,
    ClientError,
    ConnectionFailedError,
    JobCancelledError,
    JobFailedError,
    MissingError,
    PlatformError,
    ServiceError,
    TooManyRequestsError,
    UnavailableError,
    UnsupportedError,
    WaitTimeoutError,
)
from .requests.chart_songs import ChartLinkDecision
from .requests.inspection import AnnotationVerdict, SeriesKind
from .requests.operations import ApiRequest, JobStatus, RelatedOptions, ScanOptions, SortBy
from .requests.watchlists import (
    WatchEntryGiven,
    WatchlistChanges,
    WatchlistOptions,
    WatchThresholdsGiven,
)
from .responses import ApiResponse

__all__ = [
    "DEFAULT_URL",
    "AccessError",
    "AnnotationVerdict",
    "ApiRequest",
    "ApiResponse",
    "AsyncClient",
    "BadRequestError",
    "ChartLinkDecision",
    "Client",
    "ClientError",
    "Connection",
    "ConnectionFailedError",
    "JobCancelledError",
    "JobFailedError",
    "JobStatus",
    "MissingError",
    "PlatformError",
    "RelatedOptions",
    "ScanOptions",
    "SeriesKind",
    "ServiceError",
    "SortBy",
    "TooManyRequestsError",
    "UnavailableError",
    "UnsupportedError",
    "WaitTimeoutError",
    "WatchEntryGiven",
    "WatchThresholdsGiven",
    "WatchlistChanges",
    "WatchlistOptions",
]
