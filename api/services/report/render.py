"""The HTML report of a completed job; `render_report` is the only entry point.

The page is one file: style sheet inline (allowed by its hash), charts as inline SVG, no script. Its
policy blocks every request, so opening it contacts nobody. jinja2 escapes every text.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import accumulate
from urllib.parse import urlsplit

from api.services.evidence.report_evidence import ReportEvidence
from api.services.report import figures
from api.services.report.ground_truth import Judgement
from pipelines.documents import messages
from pipelines.documents.coverage_messages import (
    audit_sentences,
    coverage_estimate_sentences,
    source_sentence,
)
from pipelines.documents.html_pages import PageTemplates
from pipelines.documents.messages import Message
from pipelines.documents.stop_reasons import stop_message
from pipelines.documents.verdict_reasons import reason_message
from pipelines.parameters.scan import PARAMETERS
from warehouse.exports.error_sheet import fill_error_sheet
from warehouse.records.values import Document, ReadOnlyDocument

LEAST_VIDEOS = 3
"""Of fewer videos nothing can be said about how the hot score is spread over them."""
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
    return _PAGES.render(
        "report.html.j2",
        style="report.css",
        running=(_heading(result), "Sametrack"),
        language=language,
        job=job,
        result=result,
        heading=_heading(result),
        judgement=judgement,
        pairs=pairs or ReportEvidence(),
        parameters=_parameters(job.get("parameters") or {}),
        heard_pairs=_matched_pairs(result["aweme_list"]),
        plot=figures.draw_engagement(result["aweme_list"]),
        engagement=_engagement_message(result["aweme_list"]),
        sheets=(fill_error_sheet(result), fill_error_sheet(result, language="zh")),
        written_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )  # fmt: skip


_MESSAGES = {
    "source": source_sentence,
    "decisions": messages.decision_sentences,
    "not_reached": messages.not_reached_sentences,
    "estimates": coverage_estimate_sentences,
    "audit": audit_sentences,
    "genuine": messages.genuine_sentences,
    "link": messages.link_message,
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


def _heading(result: ReadOnlyDocument) -> str:
    """Return the track's title, its id if it has none, or the searched name."""
    music = result["music"] or {}
    return str(result["keyword"] or music.get("title") or result["music_id"])


def _matched_pairs(videos: Sequence[ReadOnlyDocument]) -> list[Document]:
    """Return one entry per compared pair with the ranked videos that depend on it."""
    pairs: dict[str, Document] = {}
    for video in videos:
        evidence = video.get("evidence")
        if evidence:
            name = evidence.get("comparison_id") or video["aweme_id"]
            pair = pairs.setdefault(name, {"evidence": evidence, "videos": []})
            pair["videos"].append(video)
    return list(pairs.values())


def _engagement_message(videos: Sequence[ReadOnlyDocument]) -> Message:
    """Say how few of the ranked videos hold half of the known hot score; else what is drawn."""
    scores = sorted((one["hot_score"] for one in videos if one["hot_score"]), reverse=True)
    if len(scores) < LEAST_VIDEOS:
        return Message("Hot score by rank", "各名次作品的热度")
    held = list(accumulate(scores))
    count = next(at for at, sum_ in enumerate(held, start=1) if 2 * sum_ >= held[-1])
    share = min(99, round(100 * held[count - 1] / held[-1]))
    videos_en = "video holds" if count == 1 else "videos hold"
    return Message(
        f"{count:,} of {len(scores):,} ranked {videos_en} {share} % of the hot score",
        f"{len(scores):,} 个上榜作品中，{count:,} 个占总热度的 {share} %",
    )


def _parameters(given: ReadOnlyDocument) -> list[Document]:
    return [
        {
            "name": parameter.name,
            "value": _value(given[parameter.name]),
            "meaning": parameter.meaning,
            "meaning_zh": parameter.meaning_zh,
        }
        for parameter in PARAMETERS
        if parameter.name in given
    ]


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value) or "—"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "—" if value is None else str(value)


def _number(value: float | None) -> str:
    return "—" if value is None else f"{value:,}"


def _share(value: float | None) -> str:
    return "—" if value is None else f"{100 * value:.1f} %"


def _day(seconds: int | None) -> str:
    return "—" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def _link(address: object) -> str:
    """Return a web address, or "" for anything else, so that a `javascript:` link never appears."""
    text = str(address or "")
    try:
        return text if urlsplit(text).scheme in WEB_SCHEMES else ""
    except ValueError:
        return ""


_PAGES = PageTemplates(
    "api.services.report",
    filters={"number": _number, "share": _share, "day": _day, "link": _link},
    names={
        "messages": _MESSAGES,
        "to_gauges": figures.to_gauges,
        "draw_gauge": figures.draw_gauge,
    },
)
