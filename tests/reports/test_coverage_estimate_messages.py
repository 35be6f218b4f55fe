"""Sentences about the estimates of a coverage report."""

from collections.abc import Callable
from typing import Any, get_args

from api.services.report.render import render_report
from pipelines.documents.messages import (
    ASSUMPTIONS,
    AUDIT_VERDICTS,
    METHODS,
    NOT_AUDITED,
    NOT_ESTIMATED,
    audit_sentence,
    audit_sentences,
    coverage_estimate_sentence,
    coverage_estimate_sentences,
)
from warehouse.records.coverage import (
    AuditVerdict,
    EstimateAssumption,
    EstimateMethod,
    NotAudited,
    NotEstimated,
)

GIVEN: dict[str, Any] = {
    "observed": 1500, "source_count": 54, "sample_size": 1, "method": "ichao1", "point": 1720.6,
    "interval_95": [1500, 2304], "sample_coverage": 0.9, "reason": None, "note": "",
    "assumption": "screens_show_any_music_id",
}  # fmt: skip
AUDIT: dict[str, Any] = {
    "seed": "job", "pool": 412, "drawn": 60, "compared": 59, "found": 0,
    "upper_bound_share": 0.0449, "upper_bound_count": 18, "confidence": 0.95, "reason": None,
    "videos": [], "note": "",
}  # fmt: skip
WITHOUT: dict[str, Any] = {
    **GIVEN, "method": None, "point": None, "interval_95": None, "sample_coverage": None,
    "assumption": None, "reason": "lists_not_read",
}  # fmt: skip


def test_an_estimate_is_told_with_its_interval_its_method_and_its_basis() -> None:
    sentence = coverage_estimate_sentence("music_id", GIVEN)
    assert sentence.en == (
        "Music ids with the recording: 1,500 confirmed; a guest could reach about 1,721, 95 % "
        "interval 1,500 to 2,304 (iChao1, from 1 video of 54 sources)."
    )
    assert "1,500 至 2,304" in sentence.zh


def test_videos_that_were_listed_and_not_compared_are_told_beside_the_confirmed_ones() -> None:
    sentence = coverage_estimate_sentence("video", {**GIVEN, "listed": 30})
    assert "1,500 confirmed, 30 more listed under confirmed music ids; a guest" in sentence.en
    assert "另有 30 个未比对" in sentence.zh


def test_coverage_estimate_sentence_gives_the_reason_of_a_missing_estimate() -> None:
    sentence = coverage_estimate_sentence("video", WITHOUT)
    assert sentence.en == (
        "Videos with the recording: 1,500 confirmed; how many a guest could reach cannot be "
        "estimated: lists of confirmed music ids were not read to the end."
    )
    assert "无法估计" in sentence.zh


def test_both_estimates_come_with_one_assumption() -> None:
    sentence = coverage_estimate_sentences({"music_ids": GIVEN, "videos": WITHOUT})
    assert [one.en.split(":")[0] for one in sentence] == [
        "Music ids with the recording", "Videos with the recording", "Assumption",
    ]  # fmt: skip


def test_results_without_estimates_have_no_sentence() -> None:
    assert coverage_estimate_sentences(None) == []


def test_every_code_has_a_text() -> None:
    assert METHODS.keys() == set(get_args(EstimateMethod))
    assert ASSUMPTIONS.keys() == set(get_args(EstimateAssumption))
    assert NOT_ESTIMATED.keys() == set(get_args(NotEstimated))
    assert NOT_AUDITED.keys() == set(get_args(NotAudited))
    assert AUDIT_VERDICTS.keys() == set(get_args(AuditVerdict))


def test_an_audit_is_told_with_its_limit_and_its_sample() -> None:
    sentence = audit_sentence(AUDIT)
    assert sentence.en == (
        "Random audit: among 412 videos seen and not chosen as candidates, at most 4.5 % of the "
        "comparable ones (18) carry the recording (95 % confidence, 60 drawn, 59 compared, "
        "0 found)."
    )
    assert "至多 4.5 %" in sentence.zh


def test_an_audit_without_a_limit_is_told_with_the_reason() -> None:
    sentence = audit_sentence({**AUDIT, "reason": "switched_off"})
    assert sentence.en == (
        "Random audit: 412 videos seen and not chosen as candidates; how many of them carry the "
        "recording is unknown: the audit is switched off."
    )
    assert audit_sentences(None) == []


def test_a_report_shows_the_audit(build_job: Callable[..., dict[str, Any]]) -> None:
    job = build_job()
    job["result"]["coverage"]["audit"] = AUDIT
    assert "at most 4.5 % of the comparable ones" in render_report(job)


def test_a_report_shows_the_interval_and_never_the_older_lower_bound(
    build_job: Callable[..., dict[str, Any]],
) -> None:
    job = build_job()
    assert "chao1" not in render_report(job)
    job["result"]["coverage"]["estimates"] = {"music_ids": GIVEN, "videos": WITHOUT}
    page = render_report(job)
    assert "95 % interval 1,500 to 2,304" in page
    assert "chao1" not in page.replace("ichao1", "")
