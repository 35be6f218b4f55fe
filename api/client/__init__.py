"""A typed client of the service, for programs: `Client` waits, `AsyncClient` awaits.

Needs httpx2 and nothing else: this folder works when it is copied out on its own.
"""

from .answering import Answer
from .asking import Ask, JobStatus, RelatedOptions, ScanOptions, SortBy
from .asynchronous import AsyncClient
from .charting import ChartSaid
from .connection import DEFAULT_URL, Connection
from .faults import (
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
from .looking import Heard, SeriesKind
from .synchronous import Client
from .watching import WatchEntryGiven, WatchlistChanges, WatchlistOptions, WatchThresholdsGiven

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
