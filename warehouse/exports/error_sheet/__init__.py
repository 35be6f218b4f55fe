"""The error sheet of a scan: what its data can and cannot say, answered from its result.

The questions follow the Total Error Sheets for Datasets (TES-D): L. Fröhling, I. Sen, F. Soldner,
L. Steinbrinker, M. Zens and K. Weller, arXiv:2306.14219 (2023). The texts are in one file per
language. A sentence whose facts are unknown is left out; a question without any sentence is left to
the researcher. Pure, apart from reading the texts.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, Literal

from warehouse.exports.export_table import ExportColumn, ExportTable
from warehouse.records.values import ReadOnlyDocument

SHEET_SOURCE = (
    "Questions after the Total Error Sheets for Datasets (TES-D; Fröhling et al., 2023), in our "
    "words, answered from the newest scan of each track."
)
SheetLanguage = Literal["en", "zh"]
_DEMO = {
    "en": "This is generated demo data: nothing in it is real.",
    "zh": "这是生成的演示数据，并非真实内容。",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetAnswer:
    """A question of the sheet; `answer` is None where it is left to the researcher."""

    number: str
    section: str
    question: str
    answer: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSheet:
    """A filled sheet in one language, with the texts to show it.

    `answered_count`: questions that the scan answers.
    """

    answers: tuple[SheetAnswer, ...]
    answered_count: int
    note: str
    unanswered: str
    columns: Mapping[str, str]


def fill_error_sheet(result: ReadOnlyDocument, *, language: SheetLanguage = "en") -> ErrorSheet:
    """Answer the questions from the result of a scan, as it is stored or as the API returns it."""
    texts, facts = _texts(language), _facts(result)
    if result["is_demo_data"]:
        facts["demo"] = _DEMO[language]
    answers = []
    for section, entries in texts["questions"].items():
        for number, entry in entries.items():
            # A sentence is used if the result has a value for each of its fields.
            sentences = [
                sentence.format_map(facts)
                for sentence in entry.get("answers", ())
                if {name for _, name, _, _ in Formatter().parse(sentence) if name} <= facts.keys()
            ]
            answers.append(
                SheetAnswer(
                    number=number,
                    section=texts["sections"][section],
                    question=entry["question"],
                    answer=" ".join(sentences) or None,
                )
            )
    answered_count = sum(answer.answer is not None for answer in answers)
    return ErrorSheet(
        answers=tuple(answers),
        answered_count=answered_count,
        note=texts["note"].format(answered=answered_count, total=len(answers)),
        unanswered=texts["unanswered"],
        columns=texts["columns"],
    )


def is_scan_result(document: ReadOnlyDocument) -> bool:
    """Return whether a document is the result of a scan, from which a sheet can be filled.

    A search by name confirms nothing, so the sheet's sentences do not hold of it.
    """
    # Results of discoveries have no candidate pool.
    is_scan = "candidate_pool_size" in document and "coverage" in document
    return is_scan and document.get("keyword") is None


def to_sheet_table(sheet: ErrorSheet, *, has_headings: bool = False) -> ExportTable:
    """Return the sheet as a table for exports, with headings in words if they are asked for."""
    columns = tuple(
        ExportColumn(name, "text", words if has_headings else "")
        for name, words in sheet.columns.items()
    )
    rows = tuple(
        (answer.number, answer.section, answer.question, answer.answer or sheet.unanswered)
        for answer in sheet.answers
    )
    return ExportTable("error_sheet", columns, rows)


def _facts(result: ReadOnlyDocument) -> dict[str, str]:
    """Return the known facts of a result as text, by the name of the field in the sentences."""
    coverage, music = result["coverage"], result.get("music") or {}
    estimates, discovery = coverage.get("estimates"), result.get("discovery") or {}
    history = discovery.get("confirmed_graph_observation_history") or {}
    rounds = discovery.get("rounds") or ()
    lists = coverage.get("list_genuine_share") or ()
    sources = coverage["sources"]
    facts = {
        "track": music.get("title") or result.get("keyword") or result.get("music_id"),
        "music_id": result.get("music_id"),
        "created_at": result["created_at"],
        "provider": result["data_provider"],
        "algorithm": result["algorithm"],
        "confirmed_count": result["confirmed_count"],
        "candidate_count": result["candidate_pool_size"],
        "rejected_or_open_count": max(0, result["candidate_pool_size"] - result["confirmed_count"]),
        "account_count": result["unique_account_count"],
        "variant_count": (result.get("variants") or {}).get("count"),
        "run_count": history.get("run_count"),
        "cumulative_count": history.get("cumulative_confirmed_count"),
        "new_count": history.get("new_confirmed_count"),
        "request_count": sum(source["requests"] for source in sources),
        "sources": ", ".join(
            f"{source['surface']} {source['items']} ({source['stop_reason']})" for source in sources
        ),
        "not_reached_count": len(coverage["not_reached"]),
        # A sentence with 0 rounds or 0 rows would mislead: without them it is left out.
        "round_count": len(rounds) or None,
        "verified_count": sum(len(each["music_ids"]) for each in rounds),
        "list_rows": sum(music_list["rows"] for music_list in lists) or None,
        "list_own_rows": sum(music_list["own_rows"] for music_list in lists),
        **(_estimate("ids", estimates["music_ids"]) if estimates else {}),
        **(_estimate("videos", estimates["videos"]) if estimates else {}),
        **_audit(coverage.get("audit") or {}),
    }
    return {
        name: f"{value:,}" if isinstance(value, int) else str(value)
        for name, value in facts.items()
        if value not in {None, ""}
    }


def _estimate(unit: str, estimate: ReadOnlyDocument) -> dict[str, object]:
    if estimate["reason"] is not None:
        return {f"{unit}_reason": estimate["reason"]}
    lower, upper = estimate["interval_95"]
    return {
        f"{unit}_observed": estimate["observed"],
        f"{unit}_point": round(estimate["point"]),
        f"{unit}_lower": lower,
        f"{unit}_upper": upper,
    }


def _audit(audit: ReadOnlyDocument) -> dict[str, object]:
    if not audit:
        return {}
    about = {"audit_pool": audit["pool"]}
    if audit["reason"] is not None:
        return {**about, "audit_reason": audit["reason"]}
    return {
        **about,
        "audit_share": f"{100 * audit['upper_bound_share']:.1f}",
        "audit_confidence": round(100 * audit["confidence"]),
        "audit_compared": audit["compared"],
        "audit_found": audit["found"],
    }


@cache
def _texts(language: SheetLanguage) -> Mapping[str, Any]:
    file = Path(__file__).with_name(f"{language}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))
