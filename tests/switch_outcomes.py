"""What a whole scan does with each switch of the sandbox: the one declaration.

`make bench-switches` measures every row and compares, tests hold the most telling ones, and the
column "a whole scan" of the table in `docs/sandbox.md` has the sentences of these rows. A new
switch needs a row here; a row may also combine switches.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

type Stop = tuple[str, str]
"""A surface of the coverage report, and a stop reason."""

HARMLESS_STOPS = frozenset({
    "completed", "exhausted", "candidate_limit", "page_limit", "request_budget",
    "search_candidate_limit", "search_page_limit", "batch_target_reached",
    "account_profile_limit", "no_new_items", "cursor_stalled", "disagrees_with_videos",
    "unavailable",
})  # fmt: skip
"""Reasons that a scan of the generous sandbox has, too: limits, ends, and songs that differ."""
AS_WITHOUT = "as without it"
_OF_THE_VISITOR = frozenset({"403", "login_2483", "status_code_8"})
"""Challenges that close a surface, and never a host: they demand no verification."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchOutcome:
    """The outcome of a scan with a switch on.

    Attributes:
        switch: The switch with its value, as `--switch` takes it; empty for a mode alone.
        mode: The mode of the sandbox.
        status: Status of the job.
        stops: Stop reasons that the coverage report has beside harmless ones; it has no others,
            except for `possible_stops`, which depend on what is left to read.
        at_most: Most requests to a surface. One is enough for a demand; 0 if it is not asked.
        candidates: Outcomes and reasons that candidates have.
        is_same: The same videos are confirmed as without the switch.
    """

    switch: str = ""
    mode: str = "generous"
    status: str = "completed"
    stops: tuple[Stop, ...] = ()
    possible_stops: tuple[Stop, ...] = ()
    at_most: Mapping[str, int] = field(default_factory=dict)
    candidates: tuple[tuple[str, str], ...] = ()
    is_same: bool = True

    @property
    def name(self) -> str:
        """The switch, or the mode."""
        return self.switch or self.mode

    def to_sentence(self) -> str:
        """Return the outcome as it is written in the table of switches."""
        return "; ".join(self._parts()) or AS_WITHOUT

    def _parts(self) -> Iterator[str]:
        yield from (f"`{surface}` ends as `{reason}`" for surface, reason in self.stops)
        yield from (f"`{surface}` may end as `{why}`" for surface, why in self.possible_stops)
        for surface, most in self.at_most.items():
            yield f"`{surface}` is not asked" if not most else f"`{surface}` {_times(most)}"
        yield from (f"videos are `{outcome}`, `{reason}`" for outcome, reason in self.candidates)
        if not self.is_same:
            yield "the confirmed videos may differ"


def _times(most: int) -> str:
    return "once" if most == 1 else f"at most {most} times"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredScan:
    """What a scan did, by its result and by the sandbox's access log.

    `forbidden` counts requests after a challenge that the plan forbids, by surface.
    """

    status: str
    stops: frozenset[Stop]
    decisions: tuple[Mapping[str, Any], ...]
    not_reached: int
    requests: Mapping[str, int]
    forbidden: Mapping[str, int]
    candidates: frozenset[tuple[str, str | None]]
    confirmed: frozenset[str]
    seconds: float

    @property
    def unusual_stops(self) -> frozenset[Stop]:
        """The stops of which a reader should know."""
        return frozenset(stop for stop in self.stops if stop[1] not in HARMLESS_STOPS)


def differences(
    expected: SwitchOutcome, found: MeasuredScan, *, without: MeasuredScan | None = None
) -> list[str]:
    """Return how a scan differs from the declaration; `without` is the same one without a switch."""
    deviations = [] if found.status == expected.status else [f"status {found.status}"]
    deviations += [f"not stopped: {_stop(one)}" for one in set(expected.stops) - found.stops]
    known = {*expected.stops, *expected.possible_stops}
    deviations += [f"stopped: {_stop(one)}" for one in found.unusual_stops - known]
    deviations += [
        f"{surface} {found.requests[surface]} > {most}"
        for surface, most in expected.at_most.items()
        if found.requests.get(surface, 0) > most
    ]
    deviations += [f"forbidden: {surface} {count}" for surface, count in found.forbidden.items()]
    deviations += [
        f"no candidate {outcome}/{reason}"
        for outcome, reason in expected.candidates
        if (outcome, reason) not in found.candidates
    ]
    if expected.is_same and without is not None and found.confirmed != without.confirmed:
        lost, more = without.confirmed - found.confirmed, found.confirmed - without.confirmed
        deviations.append(f"confirmed: {len(lost)} lost, {len(more)} more")
    return sorted(deviations)


def forbidden_requests(challenges: list[dict[str, Any]]) -> dict[str, int]:
    """Return the requests after a challenge that the plan forbids, by surface.

    `challenges` is the document of `/_world/access-log/challenges`. A challenge forbids its surface;
    the second surface of a host that demands verification forbids the whole host.
    """
    found = {one["surface"]: int(one["surface_after"]) for one in challenges}
    demands = [one for one in challenges if one["kind"] not in _OF_THE_VISITOR]
    for second in demands[1:]:
        if any(one["host"] == second["host"] for one in demands[: demands.index(second)]):
            for surface, count in second["host_after"].items():
                found[surface] = max(found.get(surface, 0), int(count))
    return {surface: count for surface, count in found.items() if count}


