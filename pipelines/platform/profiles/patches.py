"""Profile patches: reviewed additions to a platform profile, as a small TOML file.

A patch adds hosts, switches surfaces off and slows requests down. It cannot name addresses, change
the hosts of our own requests, raise a rate or touch markers: such a key is an error. Which file is
applied is decided in `load_profile`.
"""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from pipelines.platform.parsers.links import host_matches
from warehouse.files import read_text
from warehouse.records.errors import InvalidParameterError

if TYPE_CHECKING:
    from pipelines.platform.profiles import HostRate, PlatformProfile

_LABEL = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?"
_LOCAL = (
    ".localhost",
    ".local",
    ".internal",
    ".lan",
    ".home",
    ".corp",
    ".private",
    ".intranet",
    ".arpa",
)
"""Names that lead to this machine or this network instead of the internet."""
_GENERIC_LABELS = frozenset({"ac", "co", "com", "edu", "gov", "mil", "net", "org"})
"""Second labels under which a registry sells names: `.com.cn` is nobody's domain."""


def _is_one_domain(rule: str) -> str:
    """Refuse IP addresses, and rules that cover a whole registry."""
    labels = rule.strip(".").split(".")
    if labels[-1].isdigit() or labels[-1].startswith("0x"):
        raise ValueError(f"{rule!r} is an address, not the name of a host")
    if rule.startswith(".") and len(labels) == 2 and labels[0] in _GENERIC_LABELS:  # noqa: PLR2004
        raise ValueError(f"{rule!r} covers the domains of many owners")
    return rule


PatchHost = Annotated[
    str,
    StringConstraints(pattern=rf"^\.?{_LABEL}(\.{_LABEL})+$", max_length=253),
    AfterValidator(_is_one_domain),
]


class _PatchPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class AddedHosts(_PatchPart):
    """Hosts to add to a list of the profile."""

    hosts: tuple[PatchHost, ...] = ()


class AddedLinks(_PatchPart):
    """Hosts to add to the permitted redirects."""

    redirect: tuple[PatchHost, ...] = ()


class SwitchedSurfaces(_PatchPart):
    """Surfaces that are not requested."""

    off: tuple[str, ...] = ()


class SlowerRate(_PatchPart):
    """A lower rate; a value above the profile's is an error."""

    per_second: float | None = Field(None, gt=0)
    burst: int | None = Field(None, ge=1)
    parallel: int | None = Field(None, ge=1)


class ProfilePatch(_PatchPart):
    """One patch. `for_profile` is the name of the profile that it belongs to."""

    for_profile: str
    media: AddedHosts = AddedHosts()
    browser: AddedHosts = AddedHosts()
    links: AddedLinks = AddedLinks()
    surfaces: SwitchedSurfaces = SwitchedSurfaces()
    rate: SlowerRate = SlowerRate()


def read_patch(path: Path) -> ProfilePatch:
    """Read a patch file.

    Raises:
        InvalidParameterError: It cannot be read, or has a key that a patch may not set.
    """
    hint = "PROFILE_PATCH names a TOML file; docs/providers.md shows one"
    text = read_text(path, what=f"the profile patch {path.name!r}", hint=hint)
    try:
        return parse_patch(text)
    except tomllib.TOMLDecodeError as exc:
        raise InvalidParameterError(
            f"the profile patch {path.name!r} is not TOML: {exc}", hint=hint
        ) from exc
    except ValueError as exc:
        raise InvalidParameterError(
            f"the profile patch {path.name!r} is not valid at {first_fault(exc)}",
            hint="a patch may only add hosts, switch surfaces off and lower rates",
        ) from exc


def parse_patch(text: str) -> ProfilePatch:
    """Parse the text of a patch.

    Raises:
        ValueError: It is not TOML, or not a patch.
    """
    return ProfilePatch.model_validate(tomllib.loads(text))


def apply_patch(profile: "PlatformProfile", patch: ProfilePatch) -> "PlatformProfile":
    """Return the profile with the additions of a patch.

    Raises:
        InvalidParameterError: The patch belongs to another profile, or would loosen a rule.
    """
    if patch.for_profile != profile.name:
        raise InvalidParameterError(
            f"the profile patch is for {patch.for_profile!r}, but the profile is {profile.name!r}",
            hint="unset PROFILE_PATCH, or choose the profile that it was made for",
        )
    _refuse_loosening(profile, patch)
    links, media, browser = profile.links, profile.media, profile.browser
    off = _joined(profile.surfaces.off, patch.surfaces.off)
    redirect = _joined(links.redirect, patch.links.redirect)
    return profile.model_copy(
        update={
            "links": links.model_copy(update={"redirect": redirect}),
            "media": media.model_copy(update={"hosts": _joined(media.hosts, patch.media.hosts)}),
            "browser": browser.model_copy(
                update={"hosts": _joined(browser.hosts, patch.browser.hosts)}
            ),
            "surfaces": profile.surfaces.model_copy(update={"off": off}),
            "rate": _slowed(profile.rate, patch.rate),
            # The chart may be slower than the patch already, which is no attempt to speed it up.
            "chart_rate": _slowed(profile.chart_rate, patch.rate, may_be_slower_already=True),
        }
    )


def _refuse_loosening(profile: "PlatformProfile", patch: ProfilePatch) -> None:
    added = (*patch.media.hosts, *patch.browser.hosts, *patch.links.redirect)
    for rule in added:
        is_local = host_matches(rule.lstrip("."), _LOCAL)
        if is_local != profile.may_name_loopback:
            kind = "of this network" if is_local else "outside of the sandbox"
            raise InvalidParameterError(
                f"the profile patch names {rule!r}, a host {kind}",
                hint="only the sandbox profile may name loopback, and it names nothing else",
            )
    # A redirect to another region is an answer: following it would read another platform.
    for rule in patch.links.redirect:
        if host_matches(rule.lstrip("."), profile.links.region):
            raise InvalidParameterError(
                f"the profile patch follows redirects to {rule!r}, which serves another region",
                hint="remove the host: such a redirect is an answer, not a page",
            )
    unknown = sorted(set(patch.surfaces.off) - profile.surface_names())
    if unknown:
        raise InvalidParameterError(
            f"the profile patch switches off {', '.join(map(repr, unknown))}: unknown surfaces",
            hint=f"known: {', '.join(sorted(profile.surface_names()))}",
        )


def _slowed(
    rate: "HostRate", slower: SlowerRate, *, may_be_slower_already: bool = False
) -> "HostRate":
    limits = slower.model_dump(exclude_none=True)
    faster = sorted(name for name, value in limits.items() if value > getattr(rate, name))
    if faster and not may_be_slower_already:
        raise InvalidParameterError(
            f"the profile patch raises {', '.join(faster)} above the profile's rate",
            hint="a patch may only slow requests down",
        )
    return rate.model_copy(
        update={name: min(value, getattr(rate, name)) for name, value in limits.items()}
    )


def first_fault(error: ValueError) -> str:
    """Return where and why a document is not valid, such as `'rate.burst': Input should be …`."""
    faults = getattr(error, "errors", None)
    if faults is None:
        return str(error)
    first = faults(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(step) for step in first['loc'])!r}: {first['msg']}"


def _joined(kept: Iterable[str], added: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*kept, *added)))
