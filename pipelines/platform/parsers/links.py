"""Finds links of the platform in free text. Pure: hosts are parameters, nothing is fetched.

A link ends at the first character that platform links do not contain, so emoji, brackets and
full-width punctuation right after it are ignored.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qs

from pipelines.platform.http.host_names import host_matches

LinkTargetKind = Literal["music", "video", "user", "hashtag", "mix", "trends", "short"]
_LAST_RESORT = frozenset({"mix", "trends"})  # reported only when the text has no useful link

MAX_TEXT_LENGTH = 10_000
_LINK = re.compile(
    r"(?<![A-Za-z0-9.@_-])(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{0,15})://)?"
    r"(?P<host>[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8})(?::[0-9]{1,5})?(?![\\@:])"
    r"(?P<path>(?:/[A-Za-z0-9._~%$&+=:@/-]*)?)"
    r"(?:\?(?P<query>[A-Za-z0-9._~%$&+=:@/?\[\]-]*))?",
    re.ASCII,
)
_ID = re.compile(r"[0-9]{5,30}", re.ASCII)
_CODE = re.compile(r"[A-Za-z0-9_-]{4,64}", re.ASCII)
SEC_UID = re.compile(r"MS4wLjABAAAA[A-Za-z0-9_-]{4,200}", re.ASCII)
_KINDS: Mapping[str, LinkTargetKind] = {
    "video": "video",
    "note": "video",
    "slides": "video",
    "music": "music",
    "challenge": "hashtag",
    "mix": "mix",
}
_ID_PARAMETERS: Mapping[str, tuple[str, LinkTargetKind]] = {
    "music": ("music_id", "music"),
    "challenge": ("ch_id", "hashtag"),
    "trends": ("trends_id", "trends"),
}


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """Target of a link. `url` is set for a short link, which has to be followed."""

    kind: LinkTargetKind
    id: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class LinkHosts:
    """Hosts of platform links. `gone_query` marks the page shown for a deleted video."""

    scheme: str
    share: tuple[str, ...]
    short: tuple[str, ...]
    gone_query: str


def find_target(text: str, hosts: LinkHosts) -> LinkTarget | None:
    """Return the target of the first platform link in `text`; None when there is none.

    A collection or a trending topic is returned only if the text has no other useful link.
    """
    found: LinkTarget | None = None
    for link in _LINK.finditer(text[:MAX_TEXT_LENGTH]):
        if (link["scheme"] or "https").lower() in {"http", "https"}:
            target = _read(link["host"].lower(), link["path"], link["query"] or "", hosts)
            if target is not None and target.kind not in _LAST_RESORT:
                return target
            found = found or target
    return found


def _read(host: str, path: str, query: str, hosts: LinkHosts) -> LinkTarget | None:
    segments = [segment for segment in path.rstrip(".:").split("/") if segment]
    if host_matches(host, hosts.short):
        return _short(host, segments, hosts)
    if not host_matches(host, hosts.share) or hosts.gone_query in query:
        return None
    return _named(
        segments, {name: values[0] for name, values in parse_qs(query.rstrip(".:")).items()}
    )


def _short(host: str, segments: list[str], hosts: LinkHosts) -> LinkTarget | None:
    if not segments or not _CODE.fullmatch(segments[0]):
        return None
    return LinkTarget("short", segments[0], f"{hosts.scheme}://{host}/{segments[0]}/")


def _named(segments: list[str], query: Mapping[str, str]) -> LinkTarget | None:
    """Parse `/share/video/{id}/`, `/m/video/{id}`, `/music/{id}`, `/user/{id}`, `?modal_id=`."""
    if segments and segments[0] in {"share", "m"}:
        segments = segments[1:]
    noun, rest = (segments[0], segments[1:]) if segments else ("", [])
    if _ID.fullmatch(query.get("modal_id", "")):
        return LinkTarget("video", query["modal_id"])  # an overlay on any page
    if noun == "user":
        return _user(rest, query)
    return _by_path(noun, rest) or _by_parameter(noun, query)


def _user(rest: list[str], query: Mapping[str, str]) -> LinkTarget | None:
    """Read an account link: the path holds a numeric id, the relevant one is in the query."""
    for text in (query.get("sec_uid", ""), query.get("sec_user_id", ""), *rest[:1]):
        if SEC_UID.fullmatch(text):
            return LinkTarget("user", text)
    return None


def _by_path(noun: str, rest: list[str]) -> LinkTarget | None:
    if noun == "challenge" and rest[:1] == ["detail"]:
        rest = rest[1:]
    if noun in _KINDS and rest and _ID.fullmatch(rest[0]):
        return LinkTarget(_KINDS[noun], rest[0])
    return None


def _by_parameter(noun: str, query: Mapping[str, str]) -> LinkTarget | None:
    name, kind = _ID_PARAMETERS.get(noun, ("", None))
    value = query.get(name, "")
    return LinkTarget(kind, value) if kind and _ID.fullmatch(value) else None
