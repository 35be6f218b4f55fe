"""Every kind of upstream refusal, one row each: its sign, its error, and how to react.

Pure data, and the only place that defines a policy. Rows are recognised in `sources/planner.py`, `parsers/`
and `chartsrc/`; the planner (`sources/`) chooses other sources, and the HTTP client applies waits
and circuits.
"""

from dataclasses import dataclass
from enum import StrEnum

from warehouse.records import errors


class RefusalPolicy(StrEnum):
    """Reaction to a refusal; a row lists its policies in the order they are tried."""

    ONCE_MORE = "once_more"  # the same request again, with the cookies set meanwhile
    OTHER_SOURCE = "other_source"  # try another surface with the same data
    OTHER_HOST = "other_host"  # try another surface with the same data at another host
    BACK_OFF = "back_off"  # open the circuit after several in a row
    STOP = "stop"  # no more of this surface in this job; for search, no other term either
    OPEN_CIRCUIT = "open_circuit"  # no process requests this surface until a probe succeeds
    WAIT = "wait_as_told"
    RETRY = "retry_with_jitter"
    REJECT_ITEM = "reject_item"
    REPORT = "report_keys"
    FILTER_LIST = "filter_list"  # a statement about one video, not an error
    END_LIST = "end_list"  # the walk ends with a stop reason
    TELL_CALLER = "tell_caller"  # the requested item does not exist


_P = RefusalPolicy
_WITHHELD = (_P.ONCE_MORE, _P.OTHER_SOURCE, _P.BACK_OFF)
_DEMANDED = (_P.STOP, _P.OPEN_CIRCUIT)
_UNKNOWN = (_P.REPORT, _P.OTHER_SOURCE, _P.BACK_OFF)
_FORBIDDEN = (_P.STOP, _P.OTHER_SOURCE, _P.OPEN_CIRCUIT)
_UNSIGNED = (_P.OTHER_SOURCE, _P.OPEN_CIRCUIT)
_PAUSED = (_P.WAIT, _P.OTHER_HOST)


@dataclass(frozen=True, slots=True)
class Refusal:
    """One row of the table.

    `error` is None if the response is a record itself. `reason` is the error's reason, with a star
    for a number in it. It is None if the reason is the platform's own or lists keys: such a row
    covers all errors of its class that no other row names.
    """

    name: str
    section: str
    sign: str
    error: type[errors.SametrackError] | None
    reason: str | None
    policy: tuple[RefusalPolicy, ...]

    def covers(self, word: str | None) -> bool:
        """Return True if an error of this row's class with this reason belongs to this row."""
        if self.reason is None or word is None:
            return self.reason is None
        stem, star, _ = self.reason.partition("*")
        return word.startswith(stem) if star else word == stem


