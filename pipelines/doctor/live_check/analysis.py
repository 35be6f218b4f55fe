"""What the answers of a live check say: fields, codes, keys, hosts, clock, first bytes. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from statistics import median
from typing import Literal
from urllib.parse import urljoin

from pipelines.audio.file_heads import is_altered
from pipelines.captures.recorded.body_forms import decode_body
from pipelines.captures.recorded.known_fields import FieldKnowledge, count_records, known_fields
from pipelines.doctor.live_check.round import SeenExchange, SurfaceCheck
from pipelines.platform.http.download import sound_suffix
from pipelines.platform.http.host_names import host_matches
from pipelines.platform.http.link_gate import read_address
from pipelines.platform.page_scripts import find_resources
from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.parsers.refusals import (
    GONE_CODES,
    LOGIN_CODES,
    SIGNATURE_CODES,
    UNKNOWN_CODE,
)
from pipelines.platform.profiles import PlatformProfile
from warehouse.records.health import SurfaceHealth
from warehouse.records.search import HARMLESS_NIL_TYPES

HostKind = Literal["media", "script", "redirect"]

KNOWN_KEYS = Path(__file__).with_name("known_keys.txt")
"""Names of the keys in the shape files, written by `python -m tests.known_keys`."""
_CHART_TOO_OFTEN = 1002
KNOWN_STATUS_CODES = frozenset({
    0, UNKNOWN_CODE, *GONE_CODES, _CHART_TOO_OFTEN, *LOGIN_CODES, *SIGNATURE_CODES,
})  # fmt: skip
KNOWN_NIL_TYPES = HARMLESS_NIL_TYPES | {
    "verify_check", "hit_shark", "antispam_check", "params_check", "invalid_app",
}  # fmt: skip
HEAD_SHOWN = 16
_NUMBER = re.compile(r"[0-9]{3,}")
_SENTENCE = re.compile(r"[^A-Za-z0-9_.$-]")
_KNOWN_WORDS: Mapping[str, frozenset[object]] = {
    "status_code": frozenset(KNOWN_STATUS_CODES),
    "errcode": frozenset(KNOWN_STATUS_CODES),
    "search_nil_type": frozenset(KNOWN_NIL_TYPES),
    "search_nil_item": frozenset(KNOWN_NIL_TYPES),
}
_CHART = "chart_"


@dataclass(frozen=True, slots=True)
class MetHost:
    """A host that an answer names, where a scan would have to contact it."""

    host: str
    kind: HostKind
    surface: str
    is_permitted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceFinding:
    """What one surface's answer says."""

    health: SurfaceHealth
    record_count: int = 0
    fields: tuple[FieldKnowledge, ...] = ()
    unknown_keys: tuple[str, ...] = ()
    unknown_codes: tuple[str, ...] = ()
    is_spider: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFindings:
    """What all answers say together.

    `clock_skew_s` is the platform's time less ours; None if no answer had a date. `sound_head` are
    the first bytes of a media file, `sound_kind` the suffix that they stand for.
    """

    surfaces: tuple[SurfaceFinding, ...]
    hosts: tuple[MetHost, ...]
    clock_skew_s: float | None
    sound_head: bytes = b""
    sound_kind: str | None = None

    @property
    def refused_hosts(self) -> tuple[MetHost, ...]:
        """The hosts that the link gate refuses with this profile."""
        return tuple(host for host in self.hosts if not host.is_permitted)

    @property
    def is_spider(self) -> bool | None:
        """True if a page says that it takes us for a crawler; None if no page says anything."""
        said = [one.is_spider for one in self.surfaces if one.is_spider is not None]
        return any(said) if said else None


def analyse(profile: PlatformProfile, checks: Sequence[SurfaceCheck]) -> LiveFindings:
    """Conclude from all checks."""
    head = next((check.sound_head for check in checks if check.sound_head), b"")
    exchanges = [seen for check in checks for seen in check.exchanges]
    return LiveFindings(
        surfaces=tuple(_surface(check) for check in checks),
        hosts=find_hosts(profile, checks),
        clock_skew_s=measure_skew(exchanges),
        sound_head=head[:HEAD_SHOWN],
        sound_kind=None if is_altered(head[:HEAD_SHOWN]) else sound_suffix(head[:HEAD_SHOWN]),
    )


