"""Collects the compared pairs of a job for its report.

Plots of the pairs that links depend on, and rejected candidates with as many plots as fit. It uses
the evidence service, so nothing is decoded. Not here: markup, HTTP.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

from api.responses.errors import NotFoundError
from pipelines.documents.result_types import EvidenceDocument
from warehouse.records.evidence import MATCHES
from warehouse.records.values import ReadOnlyDocument

if TYPE_CHECKING:
    from api.services.evidence.plot import PlotLanguage
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
    evidence_service: "EvidenceService", job: ReadOnlyDocument, *, language: "PlotLanguage" = "en"
) -> ReportEvidence:
    """Collect the pairs of a completed job document with its result; plots in one language."""
    result = job["result"]
    rejected = _best_rejected_pairs(evidence_service.pairs_of_job(job["scan_job_id"]))

    # Plots of confirmed videos, variants and versions come first; a pair may belong to several.
    versions = (result.get("versions") or {}).get("aweme_list") or ()
    videos = (*result["aweme_list"], *result["variants"]["aweme_list"], *versions)
    linked = [video["evidence"] for video in videos if video.get("evidence")]
    listed = rejected[:MAX_REJECTED]
    ids = dict.fromkeys(evidence["comparison_id"] for evidence in (*linked, *listed))
    plots: dict[str, str] = {}
    free_bytes = MAX_PLOT_BYTES
    for comparison_id in list(ids)[:MAX_PLOTS]:
        try:
            plot = evidence_service.picture(comparison_id, "svg", language=language)
        except NotFoundError:
            continue  # features of its sounds are not stored
        address = f"data:image/svg+xml,{quote(plot, safe=_UNQUOTED)}"
        free_bytes -= len(address)
        if free_bytes < 0:
            break
        plots[comparison_id] = address
    return ReportEvidence(pictures=plots, rejected=listed, rejected_count=len(rejected))


def _best_rejected_pairs(pairs: Sequence[EvidenceDocument]) -> list[EvidenceDocument]:
    """Return the best pair of each candidate that no pair accepted, most credible first."""
    accepted = {pair["candidate_aweme_id"] for pair in pairs if pair["verdict"] in MATCHES}
    # What a pair shares or is likely to be makes a rejection more interesting than its score.
    by_credibility = sorted(
        pairs,
        key=lambda pair: (
            pair["observation"] is not None or pair.get("shared_part") is not None,
            pair["score"] or 0.0,
        ),
        reverse=True,
    )
    best: dict[str, EvidenceDocument] = {}
    for pair in by_credibility:
        if pair["verdict"] == "rejected" and pair["candidate_aweme_id"] not in accepted:
            best.setdefault(pair["candidate_aweme_id"], pair)
    return list(best.values())
