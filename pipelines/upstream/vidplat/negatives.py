"""Every way the platform says no, as one named error each.

Three looks, in this order: at the HTTP answer, at the status inside a JSON body, and (only when a
page or body turned out to hold no data) at the words of the page. A page is never judged by a word
while it holds data: users write those words too, and the captcha script is on every page.
"""

from dataclasses import dataclass
from http import HTTPStatus

from selectolax.lexbor import LexborHTMLParser

from pipelines.domain.errors import (
    EmptyAnswerError,
    ForbiddenError,
    LoginRequiredError,
    RegionBlockedError,
    StructureChangedError,
    UpstreamError,
    VerificationDemandedError,
)
from pipelines.upstream.trail import Answer
from pipelines.upstream.vidplat.fields import Node

LOGIN_CODE = 2483
UNKNOWN_CODE = 5  # a bad or unknown id
_BLOCKED = b"blocked"
_PAGE_KEPT = 64 * 1024  # a page that says no is short


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Words by which a page without data says why; they come from the platform profile."""

    verification_title: tuple[str, ...]
    verification_body: tuple[str, ...]
    forbidden_title: tuple[str, ...]


def refuse_answer(answer: Answer) -> None:
    """Stop at what the HTTP answer alone says.

    Raises:
        ForbiddenError: 403.
        LoginRequiredError: 401.
        RegionBlockedError: 451, or a redirect to where another region is served.
        EmptyAnswerError: Nothing in it, or the bare word `blocked`.
        StructureChangedError: Any other status than 200.
    """
    surface, status = answer.surface, answer.status
    if answer.location is not None or status == HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS:
        raise RegionBlockedError(
            "the platform sends this region elsewhere", surface=surface, status=status
        )
    if status == HTTPStatus.FORBIDDEN:
        raise ForbiddenError("the platform forbids this", surface=surface, status=status)
    if status == HTTPStatus.UNAUTHORIZED:
        raise LoginRequiredError("the surface wants an account", surface=surface, status=status)
    if status == HTTPStatus.OK and answer.body.strip().lower() in {b"", _BLOCKED}:
        raise EmptyAnswerError(
            "the answer is empty",
            surface=surface,
            status=status,
            reason="blocked" if answer.body.strip() else "empty_body",
        )
    if status != HTTPStatus.OK:
        raise StructureChangedError(
            f"the surface answered {status}",
            surface=surface,
            status=status,
            reason=f"status {status}",
        )


def refuse_status(body: Node) -> None:
    """Stop at what the status inside a JSON body says.

    Raises:
        VerificationDemandedError: The platform wants to see a person.
        LoginRequiredError: It wants an account.
        StructureChangedError: A status that we do not know.
    """
    nil = body.node("search_nil_info")
    if nil is not None and nil.text("search_nil_type") == "verify_check":
        raise VerificationDemandedError(
            "the platform demands verification", surface=body.surface, reason="verify_check"
        )
    if body.values.get("verify_type"):
        raise VerificationDemandedError(
            "the platform demands verification", surface=body.surface, reason="verify_type"
        )
    code = body.whole("status_code") or 0
    if code == LOGIN_CODE:
        raise LoginRequiredError(
            "the surface wants an account", surface=body.surface, reason=f"status_code {code}"
        )
    if code != 0:
        raise StructureChangedError(
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
    has_container = error.reason not in {"no_container", "not_json"}
    named = _by_title(title, answer, words)
    if named is None and not has_container:
        named = _by_script(page, answer, words)
    return named or error


def _by_title(title: str, answer: Answer, words: Words) -> UpstreamError | None:
    if any(word in title for word in words.verification_title):
        return VerificationDemandedError(
            "the platform shows a verification page", surface=answer.surface, reason="captcha_page"
        )
    if any(word in title for word in words.forbidden_title):
        return ForbiddenError(
            "the platform restricts access", surface=answer.surface, status=answer.status
        )
    return None


def _by_script(page: bytes, answer: Answer, words: Words) -> UpstreamError | None:
    if any(word.encode() in page for word in words.verification_body):
        return VerificationDemandedError(
            "the platform sent a script challenge",
            surface=answer.surface,
            reason="script_challenge",
        )
    return None
