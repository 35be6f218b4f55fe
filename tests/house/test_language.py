"""Names use the standard terms of the field, and each class name has one meaning."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.house.test_house_rules import PACKAGES, ROOT, parsed, sources

NOT_WRITTEN = {
    "arranging", "desk", "doors", "doorway", "ear", "household", "keeper", "leash",
    "ledger", "listens", "manners", "obey", "rim", "shelf", "sweep", "sweeping",
    "teller", "tidying",
    "upkeep", "wording",
}  # fmt: skip
"""Private words for things that have a standard term, as whole parts of an identifier."""
NOT_WRITTEN_IN = {
    "pipelines/watchlists": {"heard", "look", "looks", "said", "seen", "teller", "told"},
    "pipelines/reports": {"heard", "look", "looks", "said", "seen", "told"},
    "pipelines/orchestration/assets": {"heard", "look", "looks", "said", "told", "work", "works"},
    "pipelines/documents": {"heard", "look", "looks", "said", "seen", "told", "work", "works"},
    "warehouse/exports": {"heard", "look", "looks", "said", "seen", "told", "work", "works"},
}
"""More of them, for folders that are free of these; elsewhere stored names and fields have them."""
ALLOWED = {"look_up", "read_works", "read_creator_works", "reference_works"}
"""A resolver that is imported, what published notebooks call, and a field of the interface."""
MOST_FILES = 15
NOT_KEPT = {"vendor", "__pycache__", "data"}
"""Folders of others' code, of compiled code, and of the stores that a user's scans fill."""
PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


@cache
def identifiers(tree: ast.Module) -> frozenset[str]:
    """Every name that a module defines or uses."""
    return frozenset(_named(tree))


def _named(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        for field in ("id", "attr", "name", "arg"):
            found = getattr(node, field, None)
            if isinstance(found, str):
                yield found


@cache
def parts(name: str) -> set[str]:
    return {part.lower() for part in PARTS.findall(name)}


def replaced_words(name: str) -> set[str]:
    return parts(name) & NOT_WRITTEN


def test_no_identifier_has_a_private_word_for_a_standard_term() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources()
        for name in [*identifiers(parsed(path)), path.stem, path.parent.name]
        if replaced_words(name)
    }
    assert found == set()


def test_folders_that_are_free_of_a_private_word_stay_so() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for folder, words in NOT_WRITTEN_IN.items()
        for path in (ROOT / folder).rglob("*.py")
        for name in identifiers(parsed(path))
        if parts(name) & words and name not in ALLOWED
    }
    assert found == set()


def test_the_parts_of_a_name_are_told_apart() -> None:
    assert replaced_words("ScanDesk") == {"desk"}
    assert replaced_words("open_desk_of") == {"desk"}
    assert replaced_words("search_earlier") == set()


def test_no_class_name_has_two_meanings() -> None:
    places = defaultdict(list)
    for path in sources():
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_folder_has_more_files_than_one_can_take_in() -> None:
    crowded = {}
    for folder in (each for package in PACKAGES for each in (ROOT / package).rglob("*")):
        name = str(folder.relative_to(ROOT))
        if not folder.is_dir() or NOT_KEPT & set(folder.relative_to(ROOT).parts):
            continue
        files = [path for path in folder.iterdir() if path.is_file() and _is_kept(path)]
        if len(files) > MOST_FILES:
            crowded[name] = len(files)
    assert crowded == {}


def _is_kept(path: Path) -> bool:
    return path.suffix not in {".pyc", ".nbi", ".nbc"}


CHINESE_TEXTS = (
    "api/console/app/messages/*.js", "api/openapi/chinese_texts.py", "api/services/**/*.j2",
    "pipelines/catalog/report.py", "pipelines/documents/*messages.py",
    "pipelines/reports/texts/zh.toml", "pipelines/watchlists/templates/*.j2",
    "warehouse/exports/error_sheet/zh.toml",
)  # fmt: skip
HALF_WIDTH = re.compile("[\u4e00-\u9fff）][,:;!?](?! *[\\])}]|$)|[\u4e00-\u9fff] ?\\(")


def test_chinese_texts_have_full_width_punctuation() -> None:
    files = [path for pattern in CHINESE_TEXTS for path in ROOT.glob(pattern)]
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()[:120]}"
        for path in files
        for line in path.read_text().splitlines()
        if HALF_WIDTH.search(line)
    ]
    assert (len(files) > 20, found) == (True, [])
