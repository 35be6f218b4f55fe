"""Health report as JSON, shared by `sametrack doctor --json`, the API and the orchestrator."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from pipelines.documents.fields import ClosedDocument, Timestamp
from pipelines.documents.videos import to_time
from warehouse.control.hosts import CircuitState, RobotsDecision, RobotsVerdict
from warehouse.records import health as health_records

# Results of the health checks of this machine, and the verdict of the whole report. Pure.

CheckState = Literal["ok", "warn", "fail"]

EXIT_OK = 0
EXIT_MACHINE = 1
EXIT_NOT_CHOSEN = 2
EXIT_SURFACES = 3
EXIT_NOT_PROBED = 4


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of one check. `warn`: the product works without it; `fail`: it does not."""

    name: str
    state: CheckState
    says: str
    advice: str | None = None


@dataclass(frozen=True, slots=True)
class HealthVerdict:
    """Summary of a report in one sentence, and the exit status."""

    exit_code: int
    sentence: str


def summarise_health(
    findings: Sequence[CheckResult],
    surfaces: Sequence[health_records.SurfaceHealth],
    *,
    is_chosen: bool,
    wants_surfaces: bool = True,
) -> HealthVerdict:
    """Summarise a report in one sentence: the machine first, then the profile, then the platform.

    Args:
        findings: Results of the checks of this machine.
        surfaces: Results of the probes.
        is_chosen: Whether a platform profile is chosen.
        wants_surfaces: Whether the surfaces were to be probed.
    """
    failed = [finding.name for finding in findings if finding.state == "fail"]
    if failed:
        sentence = f"checks failed on this machine: {', '.join(failed)}"
        # A broken machine explains much, so broken surfaces are only mentioned.
        if any(health.is_broken for health in surfaces):
            sentence += f"; {_judge_surfaces(surfaces).sentence}"
        return HealthVerdict(EXIT_MACHINE, sentence)
    if not is_chosen:
        sentence = "no platform profile is chosen, so no surface was probed"
        return HealthVerdict(EXIT_NOT_CHOSEN, sentence)
    if not wants_surfaces:
        return HealthVerdict(EXIT_OK, "this machine is OK; no surface was probed")
    return _judge_surfaces(surfaces)


def _judge_surfaces(surfaces: Sequence[health_records.SurfaceHealth]) -> HealthVerdict:
    broken = [health.surface for health in surfaces if health.is_broken]
    if broken and all(health.outcome in {"unreachable", "not_asked"} for health in surfaces):
        return HealthVerdict(EXIT_SURFACES, "the platform cannot be reached")
    if broken:
        sentence = f"{len(broken)} of {len(surfaces)} surfaces failed: {', '.join(broken)}"
        return HealthVerdict(EXIT_SURFACES, sentence)
    not_probed = [health.surface for health in surfaces if health.outcome == "not_asked"]
    if not_probed:
        sentence = f"all probed surfaces work; not probed: {', '.join(not_probed)}"
        return HealthVerdict(EXIT_NOT_PROBED, sentence)
    return HealthVerdict(EXIT_OK, "all checks passed")


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
    outcome: health_records.ProbeOutcome
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
    surfaces: Iterable[health_records.SurfaceHealth], *, last_worked: Mapping[str, datetime]
) -> list[SurfaceReport]:
    """Return one document per surface: outcome, affected endpoints, advice.

    Args:
        surfaces: Results of the probes, one of each surface.
        last_worked: When each surface last worked before, by its name.
    """
    surfaces = list(surfaces)
    affected_by_surface = health_records.find_affected_endpoints(surfaces)
    documents: list[SurfaceReport] = []
    for health in surfaces:
        use = health_records.SURFACE_USES[health.surface]
        affected = affected_by_surface.get(health.surface, ())
        # The probe itself is the latest success, if it is one.
        worked_at = health.observed_at if health.outcome == "works" else None
        reason_words = health_records.REASON_TEXTS.get(health.reason or "", health.reason)
        if health.rests_until is not None:
            reason_words = f"{reason_words}; until {health.rests_until:%Y-%m-%d %H:%M:%S} UTC"
        documents.append(
            {
                "surface": health.surface,
                "label": use.label,
                "outcome": health.outcome,
                "words": health_records.OUTCOME_LABELS[health.outcome],
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
                "advice": health_records.advice_for(health),
            }
        )
    return documents


def _endpoints(numbers: Iterable[int]) -> list[EndpointName]:
    return [
        {
            "number": number,
            "name": health_records.ENDPOINTS[number].name,
            "short": health_records.ENDPOINTS[number].short,
        }
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
