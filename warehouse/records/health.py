"""Health of the platform's surfaces: outcomes, records and rules of probes.

Here: possible outcomes of a probe, the endpoints that use each surface, and advice per outcome.
Probing is in `pipelines/doctor`, storage in `warehouse/queries/surface_health.py`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

ProbeOutcome = Literal["works", "refused", "changed", "unreachable", "not_asked"]
OUTCOME_LABELS: Mapping[ProbeOutcome, str] = {
    "works": "works",
    "refused": "refused",
    "changed": "changed shape",
    "unreachable": "unreachable",
    "not_asked": "not asked",
}
BROKEN_OUTCOMES: frozenset[ProbeOutcome] = frozenset({"refused", "changed", "unreachable"})

_CHANGED = "upstream_structure_changed"
_UNREACHABLE = "upstream_unreachable"
_OWN_REFUSALS = frozenset({"upstream_budget_spent", "provider_unsupported"})


def outcome_of(error_type: str) -> ProbeOutcome:
    """Return the outcome of a probe that failed with this error type.

    Requests that Sametrack itself refuses to send are `not_asked`.
    """
    if error_type in _OWN_REFUSALS:
        return "not_asked"
    if error_type == _CHANGED:
        return "changed"
    return "unreachable" if error_type == _UNREACHABLE else "refused"


@dataclass(frozen=True, slots=True)
class SurfaceUse:
    """How a surface is used.

    `endpoints` are endpoint numbers of the interface; `setting` holds the id to probe it with;
    `other` is the surface that is read instead when this one is refused.
    """

    label: str
    endpoints: tuple[int, ...]
    setting: str = "CANARY_…"
    other: str | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint of the interface: its name and a short label."""

    name: str
    short: str


