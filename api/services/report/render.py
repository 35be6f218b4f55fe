"""The HTML report of a completed job; `render_report` is the only entry point.

The page is one file: style sheet inline (allowed by its hash), charts as inline SVG, no script. Its
policy blocks every request, so opening it contacts nobody. jinja2 escapes every text.
"""

from collections.abc import Sequence
from datetime import datetime

from api.services.evidence.report_evidence import ReportEvidence
from api.services.exports.table_view import WHOLE_TABLE, TableView
from api.services.exports.tables import TABLES
from api.services.report import figures, plots
from api.services.report.ground_truth import Judgement
from api.services.report.pages import open_pages, written_at
from pipelines.documents import messages
from pipelines.documents.column_messages import COLUMNS
from pipelines.documents.html_pages import plain_text
from pipelines.documents.messages import Message, reason_message, stop_message
from pipelines.documents.result_plots import build_plots
from pipelines.parameters.scan import (
    BY_NAME,
    PARAMETERS,
    SORT_LABELS,
    VIEW_PARAMETERS,
    ScanParameters,
)
from warehouse.exports.error_sheet import fill_error_sheet
from warehouse.records.values import Document, ReadOnlyDocument
from warehouse.records.videos import COUNTS

FURTHER_COLUMNS = ("create_time", "source_music_title", "music_created_at", "observed_at")
"""Columns of the ranking that a report has only if its view names them."""


def render_report(
    job: ReadOnlyDocument,
    *,
    judgement: Judgement | None = None,
    pairs: ReportEvidence | None = None,
    language: str = "en",
    ranking: ScanParameters | None = None,
    view: TableView = WHOLE_TABLE,
    confirmed: Sequence[ReadOnlyDocument] | None = None,
) -> str:
    """Render the report of a completed job as HTML text.

    Args:
        job: A completed job document with its `result`, as returned by the job API.
        judgement: Comparison with the ground truth, which only the sandbox has.
        pairs: Stored evidence of its compared pairs; None renders the result only.
        language: The language that the page shows first, `en` or `zh`; it holds both.
        ranking: The parameters with which the result is ranked; None: those of the job.
        view: Which of the ranked videos the page has, in which order, and its columns.
        confirmed: All confirmed videos, for the plots; None: the ranked ones.

    Raises:
        InvalidParameterError: The ranking has no column that the view names.
    """
    videos = view.rows(TABLES["videos"][0], job["result"]["aweme_list"])
    columns = {column.name for column in view.chosen(TABLES["videos"][0])}
    result = {**job["result"], "aweme_list": videos}
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

    values = dict(job.get("parameters") or {})
    if ranking is not None:
        values |= {name: getattr(ranking, name) for name in VIEW_PARAMETERS}
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
        is_demo_data=result["is_demo_data"],
        # Only the sandbox has a ground truth.
        judgement=judgement,
        pairs=pairs or ReportEvidence(),
        parameters=parameters,
        counts=(*COUNTS, "hot_score"),
        further=FURTHER_COLUMNS,
        shown_view=_view_sentence(values, view),
        # Further columns of the table are on the page if they are chosen.
        columns=columns - {*FURTHER_COLUMNS} if view.columns is None else columns,
        matched_pairs=list(matched_pairs.values()),
        plots=build_plots(
            job["result"]["aweme_list"] if confirmed is None else confirmed,
            result["account_summary"]["accounts"],
            confirmed_count=result["confirmed_count"],
            viral_threshold=values.get("viral_threshold", BY_NAME["viral_threshold"].default),
        ),
        # The page holds both languages; the reader switches between them.
        sheets=(fill_error_sheet(result), fill_error_sheet(result, language="zh")),
        written_at=written_at(),
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
    "column": COLUMNS.__getitem__,
    "stop": stop_message,
    "reason": reason_message,
    "variant": messages.variant_message,
    "relevance": messages.relevance_message,
    "observation": messages.observation_message,
    "relation": messages.relation_message,
    "shared_part": messages.shared_part_message,
    "evidence": messages.evidence_summary,
    "searched": messages.searched_message,
    "by_name": messages.BY_NAME,
    "recall_of": messages.RECALL_OF,
    "true_labels": messages.TRUE_LABELS,
}
"""What templates may use of `messages.py`, by short name."""


def _view_sentence(values: ReadOnlyDocument, view: TableView) -> Message:
    """Return the order, the threshold and the filters of the ranking."""
    equal = dict(view.equal)
    labels = SORT_LABELS.get(values.get("sort_by") or "hot_score")
    parts = [] if labels is None else [Message(f"order: {labels[0].lower()}", f"排序：{labels[1]}")]
    if view.order is not None:
        heading = COLUMNS.get(view.order.removeprefix("-"))
        name = Message(view.order, view.order) if heading is None else heading
        parts = [Message(f"order: {name.en.lower()}", f"排序：{name.zh}")]
    threshold = values.get("viral_threshold")
    if threshold is not None:
        only = values.get("viral_only")
        parts.append(
            Message(
                f"{'only viral videos, ' if only else 'viral '}from {threshold:,} likes",
                f"{'仅含爆款，' if only else '爆款'}点赞 ≥ {threshold:,}",
            )
        )
    if link := equal.get("link_type"):
        words = messages.link_message(link)
        parts.append(Message(f"only “{words.en}”", f"仅含“{words.zh}”"))
    if music_id := equal.get("source_music_id"):
        parts.append(Message(f"only music id {music_id}", f"仅含音乐 ID {music_id}"))
    if view.account is not None:
        account = plain_text(view.account)
        parts.append(Message(f"only accounts with “{account}”", f"仅含账号“{account}”"))
    english = "; ".join(part.en for part in parts)
    return Message(
        f"{english[:1].upper()}{english[1:]}.", f"{'；'.join(part.zh for part in parts)}。"
    )


def _cell(video: ReadOnlyDocument, name: str) -> str:
    """Return a further column of a video as text; a time is in UTC."""
    value = next(column.value(video) for column in TABLES["videos"][0] if column.name == name)
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M} UTC"
    return "—" if value is None else str(value)


def _parameter_text(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value) or "—"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "—" if value is None else str(value)


_PAGES = open_pages(
    {
        "messages": _MESSAGES,
        "cell": _cell,
        "to_gauges": figures.to_gauges,
        "draw_gauge": figures.draw_gauge,
        "draw_publication": plots.draw_publication,
        "draw_likes": plots.draw_likes,
        "draw_creators": plots.draw_creators,
        "draw_key": plots.draw_key,
    }
)