def _stop(stop: Stop) -> str:
    return " ".join(stop)


def _search(name: str, reason: str, most: int = 1) -> SwitchOutcome:
    asked = {"search_stream": most, "search_single": 0}
    return SwitchOutcome(
        switch=f"search_{name}", stops=(("search", reason),), at_most=asked, is_same=False
    )


_NO_PAGE = {"video_page": 0}
# fmt: off
# ruff: noqa: E501  # one row per line reads as a table
OUTCOMES: tuple[SwitchOutcome, ...] = (
    # `slides_info` answers for all of these, so nobody asks the pages.
    *(
        SwitchOutcome(switch=name, at_most=_NO_PAGE)
        for name in ("page_shells", "page_challenge", "page_403", "page_404", "page_no_container", "argus_page", "page_client_side")
    ),
    SwitchOutcome(switch="argus_csp_token"),
    SwitchOutcome(switch="page_scripts_elsewhere"),
    SwitchOutcome(switch="web_detail_403", at_most={"web_detail": 0}),
    SwitchOutcome(switch="list_bare"),
    SwitchOutcome(switch="list_foreign_rows=1", stops=(("music_list", "upstream_substitution"),), is_same=False),
    SwitchOutcome(switch="list_photos_without_images"),
    SwitchOutcome(switch="empty_pages"),
    SwitchOutcome(switch="no_user_posts", stops=(("user_posts", "upstream_empty"),), possible_stops=(("user_posts", "upstream_refused_lately"),), at_most={"user_posts": 8, "user_page": 8}, is_same=False),
    SwitchOutcome(switch="status_code_8", stops=(("user_posts", "upstream_login_required"),), at_most={"user_posts": 1, "user_page": 0}, is_same=False),
    SwitchOutcome(switch="captcha_json", stops=(("hashtag_list", "upstream_verification"),), at_most={"hashtag_list": 1}, is_same=False),
    SwitchOutcome(switch="code_10001010A", stops=(("user_info", "upstream_rate_limited"),), at_most={"user_info": 1, "user_page": 0}),
    SwitchOutcome(switch="mplatform_followers_only"),
    SwitchOutcome(switch="sec_uid_missing"),
    SwitchOutcome(switch="sound_title_names_song", is_same=False),
    SwitchOutcome(switch="song_ids_missing", is_same=False),
    _search("2483", "upstream_login_required"),
    _search("hit_shark", "upstream_verification"),
    _search("antispam_check", "upstream_verification"),
    _search("params_check", "empty_ambiguous", 10),
    _search("invalid_app", "empty_ambiguous", 10),
    SwitchOutcome(switch="search_stream_unended", stops=(("search", "response_cut"),)),
    SwitchOutcome(switch="search_stream_cut", stops=(("search", "response_cut"),), is_same=False),
    SwitchOutcome(switch="search_stream_glued"),
    SwitchOutcome(switch="search_stream_lines"),
    SwitchOutcome(switch="media_other_host"),
    SwitchOutcome(switch="media_needs_referer"),
    SwitchOutcome(switch="media_altered", stops=(("media", "audio_unavailable"),), possible_stops=(("service_audio", "altered_by_host"),), candidates=(("not_comparable", "reference_altered_by_host"),), is_same=False),
    SwitchOutcome(switch="chart_1002"),
    SwitchOutcome(switch="chart_late"),
)
FURTHER_OUTCOMES: tuple[SwitchOutcome, ...] = (
    # The same states where a scan cannot do without the surface. After a pause it is asked once more,
    # for the candidates that the search found meanwhile.
    SwitchOutcome(switch="captcha_json=slides_info", stops=(("video_detail", "upstream_verification"),), at_most={"slides_info": 1, "video_page": 0}, is_same=False),
    SwitchOutcome(switch="code_10001010A=slides_info", stops=(("video_detail", "upstream_rate_limited"),), at_most={"slides_info": 2, "video_page": 0}, is_same=False),
    SwitchOutcome(switch="status_code_8=music_list", stops=(("music_list", "upstream_login_required"),), at_most={"music_list": 1, "trends_list": 0}, is_same=False),
    SwitchOutcome(switch="captcha_json=hashtag_list+user_posts", stops=(("user_posts", "upstream_verification"), ("hashtag_list", "upstream_verification")), possible_stops=(("music_list", "upstream_verification"), ("video_detail", "upstream_verification"), ("user_info", "upstream_verification")), at_most={"user_posts": 1, "hashtag_list": 1, "user_page": 0, "user_info": 0}, is_same=False),
    SwitchOutcome(switch="empty_pages=1"),
    SwitchOutcome(switch="empty_pages=4", is_same=False),
    SwitchOutcome(mode="autumn-2026", stops=(("search", "upstream_login_required"), ("user_posts", "upstream_empty")), possible_stops=(("user_posts", "upstream_refused_lately"), ("music_list", "upstream_substitution")), at_most={"search_stream": 1, "user_posts": 8, "user_page": 8, "video_page": 0}, is_same=False),
)
# fmt: on
GENEROUS = SwitchOutcome()
