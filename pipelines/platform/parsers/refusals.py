"""Recognises every kind of refusal by the platform, one named error each.

Three checks, in this order: the HTTP response, the status inside a JSON body, and (only when a page
or body turned out to contain no data) the wording of the page. A page with data is never judged by
its words: users write those words too, and the captcha script is on every page.
"""

import re
from http import HTTPStatus
from urllib.parse import urlsplit

from pipelines.platform.call_trace import HttpResponse
from pipelines.platform.page_scripts import find_title
from pipelines.platform.parsers.fields import JsonNode, parse_json
from pipelines.platform.profiles import ProfileMarkers
from pipelines.platform.refusal_table import refusal_error
from warehouse.records.errors import StructureChangedError, UpstreamError

LOGIN_CODES = {2483: "login_code", 8: "login_code_8"}
"""What JSON surfaces answer to a guest where they want an account, by the row of each."""
UNKNOWN_CODE = 5  # a bad or unknown id
GONE_CODES = frozenset({2053, -404})
"""What surfaces of one video answer if it is not available; desktop pages have the negative one."""
SIGNATURE_CODES = frozenset({11110, 412, 444})
"""What surfaces answer to requests without a signature, as `status_code` or as HTTP status."""
# Of the words why a search has no result only these demand something; others mean "no result" or
# are ambiguous (`warehouse.records.search`).
_VERIFY = "verify_check"
_RISK_CONTROL = frozenset({"antispam_check", "hit_shark"})
_BLOCKED = b"blocked"  # the whole body with which old detail surfaces answer
_TOO_FREQUENT = "10001010A"  # `code` of a body that asks to come back later
_CAPTCHA = "verify"  # `type` of a body that demands a captcha
_VERIFY_CODE = 10000  # beside a `verify_data`, even an empty one
_CODE = re.compile(r"-?[0-9]{1,9}", re.ASCII)
_PAGE_KEPT = 64 * 1024  # refusal pages are short
_TEXT_KEPT = 4096  # and refusal texts shorter


_BY_STATUS = {
    HTTPStatus.UNAUTHORIZED: ("login_status", "the surface requires an account"),
    HTTPStatus.FORBIDDEN: ("forbidden", "the platform forbids this"),
    HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS: (
        "legal_reasons",
        "the platform does not serve this region",
    ),
}


def refuse_answer(response: HttpResponse, markers: ProfileMarkers) -> None:
    """Raise for a refusal that the HTTP response alone shows.

    Raises:
        ForbiddenError: Status 403.
        LoginRequiredError: Status 401.
        RegionBlockedError: Status 451, or a redirect to the site of another region.
        VerificationDemandedError: A redirect to a verification page.
        SignatureDemandedError: Status 412 or 444, or the text of the gateway that demands it.
        EmptyAnswerError: The body is empty, or the bare word `blocked`.
        UpstreamError: Any other status than 200, whose JSON body is a known refusal.
        StructureChangedError: Any other status.
    """
    surface, status = response.surface, response.status
    if response.location is not None:
        if markers.verification_path in urlsplit(response.location).path:
            row, detail = "verify_redirect", "the platform redirects to a verification page"
        else:
            row, detail = "region_redirect", "the platform sends this region elsewhere"
        raise refusal_error(row, detail, surface=surface, status=status)
    # A page or a document with status 200 may quote the gateway's words, a bare text is its own.
    is_text = response.body.lstrip()[:1] not in {b"<", b"{", b"["}
    if (status != HTTPStatus.OK or is_text) and _has_gateway_text(response.body, markers):
        raise _unsigned(surface, status=status, reason="gateway_text")
    if status != HTTPStatus.OK and (named := _refusal_in_document(response)) is not None:
        raise named
    if status in SIGNATURE_CODES:
        raise _unsigned(surface, status=status, reason=f"status {status}")
    if status in _BY_STATUS:
        row, detail = _BY_STATUS[HTTPStatus(status)]
        raise refusal_error(row, detail, surface=surface, status=status)
    if status != HTTPStatus.OK:
        raise refusal_error(
            "unknown_status",
            f"the surface answered {status}",
            surface=surface,
            status=status,
            reason=f"status {status}",
        )
    # Risk control often answers 200 without a word. Asking on in a loop gets the address blocked.
    if response.body.strip().lower() in {b"", _BLOCKED}:
        row = "blocked" if response.body.strip() else "empty_body"
        raise refusal_error(row, "the response is empty", surface=surface, status=status)


def _has_gateway_text(body: bytes, markers: ProfileMarkers) -> bool:
    return any(word.encode() in body[:_TEXT_KEPT] for word in markers.signature_text)


def _unsigned(surface: str, *, reason: str, status: int | None = None) -> UpstreamError:
    return refusal_error(
        "signature_demanded",
        "the surface answers signed requests only",
        surface=surface,
        status=status,
        reason=reason,
    )


def refuse_status(body: JsonNode) -> None:
    """Raise for a refusal that the status inside a JSON body shows.

    Raises:
        VerificationDemandedError: The platform demands verification.
        RateLimitedError: Requests come too often for the platform.
        LoginRequiredError: The surface requires an account.
        SignatureDemandedError: The surface answers signed requests only.
        StructureChangedError: The status is unknown.
    """
    error = find_refusal(body)
    if error is not None:
        raise error


