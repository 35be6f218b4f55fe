"""A typed client of the service: `Client` is synchronous, `AsyncClient` asynchronous.

Needs only httpx2: the folder can be copied into another project.
"""

from .awaiting import AsyncClient
from .blocking import Client
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
from .operations import (
    RelatedOptions,
    ScanOptions,
    WatchEntryGiven,
    WatchlistChanges,
    WatchlistOptions,
    WatchThresholdsGiven,
)
from .request import ApiRequest
from .responses import ApiResponse
from .types.enumerations import (
    AnnotationVerdict,
    ChartLinkDecision,
    JobStatus,
    SeriesKind,
    SortBy,
)

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
