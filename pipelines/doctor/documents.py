"""Health report as JSON, shared by `sametrack doctor --json`, the API and the orchestrator."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from pipelines.doctor.check_results import CheckResult
from pipelines.documents.videos import to_time
from warehouse.control import CircuitState, RobotsDecision
from warehouse.records.health import (
    ENDPOINTS,
    OUTCOME_LABELS,
    REASON_TEXTS,
    SURFACE_USES,
    SurfaceHealth,
    advice_for,
    find_affected_endpoints,
)
from warehouse.records.values import Document

MAX_KEYS_SHOWN = 40  # keys shown of one list; the rest is counted


def to_surface_documents(
    found: Iterable[SurfaceHealth], *, last_worked: Mapping[str, datetime]
) -> list[Document]:
    """Return one document per surface: outcome, affected endpoints, advice."""
    chosen = list(found)
    hurt = find_affected_endpoints(chosen)
    return [_surface(health, hurt.get(health.surface, ()), last_worked) for health in chosen]


def to_check_documents(findings: Sequence[CheckResult]) -> list[Document]:
    """Return one document per check."""
    return [asdict(finding) for finding in findings]


def to_circuit_documents(states: Iterable[CircuitState]) -> list[Document]:
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


def to_robots_documents(decisions: Iterable[RobotsDecision]) -> list[Document]:
    """Return one document per robots.txt decision."""
    return [
        {**decision._asdict(), "decided_at": to_time(decision.decided_at)} for decision in decisions
    ]


def _surface(
    health: SurfaceHealth, hurt: tuple[int, ...], last_worked: Mapping[str, datetime]
) -> Document:
    use = SURFACE_USES[health.surface]
    worked_at = health.observed_at if health.outcome == "works" else None
    return {
        "surface": health.surface,
        "label": use.label,
        "outcome": health.outcome,
        "words": OUTCOME_LABELS[health.outcome],
        "error_type": health.error_type,
        "reason": health.reason,
        "reason_words": REASON_TEXTS.get(health.reason or "", health.reason),
        "http_status": health.http_status,
        "request_count": health.request_count,
        "duration_ms": health.duration_ms,
        "entity_id": health.entity_id,
        "keys_came": _keys(health.came),
        "keys_went": _keys(health.went),
        "observed_at": to_time(health.observed_at),
        "last_worked_at": to_time(worked_at or last_worked.get(health.surface)),
        "used_by": _endpoints(use.endpoints),
        "suffering": _endpoints(hurt),
        "read_instead": use.other if health.is_broken and not hurt else None,
        "advice": advice_for(health),
    }


def _keys(paths: Sequence[str]) -> list[str]:
    return list(paths[:MAX_KEYS_SHOWN])


def _endpoints(numbers: Iterable[int]) -> list[dict[str, Any]]:
    return [{"number": number, **asdict(ENDPOINTS[number])} for number in numbers]
