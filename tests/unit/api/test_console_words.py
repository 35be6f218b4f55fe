"""Both languages of the console have the same words, and every word that is used exists."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from api.page_files import FOLDER, page_names
from pipelines.domain.chart_lead import Direction, LeadReason
from pipelines.domain.chart_links import Confidence, Reason, Relation
from pipelines.domain.jobs import STAGES, JobStatus
from pipelines.domain.parameters import PARAMETERS, SORT_ORDERS
from pipelines.domain.series import MEASURES

APP = FOLDER / "app"
ENTRY = re.compile(r"^ {2}(\".+?\"): (\".*\"),$", re.MULTILINE)
USED = re.compile(r"\bt\((?:[^()`\"]*\? )?\"([a-z_.]+)\"(?:[^()`\"]*: \"([a-z_.]+)\")?")
HOLE = re.compile(r"\{\w+\}")


def words(language: str) -> dict[str, str]:
    text = (APP / "words" / f"{language}.js").read_text(encoding="utf-8")
    return {json.loads(key): json.loads(value) for key, value in ENTRY.findall(text)}


def test_both_languages_say_the_same_things_with_the_same_holes() -> None:
    english, chinese = words("en"), words("zh")
    assert len(english) > 400
    assert english.keys() == chinese.keys()
    assert [
        key
        for key in english
        if sorted(HOLE.findall(english[key])) != sorted(HOLE.findall(chinese[key]))
    ] == []


def test_every_word_that_is_asked_for_exists() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in APP.rglob("*.js"))
    used = {key for found in USED.findall(text) for key in found if key}
    assert len(used) > 250
    assert used - words("en").keys() == set()


def test_what_the_service_may_say_has_its_words() -> None:
    wanted = {
        *(f"stage.{name}" for name in STAGES),
        *(f"status.{name}" for name in get_args(JobStatus)),
        *(f"param.{parameter.name}" for parameter in PARAMETERS),
        *(f"sort.{name}" for name in SORT_ORDERS),
        *(f"stat.{name}" for names in MEASURES.values() for name in names),
        *(f"beside.relation.{name}" for name in get_args(Relation) if name != "none"),
        *(f"beside.confidence.{name}" for name in get_args(Confidence)),
        *(f"beside.reason.{name}" for name in get_args(Reason) if name != "no_longer_linked"),
        *(f"beside.lead_reason.{name}" for name in get_args(LeadReason)),
        *(f"beside.direction.{name}" for name in get_args(Direction)),
    }
    assert wanted - words("en").keys() == set()


@pytest.mark.parametrize("name", [name for name in page_names() if name.startswith("app/")])
def test_modules_set_no_markup_evaluate_nothing_and_stay_small(name: str) -> None:
    text = Path(FOLDER / name).read_text(encoding="utf-8")
    forbidden = (
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval(",
        "Function(",
        "dangerously",
    )
    assert [word for word in forbidden if word in text] == []
    assert text.startswith("//"), "no charter"
    assert name.startswith("app/words/") or len(text.splitlines()) <= 300
