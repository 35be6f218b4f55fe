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
    JobCancelledError,
    JobFailedError,
    MissingError,
    NoAnswerError,
    PlatformError,
    ServiceError,
    TooManyRequestsError,
    UnavailableError,
    UnsupportedError,
    WaitTimeoutError,
)
from .requests.chart_songs import ChartSaid
from .requests.inspection import Heard, SeriesKind
from .requests.operations import Ask, JobStatus, RelatedOptions, ScanOptions, SortBy
from .requests.watchlists import (
    WatchEntryGiven,
    WatchlistChanges,
    WatchlistOptions,
    WatchThresholdsGiven,
)
from .responses import Answer

__all__ = [
    "DEFAULT_URL",
    "AccessError",
    "Answer",
    "Ask",
    "AsyncClient",
    "BadRequestError",
    "ChartSaid",
    "Client",
    "ClientError",
    "Connection",
    "Heard",
    "JobCancelledError",
    "JobFailedError",
    "JobStatus",
    "MissingError",
    "NoAnswerError",
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
