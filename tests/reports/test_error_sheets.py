"""The error sheet of a scan: what is answered, from what, and what is left to the researcher."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.services.report.render import render_report
from tests.stored_results import result
from warehouse.exports import error_sheet
from warehouse.exports.error_sheet import SheetLanguage, fill_error_sheet, to_sheet_table

FOLDER = Path(error_sheet.__file__).parent
ENOUGH = 0.8


def scanned(**changed: Any) -> dict[str, Any]:
    found: dict[str, Any] = {**result(40), **changed}
    return found


def answers(found: dict[str, Any], language: SheetLanguage = "en") -> dict[str, str | None]:
    return {one.number: one.answer for one in fill_error_sheet(found, language=language).answers}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_most_questions_are_answered_for_a_completed_scan(language: SheetLanguage) -> None:
    sheet = fill_error_sheet(scanned(), language=language)
    assert sheet.answered_count / len(sheet.answers) >= ENOUGH
    assert str(sheet.answered_count) in sheet.note


def test_error_sheet_leaves_questions_for_the_researcher_open() -> None:
    found = answers(scanned())
    left = {number for number, answer in found.items() if answer is None}
    assert left == {"1.1", "1.5", "1.8", "3.3", "3.6", "5.7"}


def test_answers_state_the_figures_of_the_coverage_report() -> None:
    found = answers(scanned())
    assert "40 confirmed videos" in str(found["1.4"])
    assert "music_list 40 (exhausted)" in str(found["3.4"])
    assert "5 confirmed, 7 estimated, 95 % interval 5 to 19" in str(found["4.2"])
    assert "Of 412 videos seen and not chosen as candidates, at most 21.8 %" in str(found["4.2"])
    assert "(95 % confidence, 19 compared at random)" in str(found["4.2"])
    assert "could not be estimated (lists_not_read)" in str(found["2.4"])


def test_a_sentence_whose_facts_are_unknown_is_left_out() -> None:
    document = scanned()
    plain = {name: document["coverage"][name] for name in ("sources", "not_reached")}
    found = answers({**document, "coverage": plain, "discovery": None})
    assert found["4.2"] == "1 planned reads were not completed."
    assert found["1.7"] is None
    assert "95 %" not in " ".join(filter(None, found.values()))


def test_demo_data_are_marked() -> None:
    assert "demo data" in str(answers(scanned())["3.1"])
    assert "demo data" not in str(answers(scanned(is_demo_data=False))["3.1"])


def test_the_table_of_a_sheet_has_every_question_and_no_empty_cell() -> None:
    sheet = fill_error_sheet(scanned())
    table = to_sheet_table(sheet)
    assert [row[0] for row in table.rows] == [one.number for one in sheet.answers]
    assert all(all(row) for row in table.rows)
    assert table.rows[0][-1] == sheet.unanswered


def test_both_languages_have_the_same_questions_and_facts() -> None:
    read = [tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8")) for name in ("en", "zh")]
    facts = [
        {
            number: [sorted(re.findall(r"{(\w+)}", one)) for one in entry.get("answers", ())]
            for entries in texts["questions"].values()
            for number, entry in entries.items()
        }
        for texts in read
    ]
    assert facts[0] == facts[1]
    assert [list(texts["sections"]) for texts in read] == [list(read[0]["questions"])] * 2


def test_a_report_shows_the_sheet_in_both_languages(
    build_job: Callable[..., dict[str, Any]],
) -> None:
    page = render_report(build_job())
    assert "How many rows are there, by category?" in page
    assert "各类别各有多少行？" in page
    assert fill_error_sheet(scanned()).unanswered in page
