"""Every way the platform says no, as one named error each.

Three looks, in this order: at the HTTP answer, at the status inside a JSON body, and (only when a
page or body turned out to hold no data) at the words of the page. A page is never judged by a word
while it holds data: users write those words too, and the captcha script is on every page.
"""

from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from pipelines.platform.call_trace import Answer
from pipelines.platform.parsers.fields import Node
from pipelines.platform.refusal_table import refused
from warehouse.records.errors import UpstreamError

LOGIN_CODES = {2483: "login_code", 8: "login_code_8"}
"""What JSON surfaces answer to a guest where they want an account, by the row of each."""
UNKNOWN_CODE = 5  # a bad or unknown id
_BLOCKED = b"blocked"
_VERIFY = "verify_check"
_CAPTCHA = "verify"  # the type of a body that stands for a captcha
_PAGE_KEPT = 64 * 1024  # a page that says no is short


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Words by which a page without data says why, and a path by which a redirect does; they come
    from the platform profile.
    """

    verification_title: tuple[str, ...]
    verification_body: tuple[str, ...]
    verification_path: str
    forbidden_title: tuple[str, ...]


_BY_STATUS = {
    HTTPStatus.UNAUTHORIZED: ("login_status", "the surface wants an account"),
    HTTPStatus.FORBIDDEN: ("forbidden", "the platform forbids this"),
    HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS: (
        "legal_reasons",
        "the platform does not serve this region",
    ),
}


def refuse_answer(answer: Answer, words: Words) -> None:
    """Stop at what the HTTP answer alone says.

    Raises:
        ForbiddenError: 403.
        LoginRequiredError: 401.
        RegionBlockedError: 451, or a redirect to where another region is served.
        VerificationDemandedError: A redirect to a verification page.
        EmptyAnswerError: Nothing in it, or the bare word `blocked`.
        StructureChangedError: Any other status than 200.
    """
    surface, status = answer.surface, answer.status
    if answer.location is not None:
        raise _redirected(answer, words)
    if status in _BY_STATUS:
        row, detail = _BY_STATUS[HTTPStatus(status)]
        raise refused(row, detail, surface=surface, status=status)
    if status != HTTPStatus.OK:
        raise refused(
            "unknown_status",
            f"the surface answered {status}",
            surface=surface,
            status=status,
            reason=f"status {status}",
        )
    if answer.body.strip().lower() in {b"", _BLOCKED}:
        row = "blocked" if answer.body.strip() else "empty_body"
        raise refused(row, "the answer is empty", surface=surface, status=status)


def _redirected(answer: Answer, words: Words) -> UpstreamError:
    """The error for a redirect that is an answer itself."""
    if words.verification_path in urlsplit(answer.location or "").path:
        row, detail = "verify_redirect", "the platform leads to a verification page"
    else:
        row, detail = "region_redirect", "the platform sends this region elsewhere"
    return refused(row, detail, surface=answer.surface, status=answer.status)


def refuse_status(body: Node) -> None:
    """Stop at what the status inside a JSON body says.

    Raises:
        VerificationDemandedError: The platform wants to see a person.
        LoginRequiredError: It wants an account.
        StructureChangedError: A status that we do not know.
    """
    error = _verification(body) or _by_code(body)
    if error is not None:
        raise error


def _verification(body: Node) -> UpstreamError | None:
    nil = body.node("search_nil_info")
    row = "verify_type" if body.values.get("verify_type") else None
    if body.values.get("type") == _CAPTCHA and body.has("code"):
        row = "captcha_json"
    if nil is not None and _VERIFY in {nil.text("search_nil_type"), nil.text("search_nil_item")}:
        row = "verify_check"
    if row is None:
        return None
    return refused(row, "the platform demands verification", surface=body.surface)


def _by_code(body: Node) -> UpstreamError | None:
    code = body.whole("status_code") or 0
    if code == 0:
        return None
    if code in LOGIN_CODES:
        return refused(LOGIN_CODES[code], "the surface wants an account", surface=body.surface)
    return refused(
        "unknown_code",
        "the surface answered with a status that is not known",
        surface=body.surface,
        reason=f"status_code {code}",
    )


def says_unknown(body: Node) -> bool:
    """True when the body says that there is nothing under the id asked for."""
    return body.whole("status_code") == UNKNOWN_CODE


def explain(error: UpstreamError, answer: Answer, words: Words) -> UpstreamError:
    """A more exact error for an answer that held no data, where its page says why."""
    page = answer.body[:_PAGE_KEPT]
    if page.lstrip()[:1] != b"<":
        return error
    found = LexborHTMLParser(page).css_first("title")
    title = found.text() if found is not None else ""
    has_container = error.reason not in {"no_container", "not_json", "broken_frame"}
    named = _by_title(title, answer, words)
    if named is None and not has_container:
        named = _by_script(page, answer, words)
    return named or error


def _by_title(title: str, answer: Answer, words: Words) -> UpstreamError | None:
    if any(word in title for word in words.verification_title):
        row, detail = "captcha_page", "the platform shows a verification page"
    elif any(word in title for word in words.forbidden_title):
        row, detail = "restricted_page", "the platform restricts access"
    else:
        return None
    return refused(row, detail, surface=answer.surface, status=answer.status)


def _by_script(page: bytes, answer: Answer, words: Words) -> UpstreamError | None:
    if not any(word.encode() in page for word in words.verification_body):
        return None
    return refused(
        "script_challenge", "the platform sent a script challenge", surface=answer.surface
    )
