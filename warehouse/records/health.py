"""Whether a surface of the platform still answers as we know it: words, records, rules. Pure.

Here: what a probe's outcome may be, what each surface is for, what a reader should do about an
outcome. Not here: asking (`pipelines/doctor`), storing (`warehouse/queries/surface_health.py`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

Outcome = Literal["works", "refused", "changed", "unreachable", "not_asked"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
OUTCOME_WORDS: Mapping[Outcome, str] = {
    "works": "works",
    "refused": "says no",
    "changed": "changed shape",
    "unreachable": "unreachable",
    "not_asked": "not asked",
}
BROKEN: frozenset[Outcome] = frozenset({"refused", "changed", "unreachable"})

_CHANGED = "upstream_structure_changed"
_UNREACHABLE = "upstream_unreachable"
_OURS = frozenset({"upstream_budget_spent", "provider_unsupported"})


def outcome_of(error_type: str) -> Outcome:
    """The outcome of a probe that ended in this error. What we ourselves refuse is `not_asked`."""
    if error_type in _OURS:
        return "not_asked"
    if error_type == _CHANGED:
        return "changed"
    return "unreachable" if error_type == _UNREACHABLE else "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceUse:
    """What a surface is to us. `endpoints` are numbers of the interface; `other` is the surface
    that is read instead where this one says no.
    """

    label: str
    endpoints: tuple[int, ...]
    other: str | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint of the interface: its name there, and in two words."""

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
"""The endpoints that read the platform. 8 reads jobs alone; 14 and 15 never read anything."""
_SCANS = (5, 6, 7, 9)
USES: Mapping[str, SurfaceUse] = {
    "music_info": SurfaceUse(label="a track's own data", endpoints=(*_SCANS, 12)),
    "music_list": SurfaceUse(label="works under a track", endpoints=(*_SCANS, 12)),
    "video_page": SurfaceUse(
        label="a work's share page", endpoints=(3, 4, *_SCANS, 10, 11), other="slides_info"
    ),
    "slides_info": SurfaceUse(
        label="a work's second source", endpoints=(3, 4, *_SCANS, 10, 11), other="video_page"
    ),
    "media": SurfaceUse(label="a work's sound", endpoints=_SCANS),
    "user_info": SurfaceUse(label="an account's data", endpoints=(1, 2, 4, 5, 6, 7)),
    "user_posts": SurfaceUse(
        label="an account's posts", endpoints=(3, 4, 5, 6, 7), other="user_page"
    ),
    "user_page": SurfaceUse(
        label="an account's share page", endpoints=(3, 4, 5, 6, 7), other="user_posts"
    ),
    "short_link": SurfaceUse(label="a short link", endpoints=(1, *_SCANS)),
    "hashtag_info": SurfaceUse(label="a hashtag's data", endpoints=(13,)),
    "hashtag_list": SurfaceUse(label="works under a hashtag", endpoints=(5, 6, 7, 13)),
    "search_stream": SurfaceUse(label="guest search, first screen", endpoints=_SCANS),
    "chart_issues": SurfaceUse(label="the chart's issues", endpoints=(16,)),
    "chart_songs": SurfaceUse(label="the chart's songs", endpoints=(16,), other="chart_latest"),
    "chart_latest": SurfaceUse(
        label="the chart's latest issue", endpoints=(16,), other="chart_songs"
    ),
    "chart_html": SurfaceUse(
        label="the chart's latest issue, page", endpoints=(16,), other="chart_songs"
    ),
}
"""Every surface that is probed, in the order in which it is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceHealth:
    """One probe of one surface. `entity_id` is what was asked about; `came` and `went` are key
    paths that the answer has and lacks against the good answers before it.
    """

    surface: str
    outcome: Outcome
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

    @property
    def is_broken(self) -> bool:
        """True when the surface was asked and gave no answer of use."""
        return self.outcome in BROKEN


def endpoints_hurt(found: Iterable[SurfaceHealth]) -> Mapping[str, tuple[int, ...]]:
    """Per broken surface the endpoints that suffer: those with no other source that works."""
    by_name = {health.surface: health for health in found}
    return {
        name: _hurt(name, by_name)
        for name, health in by_name.items()
        if health.is_broken and name in USES
    }


def _hurt(name: str, by_name: Mapping[str, SurfaceHealth]) -> tuple[int, ...]:
    other = by_name.get(USES[name].other or "")
    return () if other is not None and other.outcome == "works" else USES[name].endpoints


_SET = "give an id that guests can see: {setting} in .env"
_ADVICE: Mapping[str, str] = {
    "upstream_empty": "wait an hour and look again; long bursts block an address for a while",
    "upstream_page_without_data": "nothing to do: another source is read instead, where it works",
    "upstream_verification": "wait; verification is never solved here, so jobs go on without this",
    "upstream_login_required": "nothing to do: guests are shut out here, jobs go on without this",
    "upstream_forbidden": "leave the platform alone for some hours, or use another network",
    "upstream_rate_limited": "wait as long as asked; lower `per_second` in the platform profile",
    "upstream_region_blocked": "run this from a network in the platform's own region",
    "upstream_substitution": "try another id; if all are swapped, the platform misleads guests",
    "upstream_structure_changed": "the parser must learn the new keys: report the list of keys",
    "server_fault": "wait: it is the platform's own servers that fail",
    "moved": "the surface may have moved: report its status; the path stands in the profile",
    "upstream_unreachable": "check the network, the name look-up and the profile's hosts",
    "upstream_budget_spent": "wait for the next day (UTC), or raise DAILY_REQUEST_BUDGET",
    "crowded": "run again when no scan is running",
    "circuit_open": "wait: after a refusal the surface is left alone, then asked once to see",
    "robots_disallow": "ROBOTS=record in .env reads it all the same and keeps the decision",
    "mobile_device_unavailable": "see the lines about the device above",
    "mobile_app_unreadable": "see the lines about the app above",
    "audio_unavailable": "try another work; if all fail, scans confirm by music id alone",
    "chart_unavailable": "wait and look again; issues that were read before are still served",
    "provider_unsupported": "this release does not read it",
    "unknown_id": _SET,
    "nothing_to_ask": _SET,
    "empty_list": "try another id; if all lists are empty, the platform withholds them for now",
    "no_connection": "check the network, the name look-up and the profile's hosts",
    "data_home_unfit": "first mend the data home, then look again",
    "stores_unfit": "first mend the stores: without them nobody knows whose turn it is",
    "time_is_up": "run again when the platform is quicker, or one surface alone: --surface NAME",
}
REASONS: Mapping[str, str] = {
    "nothing_to_ask": "nothing to ask about: no id is known",
    "time_is_up": "the time of the report was up",
    "no_connection": "the host takes no connection",
    "no_answer": "no answer in time",
    "unknown_id": "the platform knows no such id",
    "empty_list": "the list has no entries",
    "empty_ambiguous": "no result, and nothing says why",
    "crowded": "others were asking the host; our turn did not come",
    "paused": "the platform asked to be left alone for a while",
    "circuit_open": "left alone since it said so; nothing was asked now",
    "robots_disallow": "robots.txt disallows it, and ROBOTS=obey",
    "keys_went": "it can be read, but keys that every good answer had are gone",
    "canary_unavailable": "it answers; the work asked about is not shown any more",
    "data_home_unfit": "the data home is not fit",
    "stores_unfit": "the stores are not fit",
}
"""Our own words for a reason; the platform's are shown as they came."""
SETTINGS: Mapping[str, str] = {
    "music_info": "CANARY_MUSIC_ID",
    "music_list": "CANARY_MUSIC_ID",
    "video_page": "CANARY_AWEME_ID",
    "slides_info": "CANARY_AWEME_ID",
    "media": "CANARY_AWEME_ID",
    "user_info": "CANARY_SEC_UID",
    "user_posts": "CANARY_SEC_UID",
    "user_page": "CANARY_SEC_UID",
    "short_link": "CANARY_LINK",
    "hashtag_info": "CANARY_CH_ID",
    "hashtag_list": "CANARY_CH_ID",
    "search_stream": "CANARY_TERM",
}
"""Setting that names what a surface is asked about."""


def advice_for(health: SurfaceHealth) -> str | None:
    """What a reader should do; None when there is nothing to do."""
    if health.outcome == "works":
        return None
    words = _ADVICE.get(health.reason or "") or _ADVICE.get(health.error_type or "")
    if health.outcome == "changed":
        words = _ADVICE["moved" if (health.reason or "").startswith("status ") else _CHANGED]
    if health.outcome == "unreachable" and health.http_status is not None:
        words = _ADVICE["server_fault"]
    return words and words.format(setting=SETTINGS.get(health.surface, "CANARY_…"))
