"""The pictures of compared pairs lie inside the report, and rejected candidates say why."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest

from api.responses.errors import NotFoundError
from api.services.evidence.report_evidence import (
    MAX_PLOT_BYTES,
    MAX_PLOTS,
    ReportEvidence,
    collect_report_evidence,
)
from api.services.evidence.service import EvidenceService
from api.services.report.render import render_report
from tests.reports.conftest import SCAN

type Build = Callable[..., dict[str, Any]]
SVG = '<svg xmlns="http://www.w3.org/2000/svg"><title>"a" & \'b\' <#%></title></svg>'


class FakeEvidenceService:
    """Pairs of one job and their pictures; `gone` have none."""

    def __init__(
        self, pairs: Sequence[dict[str, Any]], *, picture: str = SVG, gone: Sequence[str] = ()
    ) -> None:
        self._pairs, self._picture, self._gone = list(pairs), picture, set(gone)

    def pairs_of_job(self, job_id: str) -> list[dict[str, Any]]:
        assert job_id == SCAN
        return self._pairs

    def picture(self, comparison_id: str, form: str, *, language: str = "en") -> bytes:
        assert form == "svg"
        if comparison_id in self._gone:
            raise NotFoundError("gone")
        return self._picture.encode()


def to_pair(number: int, **changes: Any) -> Any:
    """A rejected pair."""
    return {
        "comparison_id": f"rejected-{number}", "candidate_aweme_id": f"75{number:017d}",
        "reference_aweme_id": "7300000000000000001", "verdict": "rejected",
        "reason": "score_below_threshold", "observation": None, "segment": "local",
        "chroma_distance": 0.4, "mfcc_distance": 0.6, "overlap_s": 6.0, "score": 0.3,
    } | changes  # fmt: skip


def gather(job: dict[str, Any], evidence_service: FakeEvidenceService) -> ReportEvidence:
    return collect_report_evidence(cast("EvidenceService", evidence_service), job)


def test_pictures_of_links_and_of_rejected_pairs_are_inside(build_job: Build) -> None:
    job = build_job()
    pairs = gather(job, FakeEvidenceService([to_pair(1, observation="likely_cover")]))
    text = render_report(job, pairs=pairs)
    linked = {
        v["evidence"]["comparison_id"] for v in job["result"]["aweme_list"] if "evidence" in v
    }
    assert {"rejected-1", *linked} <= pairs.pictures.keys()
    assert text.count('<img src="data:image/svg+xml,') >= len(linked) + 1
    assert "img-src data:" in text
    assert "likely a cover" in text
    assert "too little of the sound is the same" in text


def test_a_picture_cannot_leave_its_attribute(build_job: Build) -> None:
    job = build_job()
    pairs = gather(job, FakeEvidenceService([]))
    assert not any(set(address) & set("\"'<>#") for address in pairs.pictures.values())
    assert SVG not in render_report(job, pairs=pairs)


def test_without_pictures_the_policy_stays_as_it_was(build_job: Build) -> None:
    text = render_report(build_job(), pairs=ReportEvidence(rejected=[to_pair(1)], rejected_count=1))
    assert "img-src" not in text
    assert "<img" not in text


def test_a_pair_whose_sounds_are_gone_has_no_picture(build_job: Build) -> None:
    pairs = gather(build_job(), FakeEvidenceService([to_pair(1), to_pair(2)], gone=["rejected-1"]))
    assert "rejected-1" not in pairs.pictures
    assert [pair["comparison_id"] for pair in pairs.rejected] == ["rejected-1", "rejected-2"]


def test_a_report_stays_small(build_job: Build) -> None:
    many = [to_pair(number) for number in range(300)]
    pairs = gather(build_job(), FakeEvidenceService(many))
    assert len(pairs.pictures) <= MAX_PLOTS
    assert (len(pairs.rejected), pairs.rejected_count) == (20, 300)
    large = gather(build_job(), FakeEvidenceService(many, picture="x" * 1_000_000))
    assert sum(map(len, large.pictures.values())) <= MAX_PLOT_BYTES


@pytest.mark.parametrize("verdict", ["confirmed", "variant"])
def test_a_candidate_that_any_pair_accepts_is_not_among_the_rejected(
    build_job: Build, verdict: str
) -> None:
    same = "7500000000000000001"
    pairs = [
        to_pair(1, candidate_aweme_id=same),
        to_pair(2, candidate_aweme_id=same, verdict=verdict),
        to_pair(3, candidate_aweme_id="7500000000000000003", score=0.1),
        to_pair(4, candidate_aweme_id="7500000000000000003", score=0.2),
        to_pair(5, verdict="not_comparable", score=None),
        to_pair(6, observation="uncertain", score=0.1),
    ]
    found = gather(build_job(), FakeEvidenceService(pairs)).rejected
    assert [pair["comparison_id"] for pair in found] == ["rejected-6", "rejected-4"]