# fmt: off
# ruff: noqa: E501  # one row per line reads as a table
REFUSALS: tuple[Refusal, ...] = (
    # Videos that the platform names but does not show. No error: an item with the platform's reason.
    Refusal("filtered_work", "works", "no video, and a filter list that names it", None, None, (_P.FILTER_LIST,)),
    Refusal("filtered_detail", "works", "no detail, or a null one, beside a filter detail with a reason", None, None, (_P.FILTER_LIST,)),
    Refusal("filtered_photo", "works", "a filter reason about pictures: this surface does not show photo posts, another one may", None, None, (_P.OTHER_SOURCE, _P.FILTER_LIST)),
    Refusal("gone_code", "works", "`status_code` 2053, or the -404 of a desktop page: the video is not available", None, None, (_P.FILTER_LIST,)),
    Refusal("deleted_work", "works", "a video whose own status says that it is deleted", None, "status_deleted", (_P.FILTER_LIST,)),
    Refusal("gone_redirect", "works", "a redirect to the page for videos now gone, naming an unrelated one", None, None, (_P.FILTER_LIST,)),
    Refusal("empty_detail", "works", "a null detail, and nothing says why", errors.EmptyAnswerError, "empty_detail", (_P.OTHER_SOURCE,)),
    # Empty responses.
    Refusal("empty_body", "pages", "200 with an empty body", errors.EmptyAnswerError, "empty_body", _WITHHELD),
    Refusal("blocked", "pages", "200 with the bare word `blocked`", errors.EmptyAnswerError, "blocked", _WITHHELD),
    Refusal("page_without_data", "pages", "a container without the data, or a page whose own script loads it (a shell)", errors.PageWithoutDataError, None, _WITHHELD),
    Refusal("withheld_posts", "lists", "no posts on the first page of an account that claims to have more", errors.EmptyAnswerError, "empty_list", _WITHHELD),
    # Demands for verification or an account, regional blocks.
    Refusal("script_challenge", "pages", "a page that is a script challenge, or only sets its nonce", errors.VerificationDemandedError, "script_challenge", _DEMANDED),
    Refusal("captcha_page", "pages", "a page without data whose title is that of the captcha", errors.VerificationDemandedError, "captcha_page", _DEMANDED),
    Refusal("verify_redirect", "pages", "a redirect to a verification page", errors.VerificationDemandedError, "verify_redirect", _DEMANDED),
    Refusal("verify_check", "search", "no result because of `verify_check`", errors.VerificationDemandedError, "verify_check", _DEMANDED),
    Refusal("risk_control", "search", "no result because of `antispam_check` or `hit_shark`", errors.VerificationDemandedError, "antispam_check", _DEMANDED),
    Refusal("verify_type", "search", "a body that names a `verify_type`", errors.VerificationDemandedError, "verify_type", _DEMANDED),
    Refusal("verify_data", "lists", "a body with `verify_data`, whatever its status", errors.VerificationDemandedError, "verify_data", _DEMANDED),
    Refusal("captcha_json", "lists", "a body that is a captcha: a `code`, and the `type` verify", errors.VerificationDemandedError, "captcha_json", _DEMANDED),
    Refusal("login_code_8", "lists", "status_code 8", errors.LoginRequiredError, "status_code 8", _DEMANDED),
    Refusal("login_code", "search", "status_code 2483", errors.LoginRequiredError, "status_code 2483", _DEMANDED),
    Refusal("login_status", "http", "401", errors.LoginRequiredError, None, _DEMANDED),
    Refusal("forbidden", "http", "403", errors.ForbiddenError, None, _FORBIDDEN),
    Refusal("signature_demanded", "http", "`status_code` 11110, status 412 or 444, or the text of the gateway that blocks unsigned requests", errors.SignatureDemandedError, None, _UNSIGNED),
    Refusal("restricted_page", "pages", "a page without data whose title says that access is restricted", errors.ForbiddenError, "restricted_page", _FORBIDDEN),
    Refusal("region_redirect", "pages", "a redirect to where another region is served", errors.RegionBlockedError, None, (_P.STOP,)),
    Refusal("is_oversea", "pages", "data that is marked as served elsewhere", errors.RegionBlockedError, "is_oversea", (_P.STOP,)),
    Refusal("legal_reasons", "http", "451", errors.RegionBlockedError, "status 451", (_P.STOP,)),
    # The app on the operator's own device.
    Refusal("app_login", "app", "the app asks for a login", errors.LoginRequiredError, "app_login_prompt", _DEMANDED),
    Refusal("app_verification", "app", "the app demands verification", errors.VerificationDemandedError, "app_verification_prompt", _DEMANDED),
    Refusal("app_unreadable", "app", "the app is missing, or its version has no known layout", errors.AppUnreadableError, None, (_P.STOP,)),
    Refusal("device_unavailable", "app", "no adb server, no such device, or it was lost", errors.DeviceUnavailableError, None, (_P.STOP,)),
    # Substitutions.
    Refusal("another_item", "pages", "a video, account, track or hashtag other than asked for", errors.SubstitutionError, None, (_P.REJECT_ITEM,)),
    Refusal("foreign_rows", "lists", "a list of which more than half of the rows state another account, hashtag or music id", errors.SubstitutionError, "foreign_rows", (_P.REJECT_ITEM,)),
    Refusal("foreign_redirect", "http", "a redirect off the allow-list", errors.SubstitutionError, "foreign_host", (_P.REJECT_ITEM,)),
    Refusal("redirect_loop", "http", "more redirects than we follow", errors.SubstitutionError, "redirect_loop", (_P.REJECT_ITEM,)),
    Refusal("unknown_id", "lists", "status_code 5, or nothing under the id, for an account or a hashtag", errors.UnresolvedIdError, None, (_P.TELL_CALLER,)),
    Refusal("unknown_track", "lists", "status_code 5, or nothing under the id, for a track", errors.InvalidMusicInputError, None, (_P.TELL_CALLER,)),
    # List pages without continuation. No error: the walk names the reason.
    Refusal("empty_but_more", "lists", "a fourth empty page in a row that claims to have more", None, None, (_P.END_LIST,)),
    Refusal("stalled_cursor", "lists", "a next cursor that is the one just asked for", None, None, (_P.END_LIST,)),
    Refusal("nil_result", "search", "no result, with a word that means just that", None, None, (_P.END_LIST,)),
    Refusal("empty_ambiguous", "search", "no result, and no word that explains it", None, None, (_P.END_LIST,)),
    # Changed structure.
    Refusal("structure", "structure", "a key that must be there is gone, or of another type", errors.StructureChangedError, None, _UNKNOWN),
    Refusal("not_json", "structure", "something else than JSON where JSON is known", errors.StructureChangedError, "not_json", _UNKNOWN),
    Refusal("no_container", "structure", "a page without a data container", errors.StructureChangedError, "no_container", _UNKNOWN),
    Refusal("broken_frame", "search", "a framed stream of which no document arrived whole", errors.StructureChangedError, "broken_frame", _UNKNOWN),
    Refusal("unknown_code", "lists", "a status_code that is not known", errors.StructureChangedError, "status_code *", _UNKNOWN),
    Refusal("unknown_status", "http", "an HTTP status that is not known, 404 among them", errors.StructureChangedError, "status *", _UNKNOWN),
    # Network.
    Refusal("too_frequent", "lists", "a body whose `code` says that requests come too often", errors.RateLimitedError, "10001010A", _PAUSED),
    Refusal("rate_limited", "http", "429", errors.RateLimitedError, None, _PAUSED),
    Refusal("unreachable", "http", "5xx, time-out, reset, or a name without an address", errors.UnreachableError, None, (_P.RETRY, _P.OTHER_SOURCE, _P.OPEN_CIRCUIT)),
    Refusal("surface_off", "ours", "a surface that our own profile patch switches off", errors.ForbiddenError, "surface_off", (_P.OTHER_SOURCE, _P.STOP)),
    Refusal("budget_spent", "ours", "our own budget of the day is used up", errors.BudgetSpentError, None, (_P.STOP, _P.OTHER_HOST)),
    Refusal("refused_lately", "ours", "surfaces that refused their latest requests, none due for a probe", errors.RefusedLatelyError, None, (_P.STOP,)),
    # The chart.
    Refusal("chart_denied", "chart", "200 with the firewall's text", errors.ChartUnavailableError, "access_denied", _WITHHELD),
    Refusal("chart_wrong_id", "chart", "200 with the text about a wrong id", errors.ChartUnavailableError, "wrong_id", _WITHHELD),
    Refusal("chart_text", "chart", "200 with any other text where JSON is known", errors.ChartUnavailableError, "not_json", _WITHHELD),
    Refusal("chart_status", "chart", "`status` is not 1", errors.ChartUnavailableError, "status", _WITHHELD),
    Refusal("chart_too_frequent", "chart", "`errcode` 1002: requests come too often", errors.RateLimitedError, "errcode 1002", (_P.WAIT,)),
    Refusal("chart_errcode", "chart", "`errcode` is not 0", errors.ChartUnavailableError, "errcode", _WITHHELD),
    Refusal("chart_no_such", "chart", "`data` that holds only a timestamp", errors.ChartUnavailableError, "no_such_chart", _WITHHELD),
    Refusal("chart_of_charts", "chart", "`rank.list`, the list of charts, where songs are expected", errors.ChartUnavailableError, "list_of_charts", _WITHHELD),
    Refusal("chart_empty", "chart", "an empty list (a cold edge node)", errors.ChartUnavailableError, "empty_info", _WITHHELD),
    Refusal("chart_http", "chart", "an empty body, or another HTTP status than 200", errors.ChartUnavailableError, None, _WITHHELD),
    Refusal("chart_other_issue", "chart", "songs of another issue than asked for, or of several", errors.SubstitutionError, "another_issue", (_P.OTHER_SOURCE, _P.REJECT_ITEM)),
    # Sound.
    Refusal("sound_refused", "media", "403 for the address of a sound that was read a moment ago", errors.AudioUnavailableError, "sound_refused", (_P.OTHER_SOURCE, _P.REJECT_ITEM, _P.BACK_OFF)),
    Refusal("sound_expired", "media", "403, 404 or 410 for the address of a sound", errors.AudioUnavailableError, None, (_P.OTHER_SOURCE, _P.REJECT_ITEM)),
    Refusal("silent_placeholder", "media", "a photo post whose sound is the silent file", errors.AudioUnavailableError, "silent_placeholder", (_P.REJECT_ITEM,)),
    Refusal("no_sound_address", "media", "a video that names no sound", errors.AudioUnavailableError, "no_sound_address", (_P.REJECT_ITEM,)),
    Refusal("altered_by_host", "media", "a sound with another first byte of its file type box", errors.AudioUnavailableError, "altered_by_host", (_P.OTHER_SOURCE, _P.REJECT_ITEM)),
    Refusal("not_a_sound", "media", "a page where a sound was expected", errors.AudioUnavailableError, "not_a_sound", (_P.OTHER_SOURCE, _P.REJECT_ITEM)),
)
# fmt: on

