"""Export of the OpenTelemetry spans of captures.

Without the extra `telemetry`, or without an endpoint in the environment, no spans are created.
HTTP requests get spans from the web framework, through the same provider. A span contains no
URL, id or user text: only the surface and the outcome.
"""

import os
from functools import cache
from importlib import import_module

import structlog
from opentelemetry import trace

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
SERVICE = "sametrack"
EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"  # of the extra

_log = structlog.get_logger("tracing")


@cache
def start_tracing() -> bool:
    """Export spans to the OTLP endpoint in the environment; return True if one is set."""
    if not os.environ.get(ENDPOINT):
        return False
    try:
        exporter = import_module(EXPORTER).OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 -- the extra
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 -- as above
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 -- as above
    except ImportError:
        _log.warning("no spans are sent: the extra `telemetry` is not installed")
        return False
    provider = TracerProvider(resource=Resource.create({"service.name": SERVICE}))
    provider.add_span_processor(BatchSpanProcessor(exporter()))
    trace.set_tracer_provider(provider)
    return True
