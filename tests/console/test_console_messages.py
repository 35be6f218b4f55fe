"""Every message of the console has both languages, and every message that is used exists."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from api.responses.errors import ERROR_SPECS
from api.routes.extensions.pages import CONSOLE_ROOT as FOLDER
from api.services.reads.documents import INCOMPLETE, NO_ISSUE
from pipelines.catalog.rules import ProblemReason
from pipelines.charts.rules.platform_comparison import (
    Confidence,
    Direction,
    LeadReason,
    Reason,
    Relation,
)
from pipelines.documents.messages import AUDIO_CHECKS
from pipelines.documents.result_types import AudioCheckKind, VariantForm
from pipelines.parameters.scan import PARAMETERS
from pipelines.reads.series import MEASURES
from warehouse.records.jobs import STAGES, JobStatus

APP = FOLDER / "app"
AREAS = sorted((APP / "messages").iterdir())
TEXT = r"\"(?:[^\"\\]|\\.)*\""
TEXTS = rf"{TEXT}(?:\s*\+\s*{TEXT})*"
"""A text, or several joined by `+`."""
ENTRY = re.compile(rf"^ {{2}}({TEXT}): \[\s*({TEXTS}),\s*({TEXTS}),?\s*\],$", re.MULTILINE)
KEY = re.compile(r"^ {2}\S", re.MULTILINE)
USED = re.compile(r"\bt\((?:[^()`\"]*\? )?\"([a-z_.]+)\"(?:[^()`\"]*: \"([a-z_.]+)\")?")
NAMED = re.compile(r'"([a-z_]+(?:\.[a-z_0-9]+)+)"')
BUILT = re.compile(r"`([a-z_]+)\.[a-z_]*\$\{")
TEMPLATE = re.compile(r"`([a-z_]+\.[^`\s$]*\$\{[^`]*)`")
INSERTED = re.compile(r"\$\{[^}]*\}")
IMPORTED = re.compile(r'^import "([./\w]+)";$', re.MULTILINE)
PLACEHOLDER = re.compile(r"\{(\w+)[|}]")


def messages_of(area: Path) -> dict[str, tuple[str, str]]:
    text = area.read_text(encoding="utf-8")
    found = ENTRY.findall(text)
    begun = [line for line in text.splitlines() if KEY.match(line) and line != "  ],"]
    assert len(found) == len(begun), "an entry that is not a key with two texts"
    return {json.loads(key): (text_of(en), text_of(zh)) for key, en, zh in found}


def text_of(literals: str) -> str:
    return "".join(json.loads(literal) for literal in re.findall(TEXT, literals))


def messages() -> dict[str, tuple[str, str]]:
    return {key: texts for area in AREAS for key, texts in messages_of(area).items()}


def texts_of_errors() -> set[str]:
    return {f"{area}.{kind}" for area in ("fault", "fix") for kind in (*ERROR_SPECS, "unknown")}


def test_every_message_has_both_languages_with_the_same_placeholders() -> None:
    found = messages()
    assert len(found) > 400
    assert [
        key
        for key, (english, chinese) in found.items()
        if not (english and chinese)
        or sorted(PLACEHOLDER.findall(english)) != sorted(PLACEHOLDER.findall(chinese))
    ] == []


def test_a_key_says_which_file_it_stands_in() -> None:
    home = [(key.partition(".")[0], area.stem) for area in AREAS for key in messages_of(area)]
    assert len(dict(home)) == len(set(home))
    assert len(home) == len(messages())


def test_a_module_imports_the_messages_that_it_shows() -> None:
    """The first page loads the messages of its own modules alone."""
    home = {key.partition(".")[0]: area for area in AREAS for key in messages_of(area)}
    known = messages()
    missing = set()
    for path in (one for one in APP.rglob("*.js") if one.parent.name != "messages"):
        text = path.read_text(encoding="utf-8")
        named = {key for key in NAMED.findall(text) if key in known}
        areas = {key.partition(".")[0] for key in named} | (set(BUILT.findall(text)) & set(home))
        imported = {(path.parent / one).resolve() for one in IMPORTED.findall(text)}
        missing |= {(path.name, area) for area in areas if home[area].resolve() not in imported}
    assert missing == set()


def test_the_messages_of_the_first_page_are_preloaded() -> None:
    page = (FOLDER / "index.html").read_text(encoding="utf-8")
    preloaded = re.findall(r'rel="modulepreload" href="/console/app/messages/(\w+)\.js"', page)
    assert sorted(preloaded) == ["errors", "page", "scan"]


def test_every_message_that_is_used_exists() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in APP.rglob("*.js"))
    used = {key for found in USED.findall(text) for key in found if key}
    assert len(used) > 250
    assert used - messages().keys() == set()


def test_every_message_is_used() -> None:
    """By its key, or by a key that is built from a prefix, as in `status.${name}`."""
    scripts = [path for path in APP.rglob("*.js") if path.parent.name != "messages"]
    text = "\n".join(path.read_text(encoding="utf-8") for path in scripts)
    named = set(NAMED.findall(text))
    built = [
        re.compile(r"\w+".join(re.escape(part) for part in INSERTED.split(template)))
        for template in TEMPLATE.findall(text)
    ]
    unused = {
        key
        for key in messages().keys() - named - texts_of_errors()
        if not any(template.fullmatch(key) for template in built)
    }
    assert unused == set()


def test_every_view_and_group_of_the_menu_has_a_label() -> None:
    main = (APP / "main.js").read_text(encoding="utf-8")
    menu = main.partition("const MENU = {")[2].partition("\n};")[0]
    entries = re.findall(r"^ {4}(\w+): \{ icon", menu, re.MULTILINE)
    views = re.findall(r'"(\w+)"', "".join(re.findall(r"views: \[(.*?)\]", menu)))
    groups = re.findall(r"^ {2}(\w+): \{", menu, re.MULTILINE)
    assert (len(views) > 10, len(entries) > 7, groups) == (True, True, ["main", "admin"])
    wanted = {*(f"nav.{name}" for name in (*entries, *views)), "nav.group_admin"}
    assert wanted - messages().keys() == set()


def test_every_error_of_the_service_has_a_text_and_what_to_do() -> None:
    assert texts_of_errors() - messages().keys() == set()


def test_every_term_of_the_service_has_a_message() -> None:
    wanted = {
        *(f"stage.{name}" for name in STAGES),
        *(f"status.{name}" for name in get_args(JobStatus)),
        *(f"param.{parameter.name}" for parameter in PARAMETERS),
        *(f"stat.{name}" for names in MEASURES.values() for name in names),
        *(f"song.relation.{name}" for name in get_args(Relation) if name != "none"),
        *(f"song.confidence.{name}" for name in get_args(Confidence)),
        *(f"song.reason.{name}" for name in get_args(Reason) if name != "no_longer_linked"),
        *(f"song.lead_reason.{name}" for name in get_args(LeadReason)),
        *(f"song.{name}" for name in get_args(Direction)),
        *(f"chart.reason.{name}" for name in (NO_ISSUE, INCOMPLETE)),
        *(f"catalog.problem.{name}" for name in get_args(ProblemReason)),
        *(f"form.{name}" for name in get_args(VariantForm)),
    }
    assert wanted - messages().keys() == set()


def test_every_check_of_a_sound_has_its_words() -> None:
    assert set(AUDIO_CHECKS) == set(get_args(AudioCheckKind))


@pytest.mark.parametrize(
    "name", sorted(path.relative_to(FOLDER).as_posix() for path in APP.rglob("*.js"))
)
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
    assert len(text.splitlines()) <= 800
