"""Health report as JSON, shared by `sametrack doctor --json`, the API and the orchestrator."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated

from pydantic import Field

from pipelines.documents.fields import ClosedDocument, Timestamp
from pipelines.documents.videos import to_time
from warehouse.control.hosts import CircuitState, RobotsDecision, RobotsVerdict
from warehouse.records.health import (
    ENDPOINTS,
    OUTCOME_LABELS,
    REASON_TEXTS,
    SURFACE_USES,
    ProbeOutcome,
    SurfaceHealth,
    advice_for,
    find_affected_endpoints,
)

MAX_KEYS_SHOWN = 40  # keys shown of one list; the rest is counted


class EndpointName(ClosedDocument):
    """An endpoint of the interface: number, name and short description."""

    number: int
    name: str
    short: str


class SurfaceReport(ClosedDocument):
    """The last probe of one surface."""

    surface: str
    label: Annotated[str, Field(description="name of the surface for display")]
    outcome: ProbeOutcome
    words: Annotated[str, Field(description="the outcome for display")]
    error_type: str | None
    reason: Annotated[
        str | None, Field(description="reason code of the platform or of this service")
    ]
    reason_words: str | None
    http_status: int | None
    request_count: int
    duration_ms: int
    entity_id: Annotated[str | None, Field(description="id that was requested")]
    keys_came: Annotated[
        list[str], Field(description="key paths that no earlier successful response had")
    ]
    keys_went: Annotated[
        list[str], Field(description="missing key paths that every earlier successful response had")
    ]
    observed_at: Timestamp
    last_worked_at: Timestamp | None
    used_by: list[EndpointName]
    suffering: Annotated[
        list[EndpointName], Field(description="endpoints without another working source")
    ]
    read_instead: Annotated[str | None, Field(description="surface that is read instead")]
    advice: Annotated[str | None, Field(description="what to do")]


class CircuitReport(ClosedDocument):
    """A surface of a host that failed recently; `open_until` null: requests are allowed."""

    host: str
    surface: str
    failures: int
    cause: str | None
    open_until: Timestamp | None


class RobotsReport(ClosedDocument):
    """Decision from a host's robots file for a surface."""

    host: str
    surface: str
    decision: RobotsVerdict
    reason: str
    decided_at: Timestamp


def to_surface_documents(
    surfaces: Iterable[SurfaceHealth], *, last_worked: Mapping[str, datetime]
) -> list[SurfaceReport]:
    """Return one document per surface: outcome, affected endpoints, advice.

    Args:
        surfaces: Results of the probes, one of each surface.
        last_worked: When each surface last worked before, by its name.
    """
    surfaces = list(surfaces)
    affected_by_surface = find_affected_endpoints(surfaces)
    documents: list[SurfaceReport] = []
    for health in surfaces:
        use = SURFACE_USES[health.surface]
        affected = affected_by_surface.get(health.surface, ())
        # The probe itself is the latest success, if it is one.
        worked_at = health.observed_at if health.outcome == "works" else None
        reason_words = REASON_TEXTS.get(health.reason or "", health.reason)
        if health.rests_until is not None:
            reason_words = f"{reason_words}; until {health.rests_until:%Y-%m-%d %H:%M:%S} UTC"
        documents.append(
            {
                "surface": health.surface,
                "label": use.label,
                "outcome": health.outcome,
                "words": OUTCOME_LABELS[health.outcome],
                "error_type": health.error_type,
                "reason": health.reason,
                "reason_words": reason_words,
                "http_status": health.http_status,
                "request_count": health.request_count,
                "duration_ms": health.duration_ms,
                "entity_id": health.entity_id,
                "keys_came": list(health.came[:MAX_KEYS_SHOWN]),
                "keys_went": list(health.went[:MAX_KEYS_SHOWN]),
                "observed_at": to_time(health.observed_at),
                "last_worked_at": to_time(worked_at or last_worked.get(health.surface)),
                "used_by": _endpoints(use.endpoints),
                "suffering": _endpoints(affected),
                # Without an affected endpoint, another surface stands in for this one.
                "read_instead": use.other if health.is_broken and not affected else None,
                "advice": advice_for(health),
            }
        )
    return documents


def _endpoints(numbers: Iterable[int]) -> list[EndpointName]:
    return [
        {"number": number, "name": ENDPOINTS[number].name, "short": ENDPOINTS[number].short}
        for number in numbers
    ]


def to_circuit_documents(states: Iterable[CircuitState]) -> list[CircuitReport]:
    """Return one document per surface with recent failures or an open circuit."""
    return [
        {
            "host": state.host,
            "surface": state.surface,
            "failures": state.failures,
            "cause": state.cause,
            "open_until": to_time(state.open_until),
        }
        for state in states
        if state.failures or state.open_until is not None
    ]


def to_robots_documents(decisions: Iterable[RobotsDecision]) -> list[RobotsReport]:
    """Return one document per robots.txt decision."""
    return [
        {
            "host": decision.host,
            "surface": decision.surface,
            "decision": decision.decision,
            "reason": decision.reason,
            "decided_at": to_time(decision.decided_at),
        }
        for decision in decisions
    ]
