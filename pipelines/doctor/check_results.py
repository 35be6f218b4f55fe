"""Results of the health checks of this machine, and the verdict of the whole report. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from warehouse.records.health import SurfaceHealth

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
    surfaces: Sequence[SurfaceHealth],
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


def _judge_surfaces(surfaces: Sequence[SurfaceHealth]) -> HealthVerdict:
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
