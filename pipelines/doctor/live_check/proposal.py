"""The profile patch that a live check proposes: a TOML text with the reason beside each line. Pure.

What is proposed is only what the answers show and what the rules of a patch allow. All else is a
comment, for the operator to decide.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pipelines.doctor.live_check.analysis import LiveFindings, MetHost, SurfaceFinding
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.profiles.patches import (
    ProfilePatch,
    apply_patch,
    parse_patch,
    registrable_domain,
)
from warehouse.records.errors import (
    InvalidParameterError,
    LoginRequiredError,
    RateLimitedError,
    SignatureDemandedError,
    VerificationDemandedError,
)

_PLACES: Mapping[str, tuple[str, str, str]] = {
    "media": ("media host", "media", "hosts"),
    "script": ("script host", "browser", "hosts"),
    "redirect": ("redirect host", "links", "redirect"),
    "off": ("switch off", "surfaces", "off"),
}
"""What may be added: the words for it, and the section and the key of a patch that hold it."""
_TOGETHER = {"search_stream": ("search_stream", "search_single")}
"""Surfaces that one refusal concerns together."""
_SLOWER = 0.5
_TOO_MANY = "a host asked for fewer requests"
_REFUSED_HOST = "foreign_host"  # the host itself is proposed, or named in a note


@dataclass(slots=True)
class ProposedPatch:
    """A proposal: additions with their reasons by kind (`_PLACES`), and notes for the operator."""

    profile: str
    made_at: datetime
    additions: dict[str, dict[str, str]] = field(
        default_factory=lambda: {kind: {} for kind in _PLACES}
    )
    per_second: float | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """True if nothing is proposed."""
        return not any(self.additions.values()) and self.per_second is None

    def changes(self) -> list[str]:
        """Return one sentence per addition."""
        lines = [
            f"{words} {name}: {why}"
            for kind, (words, _, _) in _PLACES.items()
            for name, why in self.additions[kind].items()
        ]
        if self.per_second is not None:
            lines.append(f"at most {self.per_second:g} requests per second: {_TOO_MANY}")
        return lines

    def to_toml(self) -> str:
        """Return the file, which is a valid patch."""
        lines = [
            f"# Proposed by `sametrack doctor --live-check` on {self.made_at:%Y-%m-%d %H:%M} UTC.",
            "# Review every line, delete what you do not want, and set PROFILE_PATCH to this file.",
            f'for_profile = "{self.profile}"',
        ]
        for kind, (_, section, key) in _PLACES.items():
            lines += _section(section, key, self.additions[kind])
        if self.per_second is not None:
            lines += ["", "[rate]", f"per_second = {self.per_second:g}  # {_TOO_MANY}"]
        if self.notes:
            lines += ["", "# Not proposed, for you to decide:"]
            lines += [f"# - {_comment(note)}" for note in self.notes]
        return "\n".join(lines) + "\n"


def propose_patch(
    profile: PlatformProfile, findings: LiveFindings, *, made_at: datetime
) -> ProposedPatch:
    """Return the patch that lets the next scan read what this check was refused."""
    patch = ProposedPatch(profile=profile.name, made_at=made_at)
    for met in findings.refused_hosts:
        _propose_host(profile, patch, met)
    for surface in findings.surfaces:
        _propose_surface(profile, patch, surface)
    patch.notes += _unknown_words(findings.surfaces)
    apply_patch(profile, parse_patch(patch.to_toml()))  # what is proposed can be applied
    return patch


def rule_for(profile: PlatformProfile, host: str) -> str:
    """Return the rule to propose for a host.

    A delivery network has many names, so its whole domain is proposed; of the platform's own
    domains only the host itself, since their other hosts are no media.
    """
    own = {
        registrable_domain(rule)
        for rule in (*profile.links.share, *profile.links.redirect, *profile.links.chart)
    }
    domain = registrable_domain(host)
    return host if domain in own else f".{domain}"


def _propose_host(profile: PlatformProfile, patch: ProposedPatch, met: MetHost) -> None:
    rule = rule_for(profile, met.host)
    if met.kind == "redirect" and rule.startswith("."):
        patch.notes.append(
            f"{met.surface} redirects to {met.host}, which is none of the platform's domains: "
            "add it to [links] redirect only if you know it"
        )
        return
    _, section, key = _PLACES[met.kind]
    try:
        apply_patch(
            profile,
            ProfilePatch.model_validate({"for_profile": profile.name, section: {key: (rule,)}}),
        )
    except (ValueError, InvalidParameterError) as error:
        patch.notes.append(f"{met.kind} host {met.host} cannot be added: {error}")
        return
    patch.additions[met.kind].setdefault(rule, f"{met.host} in {met.surface}")


def _propose_surface(
    profile: PlatformProfile, patch: ProposedPatch, surface: SurfaceFinding
) -> None:
    name, kind = surface.health.surface, surface.health.error_type
    if kind == LoginRequiredError.type:
        why = f"asks a guest to log in ({surface.health.reason})"
        patch.additions["off"] |= dict.fromkeys(_TOGETHER.get(name, (name,)), why)
    elif kind == RateLimitedError.type and surface.health.http_status is not None:
        patch.per_second = profile.rate.per_second * _SLOWER
    elif kind == SignatureDemandedError.type:
        patch.notes.append(
            f"{name} demands a signature ({surface.health.reason}), which is never made: scans "
            "read other sources; switch it off if that stays so"
        )
    elif kind == VerificationDemandedError.type:
        patch.notes.append(
            f"{name} demands verification ({surface.health.reason}): its circuit waits by itself; "
            "switch it off if that stays so"
        )
    elif surface.health.is_broken and surface.health.reason != _REFUSED_HOST:
        patch.notes.append(
            f"{name} gave no data ({kind}: {surface.health.reason}): scans learn that by "
            "themselves and prefer other sources"
        )


def _unknown_words(surfaces: Iterable[SurfaceFinding]) -> Iterator[str]:
    for surface in surfaces:
        for code in surface.unknown_codes:
            yield (
                f"{surface.health.surface} says {code}, which no rule knows: until one does it "
                "counts as an error or as `empty_ambiguous`, never as complete"
            )


def _section(name: str, key: str, entries: dict[str, str]) -> list[str]:
    if not entries:
        return []
    lines = [f'    "{entry}",  # {_comment(why)}' for entry, why in entries.items()]
    return ["", f"[{name}]", f"{key} = [", *lines, "]"]


def _comment(text: str) -> str:
    """Return a text that cannot end a comment: control characters are not allowed in TOML."""
    return "".join(character if character.isprintable() else " " for character in text)
