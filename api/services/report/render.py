"""The HTML report of a completed job; `render_report` is the only entry point.

The page is one file: style sheet inline (allowed by its hash), charts as inline SVG, no script. Its
policy blocks every request, so opening it contacts nobody. jinja2 escapes every text.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import accumulate
from urllib.parse import urlsplit

from api.services.evidence.excerpts import ReportEvidence
from api.services.report import figures
from api.services.report.ground_truth import Judgement
from pipelines.documents import messages
from pipelines.documents.html_pages import PageTemplates
from pipelines.documents.messages import Message, reason_message, stop_message
from pipelines.parameters.scan import PARAMETERS
from warehouse.exports.error_sheet import fill_error_sheet
from warehouse.records.values import Document, ReadOnlyDocument

LEAST_VIDEOS = 3
"""With fewer videos, the spread of the hot score over them says nothing."""
WEB_SCHEMES = frozenset({"http", "https"})


def render_report(
    job: ReadOnlyDocument,
    *,
    judgement: Judgement | None = None,
    pairs: ReportEvidence | None = None,
    language: str = "en",
) -> str:
    """Render the report of a completed job as HTML text.

    Args:
        job: A completed job document with its `result`, as returned by the job API.
        judgement: Comparison with the ground truth, which only the sandbox has.
        pairs: Stored evidence of its compared pairs; None renders the result only.
        language: The language that the page shows first, `en` or `zh`; it holds both.
    """
    result = job["result"]
    # The title of the track, its id if it has no title, or the searched name.
    music = result["music"] or {}
    heading = str(result["keyword"] or music.get("title") or result["music_id"])

    # Several ranked videos may depend on one compared pair, which is shown once.
    matched_pairs: dict[str, Document] = {}
    for video in result["aweme_list"]:
        evidence = video.get("evidence")
        if evidence:
            name = evidence.get("comparison_id") or video["aweme_id"]
            pair = matched_pairs.setdefault(name, {"evidence": evidence, "videos": []})
            pair["videos"].append(video)

    values = job.get("parameters") or {}
    parameters = [
        {
            "name": parameter.name,
            "value": _parameter_text(values[parameter.name]),
            "meaning": parameter.meaning,
            "meaning_zh": parameter.meaning_zh,
        }
        for parameter in PARAMETERS
        if parameter.name in values
    ]
    return _PAGES.render(
        "report.html.j2",
        style="report.css",
        running=(heading, "Sametrack"),
        language=language,
        job=job,
        result=result,
        heading=heading,
        # Only the sandbox has a ground truth.
        judgement=judgement,
        pairs=pairs or ReportEvidence(),
        parameters=parameters,
        matched_pairs=list(matched_pairs.values()),
        plot=figures.draw_engagement(result["aweme_list"]),
        engagement=_engagement_message(result["aweme_list"]),
        # The page holds both languages; the reader switches between them.
        sheets=(fill_error_sheet(result), fill_error_sheet(result, language="zh")),
        written_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


_MESSAGES = {
    "source": messages.source_sentence,
    "decisions": messages.decision_sentences,
    "not_reached": messages.not_reached_sentences,
    "estimates": messages.coverage_estimate_sentences,
    "audit": messages.audit_sentences,
    "genuine": messages.genuine_sentences,
    "link": messages.link_message,
    "figure": messages.FIGURES.__getitem__,
    "heading": messages.figure_heading,
    "stop": stop_message,
    "reason": reason_message,
    "variant": messages.variant_message,
    "relevance": messages.relevance_message,
    "observation": messages.observation_message,
    "evidence": messages.evidence_summary,
    "searched": messages.searched_message,
    "by_name": messages.BY_NAME,
    "recall_of": messages.RECALL_OF,
    "true_labels": messages.TRUE_LABELS,
    "demo_banner": messages.DEMO_BANNER,
    "never_everything": messages.NOT_EXHAUSTIVE,
}
"""What templates may use of `messages.py`, by short name."""


def _engagement_message(videos: Sequence[ReadOnlyDocument]) -> Message:
    """Return how few of the ranked videos hold half of the hot score, as title of the chart."""
    scores = sorted((video["hot_score"] for video in videos if video["hot_score"]), reverse=True)
    if len(scores) < LEAST_VIDEOS:
        return Message("Hot score by rank", "各名次作品的热度")
    sums = list(accumulate(scores))
    count = next(number for number, sum_ in enumerate(sums, start=1) if 2 * sum_ >= sums[-1])
    # Never 100 %: the other videos hold something, too.
    share = min(99, round(100 * sums[count - 1] / sums[-1]))
    videos_en = "video holds" if count == 1 else "videos hold"
    return Message(
        f"{count:,} of {len(scores):,} ranked {videos_en} {share} % of the hot score",
        f"{len(scores):,} 个上榜作品中，{count:,} 个占总热度的 {share} %",
    )


def _parameter_text(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value) or "—"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "—" if value is None else str(value)


def _link(address: object) -> str:
    """Return a web address, or "" for anything else."""
    # A `javascript:` link must never appear on a page that the user opens.
    text = str(address or "")
    try:
        return text if urlsplit(text).scheme in WEB_SCHEMES else ""
    except ValueError:
        return ""


_PAGES = PageTemplates(
    "api.services.report",
    filters={
        "number": lambda value: "—" if value is None else f"{value:,}",
        "share": lambda value: "—" if value is None else f"{100 * value:.1f} %",
        "day": lambda seconds: (
            "—" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"
        ),
        "link": _link,
    },
    names={
        "messages": _MESSAGES,
        "to_gauges": figures.to_gauges,
        "draw_gauge": figures.draw_gauge,
    },
)