SOURCE_ENDING_ERRORS: tuple[type[errors.UpstreamError], ...] = (
    errors.VerificationDemandedError,
    errors.LoginRequiredError,
    errors.SignatureDemandedError,
    errors.ForbiddenError,
    errors.RateLimitedError,
    errors.RegionBlockedError,
    errors.BudgetSpentError,
)
"""Errors after which a caller asks a question for no further item: they concern the visitor."""

DEMANDS = frozenset(row.name for row in REFUSALS if row.policy == _DEMANDED)
"""Rows that demand a verification or an account."""
OF_THE_SURFACE = frozenset(
    row.name
    for row in REFUSALS
    if {_P.BACK_OFF, _P.OPEN_CIRCUIT} & {*row.policy} and _P.RETRY not in row.policy
)
"""Rows that concern a surface rather than one item: the next item will hardly fare better."""

OF_ONE_ITEM = frozenset({"empty_detail", "another_item", "chart_other_issue"})
"""Rows that concern one item: they say nothing about how its surface answers for others."""

_BY_NAME = {row.name: row for row in REFUSALS}
# Rows with a reason are matched before the row that covers the rest of a class.
_SPECIFIC_FIRST = sorted(REFUSALS, key=lambda row: row.reason is None)


def refusal_of(error: errors.SametrackError) -> Refusal | None:
    """Return the row of an error: by its reason if a row of its class has it, else by its class.

    A reason of our own (an open circuit) maps to the first row of the class.
    """
    word = error.reason if isinstance(error, errors.UpstreamError) else None
    of_class = [row for row in _SPECIFIC_FIRST if row.error is type(error)]
    by_reason = [row for row in of_class if row.covers(word)]
    return next(iter(by_reason or of_class), None)


def policy_of(error: errors.SametrackError) -> tuple[RefusalPolicy, ...]:
    """Return the policies for an error; an error without a row is not retried."""
    row = refusal_of(error)
    return (_P.STOP,) if row is None else row.policy


def allows_policy(error: errors.SametrackError, policy: RefusalPolicy) -> bool:
    """Return True if a policy applies to an error."""
    return policy in policy_of(error)


def refusal_error(
    name: str,
    detail: str,
    *,
    surface: str,
    reason: str | None = None,
    status: int | None = None,
) -> errors.UpstreamError:
    """Build the error of a row for a surface. `reason` is used if the row has none of its own."""
    row = _BY_NAME[name]
    if row.error is None or not issubclass(row.error, errors.UpstreamError):
        raise KeyError(name)
    word = row.reason if row.reason and "*" not in row.reason else reason
    return row.error(detail, surface=surface, reason=word, status=status)
