"""Collects the compared pairs of a job for its report.

Plots of the pairs that links depend on, and rejected candidates with as many plots as fit. It uses
the evidence service, so nothing is decoded. Not here: markup, HTTP.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

from api.responses.errors import NotFoundError
from pipelines.documents.video_types import EvidenceDocument
from warehouse.records.evidence import MATCHES
from warehouse.records.values import ReadOnlyDocument

if TYPE_CHECKING:
    from api.services.evidence.plot_texts import PlotLanguage
    from api.services.evidence.service import EvidenceService

MAX_PLOTS = 24
MAX_PLOT_BYTES = 2_500_000
MAX_REJECTED = 20
_UNQUOTED = " =:/?;,+()!*@$&"  # characters allowed unescaped in both an attribute and a data URL


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportEvidence:
    """`pictures` are SVG data URLs by comparison id.

    `rejected` has the best pair of each rejected candidate, most credible first, out of
    `rejected_count`.
    """

    pictures: Mapping[str, str] = field(default_factory=dict)
    rejected: Sequence[EvidenceDocument] = ()
    rejected_count: int = 0


def collect_report_evidence(
    scan_service: "EvidenceService", job: ReadOnlyDocument, *, language: "PlotLanguage" = "en"
) -> ReportEvidence:
    """Collect the pairs of a completed job document with its result; plots in one language."""
    rejected = _rejected(scan_service.pairs_of_job(job["scan_job_id"]))
    shown = rejected[:MAX_REJECTED]
    wanted = dict.fromkeys(
        evidence["comparison_id"] for evidence in (*_linked(job["result"]), *shown)
    )
    return ReportEvidence(
        pictures=dict(_plots(scan_service, wanted, language)),
        rejected=shown,
        rejected_count=len(rejected),
    )


def _linked(result: ReadOnlyDocument) -> Iterator[EvidenceDocument]:
    """Yield the evidence of confirmed videos and of variants."""
    for video in (*result["aweme_list"], *result["variants"]["aweme_list"]):
        if video.get("evidence"):
            yield video["evidence"]


def _rejected(pairs: Sequence[EvidenceDocument]) -> list[EvidenceDocument]:
    """Return the best pair of each candidate that no pair accepted."""
    best: dict[str, EvidenceDocument] = {}
    accepted = {pair["candidate_aweme_id"] for pair in pairs if pair["verdict"] in MATCHES}
    for pair in sorted(pairs, key=_credibility, reverse=True):
        if pair["verdict"] == "rejected" and pair["candidate_aweme_id"] not in accepted:
            best.setdefault(pair["candidate_aweme_id"], pair)
    return list(best.values())


def _credibility(pair: EvidenceDocument) -> tuple[bool, float]:
    return (pair["observation"] is not None, pair["score"] or 0.0)


def _plots(
    scan_service: "EvidenceService", wanted: Mapping[str, None], language: "PlotLanguage"
) -> Iterator[tuple[str, str]]:
    """Draw as many plots as fit. A pair without stored features has none."""
    room = MAX_PLOT_BYTES
    for comparison_id in list(wanted)[:MAX_PLOTS]:
        try:
            picture = scan_service.picture(comparison_id, "svg", language=language)
        except NotFoundError:
            continue
        address = f"data:image/svg+xml,{quote(picture, safe=_UNQUOTED)}"
        room -= len(address)
        if room < 0:
            return
        yield comparison_id, address
