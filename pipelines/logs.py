"""Logs of every process: one JSON object per line on stderr, so that stdout stays the answer's."""

import logging
import sys
from typing import Any

import structlog


def configure_logging(*, quiet: bool = False) -> None:
    """Hostile text stays inside its quotes; nothing secret is ever bound. `quiet`: say nothing."""
    processors: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(),
    ]
    least = logging.CRITICAL if quiet else logging.INFO
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
