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
_BLOCKED = b"blocked"
_VERIFY = "verify_check"
_RISK_CONTROL = frozenset({"antispam_check", "hit_shark"})
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


def refuse_answer(answer: HttpResponse, words: ProfileMarkers) -> None:
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
    surface, status = answer.surface, answer.status
    if answer.location is not None:
        raise _redirected(answer, words)
    # A page or a document with status 200 may quote the gateway's words.
    is_refusal = status != HTTPStatus.OK or _is_text(answer.body)
    start = answer.body[:_TEXT_KEPT]
    if is_refusal and any(word.encode() in start for word in words.signature_text):
        raise _unsigned(surface, status=status, reason="gateway_text")
    if status != HTTPStatus.OK and (named := _by_document(answer)) is not None:
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
    if answer.body.strip().lower() in {b"", _BLOCKED}:
        row = "blocked" if answer.body.strip() else "empty_body"
        raise refusal_error(row, "the response is empty", surface=surface, status=status)


def _is_text(body: bytes) -> bool:
    """Return True for a body that begins neither like a page nor like JSON."""
    return body.lstrip()[:1] not in {b"<", b"{", b"["}


def _unsigned(surface: str, *, reason: str, status: int | None = None) -> UpstreamError:
    return refusal_error(
        "signature_demanded",
        "the surface answers signed requests only",
        surface=surface,
        status=status,
        reason=reason,
    )


def _redirected(answer: HttpResponse, words: ProfileMarkers) -> UpstreamError:
    """Return the error for a redirect that is an answer itself."""
    if words.verification_path in urlsplit(answer.location or "").path:
        row, detail = "verify_redirect", "the platform redirects to a verification page"
    else:
        row, detail = "region_redirect", "the platform sends this region elsewhere"
    return refusal_error(row, detail, surface=answer.surface, status=answer.status)


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
    return _verification(body) or _too_frequent(body) or _by_code(body)


def _verification(body: JsonNode) -> UpstreamError | None:
    nil = body.node("search_nil_info")
    row = "verify_type" if body.values.get("verify_type") else None
    is_coded = body.has("verify_data") and _status_code(body) == _VERIFY_CODE
    if body.values.get("verify_data") or is_coded:
        row = "verify_data"
    if body.values.get("type") == _CAPTCHA and body.has("code"):
        row = "captcha_json"
    codes = set() if nil is None else {nil.text("search_nil_type"), nil.text("search_nil_item")}
    if codes & _RISK_CONTROL:
        row = "risk_control"
    if _VERIFY in codes:
        row = "verify_check"
    if row is None:
        return None
    return refusal_error(row, "the platform demands verification", surface=body.surface)


def _too_frequent(body: JsonNode) -> UpstreamError | None:
    if body.values.get("code") != _TOO_FREQUENT:
        return None
    return refusal_error(
        "too_frequent", "the platform asks for fewer requests", surface=body.surface
    )


def _by_code(body: JsonNode) -> UpstreamError | None:
    code = _status_code(body) or 0
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
    if not answer.has(key):
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
    code = body.values.get("status_code")
    if type(code) is int:
        return code
    if isinstance(code, str) and _CODE.fullmatch(code):
        return int(code)
    return body.whole("status_code")


def explain(error: UpstreamError, answer: HttpResponse, words: ProfileMarkers) -> UpstreamError:
    """Return a more specific error for a response without data if its page shows the reason.

    A JSON body in place of a page is read as such: refusals are not always sent as pages.
    """
    page = answer.body[:_PAGE_KEPT]
    if page.lstrip()[:1] == b"{":
        return _by_document(answer) or error
    if page.lstrip()[:1] != b"<":
        return error
    title = find_title(page) or ""
    has_container = error.reason not in {"no_container", "not_json", "broken_frame"}
    named = _by_title(title, answer, words)
    if named is None and not has_container:
        named = (
            _by_script(page, answer, words)
            or _by_gateway(page, answer, words)
            or _by_shell(answer, words)
        )
    return named or error


def _by_gateway(page: bytes, answer: HttpResponse, words: ProfileMarkers) -> UpstreamError | None:
    """Return the error for a page of the gateway that blocks unsigned requests."""
    if not any(word.encode() in page[:_TEXT_KEPT] for word in words.signature_text):
        return None
    return _unsigned(answer.surface, status=answer.status, reason="gateway_text")


def _by_shell(answer: HttpResponse, words: ProfileMarkers) -> UpstreamError | None:
    """Return the error for a page whose own script loads what it is about."""
    if not any(word.encode() in answer.body for word in words.shell_body):
        return None
    return refusal_error(
        "page_without_data",
        "the page's own script loads its data",
        surface=answer.surface,
        reason="client_side_page",
        status=answer.status,
    )


def _by_document(answer: HttpResponse) -> UpstreamError | None:
    try:
        refuse_status(parse_json(answer.body, surface=answer.surface))
    except StructureChangedError:
        return None
    except UpstreamError as error:
        return error
    return None


def _by_title(title: str, answer: HttpResponse, words: ProfileMarkers) -> UpstreamError | None:
    if any(word in title for word in words.verification_title):
        row, detail = "captcha_page", "the platform shows a verification page"
    elif any(word in title for word in words.forbidden_title):
        row, detail = "restricted_page", "the platform restricts access"
    else:
        return None
    return refusal_error(row, detail, surface=answer.surface, status=answer.status)


def _by_script(page: bytes, answer: HttpResponse, words: ProfileMarkers) -> UpstreamError | None:
    if not any(word.encode() in page for word in words.verification_body):
        return None
    return refusal_error(
        "script_challenge", "the platform sent a script challenge", surface=answer.surface
    )
