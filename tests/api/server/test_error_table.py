"""Every cause has a status, both languages and advice; numbers live in one file."""

import re
from collections.abc import Iterator
from pathlib import Path

import api
from api.responses.errors import ERROR_SPECS, error_of_status, error_spec, with_hint
from warehouse.records.errors import SametrackError, UpstreamError, VerificationDemandedError

CHINESE = re.compile(r"[\u4e00-\u9fff]")
API = Path(api.__file__).parent
STATUS = re.compile(r"\b(202|304|40[0-9]|41[0-9]|42[0-9]|50[1-9])\b|status(_code)?=\d|HTTP_\d")


def tree(root: type[SametrackError]) -> Iterator[type[SametrackError]]:
    yield root
    for child in root.__subclasses__():
        if child.__module__ in {"warehouse.records.errors", "api.responses.errors"}:
            yield from tree(child)


NEVER_TOLD = {"cancelled"}  # ends a scan from inside, never an answer
CAUSES = sorted({cause.type for cause in tree(SametrackError)} - NEVER_TOLD)


def test_every_cause_of_the_tree_has_an_answer() -> None:
    assert len(CAUSES) > 20
    assert [cause for cause in CAUSES if cause not in ERROR_SPECS] == []


def test_every_answer_is_told_in_both_languages_with_advice() -> None:
    incomplete = {
        name: answer
        for name, answer in ERROR_SPECS.items()
        if not CHINESE.search(answer.message_zh)
        or not answer.message.isascii()
        or not answer.hint
        or not 400 <= answer.status < 600
    }
    assert incomplete == {}


def test_error_document_carries_surface_reason_and_status_of_the_upstream_answer() -> None:
    error = VerificationDemandedError("asked", surface="music_list", reason="captcha", status=200)
    document = with_hint(error.to_document())
    assert document["upstream"] == {"surface": "music_list", "reason": "captcha", "status": 200}
    assert document["hint"] == ERROR_SPECS["upstream_verification"].hint
    assert isinstance(error, UpstreamError)


def test_a_hint_of_the_error_wins_over_the_default() -> None:
    assert with_hint(SametrackError("x", hint="own").to_document())["hint"] == "own"


def test_an_unforeseen_status_is_an_internal_error() -> None:
    assert error_of_status(418).type == "internal_error"
    assert error_spec("never_heard_of") == ERROR_SPECS["internal_error"]


EXEMPT = {
    "errors.py",  # the file
    "cli",  # exit codes
    "client",  # is used on its own, so it has a table of its own
    "chinese_texts.py",  # texts, not codes
}


def test_status_codes_live_in_one_file() -> None:
    paths = [path for path in API.rglob("*.py") if EXEMPT.isdisjoint(path.parts)]
    assert len(paths) > 50
    found = {
        str(path): status[0]
        for path in paths
        if (status := STATUS.search(_without_docstrings(path.read_text(encoding="utf-8"))))
    }
    assert found == {}


def _without_docstrings(code: str) -> str:
    return re.sub(r'"""(?:.|\n)*?"""', "", code)
