"""Finds links of the platform in free text. Pure: hosts are parameters, nothing is fetched.

A link ends at the first character that platform links do not contain, so emoji, brackets and
full-width punctuation right after it are ignored.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qs

from warehouse.records.values import PLATFORM_ID

LinkTargetKind = Literal[
    "music",
    "video",
    "user",
    "hashtag",
    "mix",
    "trends",
    "article",
    "live",
    "search",
    "chart",
    "short",
    "service_track",
    "service_playlist",
    "service_album",
    "service_artist",
    "service_video",
]
_LAST_RESORT = frozenset(
    {"mix", "article", "live", "search", "chart", "service_artist", "service_video"}
)  # reported only when the text has no useful link

MAX_TEXT_LENGTH = 10_000
_LINK = re.compile(
    r"(?<![A-Za-z0-9.@_-])(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{0,15})://)?"
    r"(?P<host>[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8})(?::[0-9]{1,5})?(?![\\@:])"
    r"(?P<path>(?:/[A-Za-z0-9._~%$&+=:@/-]*)?)"
    r"(?:\?(?P<query>[A-Za-z0-9._~%$&+=:@/?\[\]-]*))?",
    re.ASCII,
)
_ID = re.compile(PLATFORM_ID)
_CODE = re.compile(r"[A-Za-z0-9_-]{4,64}", re.ASCII)
SEC_UID = re.compile(r"MS4wLjABAAAA[A-Za-z0-9_-]{4,200}", re.ASCII)
_ESCAPED_AMPERSAND = re.compile(r"&(?:amp;)+", re.IGNORECASE)  # links copied from a page's source
_ID_SEGMENT = re.compile(f"({PLATFORM_ID})(?![0-9A-Za-z])")  # punctuation may be glued to it
_KINDS: Mapping[str, LinkTargetKind] = {
    "video": "video",
    "note": "video",
    "slides": "video",
    "gallery": "video",
    "item": "video",
    "story": "video",
    "music": "music",
    "challenge": "hashtag",
    "hashtag": "hashtag",
    "mix": "mix",
    "collection": "mix",
    "article": "article",
    "live": "live",
}
_WITH_DETAIL = frozenset({"challenge", "hashtag", "mix", "collection"})
_SERVICE_KINDS: Mapping[str, LinkTargetKind] = {
    "track": "service_track",
    "playlist": "service_playlist",
    "album": "service_album",
    "artist": "service_artist",
    "ugc_video": "service_video",
    "mv": "service_video",
}
_ID_PARAMETERS: Mapping[str, tuple[str, LinkTargetKind]] = {
    "music": ("music_id", "music"),
    "challenge": ("ch_id", "hashtag"),
    "mix": ("mix_id", "mix"),
    "trends": ("trends_id", "trends"),
}


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """Target of a link. `url` is set for a short link, which has to be followed.

    `account` is the account on whose page a video lies open; the video may be of another one.
    """

    kind: LinkTargetKind
    id: str
    url: str | None = None
    account: str | None = None


@dataclass(frozen=True, slots=True)
class LinkHosts:
    """Hosts of platform links. `gone_query` marks the page shown for a deleted video.

    `service` are hosts of the music service's pages, `service_short` of its short links, `chart`
    of the music chart.
    """

    scheme: str
    share: tuple[str, ...]
    short: tuple[str, ...]
    gone_query: str
    service: tuple[str, ...] = ()
    service_short: tuple[str, ...] = ()
    chart: tuple[str, ...] = ()


def host_matches(host: str, rules: Iterable[str]) -> bool:
    """Return True if a rule names the host or, with a leading dot, one of its parent domains."""
    return any(
        host == rule or (rule.startswith(".") and (host.endswith(rule) or host == rule[1:]))
        for rule in rules
    )


def find_target(text: str, hosts: LinkHosts) -> LinkTarget | None:
    """Return the target of the first platform link in `text`; None when there is none.

    A link that leads to no track, video, account or hashtag is returned only if the text has no
    other link, so that a refusal can say what it is.
    """
    last_resort: LinkTarget | None = None
    # A share text is prose with a link in it; an overlong one is searched from its beginning.
    for link in _LINK.finditer(_ESCAPED_AMPERSAND.sub("&", text[:MAX_TEXT_LENGTH])):
        if (link["scheme"] or "https").lower() in {"http", "https"}:
            target = _read(link["host"].lower(), link["path"], link["query"] or "", hosts)
            if target is not None and target.kind not in _LAST_RESORT:
                return target
            last_resort = last_resort or target
    return last_resort


def _read(host: str, path: str, query: str, hosts: LinkHosts) -> LinkTarget | None:
    """Read a link by the form that its host uses; None for a foreign host or an unknown form."""
    # A full stop or a colon after the link ends the sentence around it.
    segments = [segment for segment in path.rstrip(".:").split("/") if segment]
    for rules, prefix in (
        (hosts.short, []),
        (hosts.service_short, ["s"]),
    ):  # `/{code}`, `/s/{code}`
        if host_matches(host, rules):
            size = len(prefix)
            code = segments[size] if len(segments) > size and segments[:size] == prefix else ""
            url = "/".join([f"{hosts.scheme}://{host}", *prefix, code, ""])
            return LinkTarget("short", code, url) if _CODE.fullmatch(code) else None
    parameters = {name: values[0] for name, values in parse_qs(query.rstrip(".:")).items()}
    if host_matches(host, hosts.service):  # `.../share/{noun}?{noun}_id={id}`
        noun = segments[-1].lower() if segments[-2:-1] == ["share"] else ""
        kind, entity_id = _SERVICE_KINDS.get(noun), parameters.get(f"{noun}_id", "")
        return LinkTarget(kind, entity_id) if kind and _ID.fullmatch(entity_id) else None
    if host_matches(host, hosts.chart):
        return LinkTarget("chart", "/".join(segments))
    # The page for a deleted video names another video, which nobody asked for.
    if not host_matches(host, hosts.share) or hosts.gone_query in query:
        return None
    return _read_share_link(segments, parameters)


def _read_share_link(segments: list[str], query: Mapping[str, str]) -> LinkTarget | None:
    """Read `/share/video/{id}/`, `/m/video/{id}`, `/music/{id}`, `/user/{id}`, `?modal_id=`."""
    if segments and segments[0].lower() in {"share", "m"}:
        segments = segments[1:]
    noun, rest = (segments[0].lower(), segments[1:]) if segments else ("", [])
    account = None
    if noun == "user":
        # The path of a share link holds a numeric id; the id that surfaces take is in the query.
        ids = (query.get("sec_uid", ""), query.get("sec_user_id", ""), *rest[:1])
        account = next((text for text in ids if SEC_UID.fullmatch(text)), None)
    if _ID.fullmatch(query.get("modal_id", "")):  # an overlay on any page
        return LinkTarget("video", query["modal_id"], account=account)
    if noun == "user":
        return LinkTarget("user", account) if account else None
    if noun == "search" and rest:
        return LinkTarget("search", rest[0])
    # `/share/challenge/detail/{id}` beside `/challenge/{id}`.
    if noun in _WITH_DETAIL and rest[:1] == ["detail"]:
        rest = rest[1:]
    entity_id = _ID_SEGMENT.match(rest[0]) if noun in _KINDS and rest else None
    return LinkTarget(_KINDS[noun], entity_id[1]) if entity_id else _read_parameter(noun, query)


def _read_parameter(noun: str, query: Mapping[str, str]) -> LinkTarget | None:
    """Read an id in the query. A trending topic that names its track is a link of the track."""
    name, kind = _ID_PARAMETERS.get(noun, ("", None))
    if kind == "trends" and _ID.fullmatch(query.get("music_id", "")):
        return LinkTarget("music", query["music_id"])
    entity_id = query.get(name, "")
    return LinkTarget(kind, entity_id) if kind and _ID.fullmatch(entity_id) else None