def find_refusal(body: JsonNode) -> UpstreamError | None:
    """Return the error of a JSON body whose status is a refusal, else None."""
    demand = _verification(body)
    if demand is not None:
        return demand
    if body.values.get("code") == _TOO_FREQUENT:
        return refusal_error(
            "too_frequent", "the platform asks for fewer requests", surface=body.surface
        )
    code = _status_code(body) or 0  # absent on share pages
    if code == 0:
        return None
    if code in LOGIN_CODES:
        return refusal_error(
            LOGIN_CODES[code], "the surface requires an account", surface=body.surface
        )
    if code in SIGNATURE_CODES:
        return _unsigned(body.surface, reason=f"status_code {code}")
    return refusal_error(
        "unknown_code",
        "the surface answered with an unknown status",
        surface=body.surface,
        reason=f"status_code {code}",
    )


def _verification(body: JsonNode) -> UpstreamError | None:
    """Return the error of a body that demands verification, which comes with any status.

    A search says it with status 200, `status_code` 0 and an empty list, as if nothing matched.
    """
    nil = body.node("search_nil_info")
    row = "verify_type" if body.values.get("verify_type") else None
    # Healthy bodies have an empty `verify_data`; beside the code 10000 it counts although empty.
    is_coded = "verify_data" in body.values and _status_code(body) == _VERIFY_CODE
    if body.values.get("verify_data") or is_coded:
        row = "verify_data"
    # The captcha service answers in place of the surface, with keys of its own.
    if body.values.get("type") == _CAPTCHA and "code" in body.values:
        row = "captcha_json"
    codes = set() if nil is None else {nil.text("search_nil_type"), nil.text("search_nil_item")}
    if codes & _RISK_CONTROL:
        row = "risk_control"
    if _VERIFY in codes:
        row = "verify_check"
    if row is None:
        return None
    return refusal_error(row, "the platform demands verification", surface=body.surface)


def open_answer(body: bytes, *, surface: str) -> JsonNode:
    """Return the JSON object of a response that is no refusal.

    Raises:
        UpstreamError: It is a refusal, or no JSON object.
    """
    answer = parse_json(body, surface=surface)
    refuse_status(answer)
    return answer


def find_description(body: bytes, key: str, *, surface: str) -> JsonNode | None:
    """Return the description of what was asked for; None if there is no such id.

    The platform says so by a status, or by a null or empty description.

    Raises:
        UpstreamError: The response is a refusal, or lacks the key.
    """
    answer = parse_json(body, surface=surface)
    if says_unknown(answer):
        return None
    refuse_status(answer)
    # A null or empty description is an answer; a missing key is a changed structure.
    if key not in answer.values:
        raise answer.missing(key)
    info = answer.node(key)
    return info if info is not None and info.values else None


def says_unknown(body: JsonNode) -> bool:
    """Return True if the body says that the requested id does not exist.

    Raises:
        VerificationDemandedError: It demands verification, which can come with any status.
    """
    demand = _verification(body)
    if demand is not None:
        raise demand
    return _status_code(body) == UNKNOWN_CODE


def says_gone(body: JsonNode) -> bool:
    """Return True if the status of the body says that the one requested video is not available."""
    return _status_code(body) in GONE_CODES and _verification(body) is None


def _status_code(body: JsonNode) -> int | None:
    """Return the status of a body, also from a text with a number; None when absent."""
    # Desktop pages have negative codes, and some surfaces write the code as a text.
    code = body.values.get("status_code")
    if type(code) is int:
        return code
    if isinstance(code, str) and _CODE.fullmatch(code):
        return int(code)
    return body.whole("status_code")


def explain(error: UpstreamError, response: HttpResponse, markers: ProfileMarkers) -> UpstreamError:
    """Return a more specific error for a response without data if its page shows the reason.

    A JSON body in place of a page is read as such: refusals are not always sent as pages.
    """
    page = response.body[:_PAGE_KEPT]
    start = page.lstrip()[:1]
    if start != b"<":
        named = _refusal_in_document(response) if start == b"{" else None
        return named or error
    surface, status = response.surface, response.status
    # Users' texts stand in captions and comments, never in the title of a page without data.
    title = find_title(page) or ""
    row, detail, reason = "", "", None
    # Healthy pages load the script of the captcha, too, and users write the words of the gateway.
    # So beyond its title only a page without a container is judged.
    has_container = error.reason not in {"no_container", "not_json", "broken_frame"}
    if any(word in title for word in markers.verification_title):
        row, detail = "captcha_page", "the platform shows a verification page"
    elif any(word in title for word in markers.forbidden_title):
        row, detail = "restricted_page", "the platform restricts access"
    elif has_container:
        return error
    elif any(word.encode() in page for word in markers.verification_body):
        detail = "the platform sent a script challenge"
        return refusal_error("script_challenge", detail, surface=surface)
    elif _has_gateway_text(page, markers):
        return _unsigned(surface, status=status, reason="gateway_text")
    elif any(word.encode() in response.body for word in markers.shell_body):
        row, detail = "page_without_data", "the page's own script loads its data"
        reason = "client_side_page"
    if not row:
        return error
    return refusal_error(row, detail, surface=surface, status=status, reason=reason)


def _refusal_in_document(response: HttpResponse) -> UpstreamError | None:
    """Return the refusal that a JSON body states; None for any other body."""
    try:
        refuse_status(parse_json(response.body, surface=response.surface))
    except StructureChangedError:
        return None
    except UpstreamError as error:
        return error
    return None
