"""Spans are sent where there are an address and the exporter; without the exporter it is said."""

import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import structlog
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from pipelines.captures.tracing import ENDPOINT, EXPORTER, SERVICE, start_tracing


@pytest.fixture(autouse=True)
def _undecided(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An address is set, and no span has been asked for yet."""
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:1")
    start_tracing.cache_clear()
    yield
    start_tracing.cache_clear()


@pytest.fixture
def providers(monkeypatch: pytest.MonkeyPatch) -> list[TracerProvider]:
    """The providers that were set, which a process can do once only."""
    chosen: list[TracerProvider] = []
    monkeypatch.setattr(trace, "set_tracer_provider", chosen.append)
    return chosen


def install(monkeypatch: pytest.MonkeyPatch, exporter: Any) -> None:
    """Let the module of the extra be this; None: it is not installed."""
    monkeypatch.setitem(sys.modules, EXPORTER, exporter)


def test_without_the_exporter_no_span_is_sent_and_a_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, providers: list[TracerProvider]
) -> None:
    install(monkeypatch, None)
    with structlog.testing.capture_logs() as lines:
        assert not start_tracing()
        assert not start_tracing()
    assert [line["event"] for line in lines] == [
        "no spans are sent: the extra `telemetry` is not installed"
    ]
    assert providers == []


def test_spans_are_sent_under_the_name_of_the_service(
    monkeypatch: pytest.MonkeyPatch, providers: list[TracerProvider]
) -> None:
    sent = InMemorySpanExporter()
    install(monkeypatch, SimpleNamespace(OTLPSpanExporter=lambda: sent))
    assert start_tracing()
    assert start_tracing()
    [provider] = providers
    with provider.get_tracer(SERVICE).start_as_current_span("capture music_list"):
        pass
    provider.shutdown()
    [span] = sent.get_finished_spans()
    assert span.name == "capture music_list"
    assert span.resource.attributes["service.name"] == SERVICE
