"""A typed client of the service: `Client` blocks, `AsyncClient` is awaited.

Needs only httpx2: the folder can be copied into another project. `blocking/` and `answers.py` are
made by `python -m api.generate.client`, which `make env` runs.
"""

from .answers import (
    AnnotationVerdict,
    ChartLinkDecision,
    JobStatus,
    RelatedOptions,
    ScanOptions,
    SeriesKind,
    SortBy,
    WatchEntryGiven,
    WatchlistChanges,
    WatchlistOptions,
    WatchThresholdsGiven,
)
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
from .request import ApiRequest
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