ENDPOINTS: Mapping[int, Endpoint] = {
    1: Endpoint("get_sec_user_id", "account id"),
    2: Endpoint("handler_user_profile", "profile"),
    3: Endpoint("fetch_user_post_videos", "posts"),
    4: Endpoint("fetch_user_metrics", "metrics"),
    5: Endpoint("fetch_music_hot_videos", "hot videos"),
    6: Endpoint("fetch_music_hot_videos_batch", "batch"),
    7: Endpoint("music_collection_jobs", "jobs"),
    9: Endpoint("discover_music_related_videos", "related videos"),
    10: Endpoint("web/fetch_multi_video", "up to 50 videos"),
    11: Endpoint("app/v3/fetch_multi_video", "up to 10 videos"),
    12: Endpoint("fetch_music_video_list", "videos of a track"),
    13: Endpoint("fetch_hashtag_video_list", "videos of a hashtag"),
    16: Endpoint("top500/history", "chart history"),
}
"""Endpoints that read the platform. Endpoint 8 reads jobs only; 14 and 15 read nothing."""
_SCAN_ENDPOINTS = (5, 6, 7, 9)
SURFACE_USES: Mapping[str, SurfaceUse] = {
    "music_info": SurfaceUse("track data", (*_SCAN_ENDPOINTS, 12), "CANARY_MUSIC_ID"),
    "music_list": SurfaceUse(
        "videos of a track", (*_SCAN_ENDPOINTS, 12), "CANARY_MUSIC_ID", other="trends_list"
    ),
    "trends_list": SurfaceUse(
        "trend of a track", (*_SCAN_ENDPOINTS, 12), "CANARY_MUSIC_ID", other="music_list"
    ),
    "video_page": SurfaceUse(
        "video share page", (3, 4, *_SCAN_ENDPOINTS, 10, 11), "CANARY_AWEME_ID", other="slides_info"
    ),
    "slides_info": SurfaceUse(
        "video data by id", (3, 4, *_SCAN_ENDPOINTS, 10, 11), "CANARY_AWEME_ID", other="video_page"
    ),
    "media": SurfaceUse("video audio", _SCAN_ENDPOINTS, "CANARY_AWEME_ID"),
    "user_info": SurfaceUse("account data", (1, 2, 4, 5, 6, 7), "CANARY_SEC_UID"),
    "user_by_handle": SurfaceUse("account by handle", (1,), "CANARY_SEC_UID"),
    "user_posts": SurfaceUse("account posts", (3, 4, 5, 6, 7), "CANARY_SEC_UID", other="user_page"),
    "user_page": SurfaceUse(
        "account share page", (3, 4, 5, 6, 7), "CANARY_SEC_UID", other="user_posts"
    ),
    "short_link": SurfaceUse("short link", (1, *_SCAN_ENDPOINTS), "CANARY_LINK"),
    "hashtag_info": SurfaceUse("hashtag data", (13,), "CANARY_CH_ID"),
    "hashtag_list": SurfaceUse("videos of a hashtag", (5, 6, 7, 13), "CANARY_CH_ID"),
    "search_stream": SurfaceUse("guest search, first page", _SCAN_ENDPOINTS, "CANARY_TERM"),
    # Scans go on without it, so no endpoint depends on it.
    "service_track": SurfaceUse("song in the music service", (), "CANARY_MUSIC_ID"),
    "chart_issues": SurfaceUse("chart issues", (16,)),
    "chart_songs": SurfaceUse("chart songs", (16,), other="chart_latest"),
    "chart_latest": SurfaceUse("latest chart issue", (16,), other="chart_songs"),
    "chart_html": SurfaceUse("latest chart issue, page", (16,), other="chart_songs"),
}
"""Every surface that is probed, in display order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceHealth:
    """One probe of one surface.

    `entity_id` is what was requested. `came` and `went` are key paths that the response has or
    lacks compared with the good responses before it. `rests_until`: no request was made, because
    the host or the surface is left alone until then; it is not stored.
    """

    surface: str
    outcome: ProbeOutcome
    observed_at: datetime
    entity_id: str | None = None
    error_type: str | None = None
    reason: str | None = None
    http_status: int | None = None
    request_count: int = 0
    duration_ms: int = 0
    key_paths: tuple[str, ...] = ()
    came: tuple[str, ...] = ()
    went: tuple[str, ...] = ()
    payload_sha256: str | None = None
    asked_by: str = "cli"
    rests_until: datetime | None = None

    @property
    def is_broken(self) -> bool:
        """True if the surface was probed and gave no usable response."""
        return self.outcome in BROKEN_OUTCOMES


def find_affected_endpoints(surfaces: Iterable[SurfaceHealth]) -> Mapping[str, tuple[int, ...]]:
    """Return the affected endpoints per broken surface: those without another source that works."""
    by_name = {health.surface: health for health in surfaces}
    return {
        name: _affected_endpoints(name, by_name)
        for name, health in by_name.items()
        if health.is_broken and name in SURFACE_USES
    }


def _affected_endpoints(name: str, by_name: Mapping[str, SurfaceHealth]) -> tuple[int, ...]:
    other = by_name.get(SURFACE_USES[name].other or "")
    return () if other is not None and other.outcome == "works" else SURFACE_USES[name].endpoints


_SET_ID_ADVICE = "set an id that guests can see: {setting} in .env"
_ADVICE: Mapping[str, str] = {
    "upstream_empty": "wait an hour and try again; long bursts block an address for a while",
    "upstream_page_without_data": "nothing to do: another source is read instead, if it works",
    "upstream_verification": "wait; verification is never solved, jobs continue without it",
    "upstream_login_required": "nothing to do: guests have no access, jobs continue without it",
    "upstream_signature_demanded": "nothing to do: signatures are never made, others are read",
    "upstream_forbidden": "wait some hours, or use another network",
    "upstream_rate_limited": "wait as long as told; lower `per_second` in the platform profile",
    "upstream_region_blocked": "run this from a network in the platform's own region",
    "upstream_refused_lately": "wait: after several refusals the surface is probed now and then",
    "upstream_substitution": "try another id; if all are replaced, the platform misleads guests",
    "upstream_structure_changed": "the parser must be updated: report the list of keys",
    "server_fault": "wait: the platform's own servers fail",
    "moved": "the surface may have moved: report its status; the path is in the profile",
    "upstream_unreachable": "check the network, DNS and the profile's hosts",
    "upstream_budget_spent": "wait for the next day (UTC), or raise DAILY_REQUEST_BUDGET",
    "crowded": "run again when no scan is running",
    "paused": "wait until then, and run it again",
    "circuit_open": "wait: after a refusal the surface is paused, then probed once",
    "robots_disallow": "ROBOTS=record in .env reads it anyway and records the decision",
    "mobile_device_unavailable": "see the lines about the device above",
    "mobile_app_unreadable": "see the lines about the app above",
    "audio_unavailable": "try another video; if all fail, scans confirm by music id alone",
    "chart_unavailable": "wait and try again; issues read earlier are still served",
    "provider_unsupported": "this release does not support it",
    "unknown_id": _SET_ID_ADVICE,
    "nothing_to_ask": _SET_ID_ADVICE,
    "empty_list": "try another id; if all lists are empty, the platform withholds them at present",
    "no_connection": "check the network, DNS and the profile's hosts",
    "data_home_unfit": "fix the data home, then try again",
    "stores_unfit": "fix the stores first: request limits are shared through them",
    "time_is_up": "run again later, or probe a single surface: --surface NAME",
}
REASON_TEXTS: Mapping[str, str] = {
    "nothing_to_ask": "nothing to probe: no id is known",
    "time_is_up": "the report ran out of time",
    "no_connection": "the host refuses connections",
    "no_answer": "no response in time",
    "unknown_id": "the platform does not know this id",
    "empty_list": "the list has no entries",
    "empty_ambiguous": "no result, and no reason given",
    "crowded": "other requests used the host's rate limit",
    "paused": "the host rests, as the platform asked; nothing was requested",
    "circuit_open": "the surface rests after a refusal; nothing was requested",
    "robots_disallow": "robots.txt disallows it, and ROBOTS=obey is set",
    "keys_went": "readable, but keys that every good response had are missing",
    "canary_unavailable": "it responds, but the requested video is no longer available",
    "data_home_unfit": "the data home is not usable",
    "stores_unfit": "the stores are not usable",
}
"""Texts for Sametrack's own reasons; the platform's reasons are shown as received."""


def advice_for(health: SurfaceHealth) -> str | None:
    """Return what an operator should do about a probe, or None if there is nothing to do."""
    if health.outcome == "works":
        return None
    words = _ADVICE.get(health.reason or "") or _ADVICE.get(health.error_type or "")
    if health.outcome == "changed":
        words = _ADVICE["moved" if (health.reason or "").startswith("status ") else _CHANGED]
    if health.outcome == "unreachable" and health.http_status is not None:
        words = _ADVICE["server_fault"]
    use = SURFACE_USES.get(health.surface)
    return words and words.format(setting=use.setting if use else "CANARY_…")