def _surface(check: SurfaceCheck) -> SurfaceFinding:
    body = b"" if check.response is None else check.response.body
    decoded = decode_body(body) if body else None
    payload = None if decoded is None else decoded.payload
    is_link = isinstance(check.value, LinkTarget)  # where it leads is no record
    is_chart = check.health.surface.startswith(_CHART)
    return SurfaceFinding(
        health=check.health,
        record_count=0 if is_link else count_records(check.value),
        fields=() if is_link else known_fields(check.value),
        unknown_keys=() if is_chart else tuple(sorted(key_names(payload) - read_known_keys())),
        unknown_codes=tuple(sorted(set(_unknown_codes(payload)))),
        is_spider=_spider_flag(payload),
    )


def key_names(payload: object) -> frozenset[str]:
    """Return the names of all keys; names that are numbers, paths or texts are left out."""
    return frozenset(
        key for key, _ in _pairs(payload) if not _NUMBER.search(key) and not _SENTENCE.search(key)
    )


def read_known_keys() -> frozenset[str]:
    """Return the names of keys that the shape files hold."""
    return frozenset(KNOWN_KEYS.read_text(encoding="utf-8").split())


def _unknown_codes(payload: object) -> Iterator[str]:
    """Yield status codes and words for "no result" that no rule knows."""
    for key, value in _pairs(payload):
        known = _KNOWN_WORDS.get(key)
        is_word = isinstance(value, int | str) and not isinstance(value, bool) and value != ""
        if known is not None and is_word and value not in known:
            yield f"{key} {value}"


def measure_skew(exchanges: Iterable[SeenExchange]) -> float | None:
    """Return the platform's time less ours in seconds: the median of the `Date` headers."""
    differences = [
        (date - seen.received_at).total_seconds()
        for seen in exchanges
        if (date := _date(seen.head.date)) is not None
    ]
    return median(differences) if differences else None


def _date(header: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(header or "")
    except (ValueError, OverflowError):
        return None
    return date.replace(tzinfo=UTC) if date.tzinfo is None else date


def find_hosts(profile: PlatformProfile, checks: Iterable[SurfaceCheck]) -> tuple[MetHost, ...]:
    """Return the hosts of media, scripts and redirects in all answers, refused ones first."""
    found: dict[MetHost, None] = {}
    for check in checks:
        for kind, address in _addresses(check):
            read = read_address(address)
            if read is not None:
                rules = _rules(profile, kind, check.health.surface)
                is_permitted = host_matches(read.host, rules)
                found[MetHost(read.host, kind, check.health.surface, is_permitted)] = None
    return tuple(sorted(found, key=lambda met: (met.is_permitted, met.kind, met.host)))


def _rules(profile: PlatformProfile, kind: HostKind, surface: str) -> tuple[str, ...]:
    links = profile.links
    if kind == "media":
        return profile.media.hosts
    if kind == "script":
        return (*profile.browser.hosts, *links.redirect)
    return links.chart if surface.startswith(_CHART) else (*links.redirect, *links.region)


def _addresses(check: SurfaceCheck) -> Iterator[tuple[HostKind, str]]:
    is_media = check.health.surface == "media"
    for seen in check.exchanges:
        if is_media:
            yield "media", seen.head.url
        if seen.head.location:
            yield (
                "media" if is_media else "redirect",
                _joined(seen.head.url, seen.head.location),
            )
    body = b"" if check.response is None else check.response.body
    decoded = decode_body(body) if body else None
    if decoded is not None:
        yield from (("media", address) for address in _media_addresses(decoded.payload, ""))
    if check.response is not None and body.lstrip()[:1] == b"<":
        base = check.response.url
        yield from (("script", _joined(base, address)) for address in find_resources(body))


def _media_addresses(value: object, parent: str) -> Iterator[str]:
    """Yield the URLs of streams: those below a key that begins with `play`."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield from _media_addresses(below, key if key != "url_list" else parent)
    elif isinstance(value, list):
        for below in value:
            yield from _media_addresses(below, parent)
    elif isinstance(value, str) and parent.startswith("play") and value.startswith("http"):
        yield value


def _joined(base: str, location: str) -> str:
    try:
        return urljoin(base, location)
    except ValueError:
        return ""


def _pairs(value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield key, below
            yield from _pairs(below)
    elif isinstance(value, list):
        for below in value:
            yield from _pairs(below)


def _spider_flag(payload: object) -> bool | None:
    for key, value in _pairs(payload):
        if key == "isSpider" and isinstance(value, bool):
            return value
    return None
