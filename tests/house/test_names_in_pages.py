"""Files, make targets, modules and settings that pages and docstrings name exist today.

A page names a file by its path from the root, so that a reader finds it without a search. Whether
commands of the pages run is tested in `tests/house/test_page_examples.py`.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain

import pytest

from tests.house.test_house_rules import PACKAGES, ROOT, ours

FOLDERS = (*PACKAGES, "docs", "notebooks", "tests")
SOURCES = {".py", ".js"}
_CODE = re.compile(r"`([^`\s]+)`")
_SOURCE_FILE = re.compile(r"[\w./-]+\.(?:py|js)")
_NAME_IN_FILE = re.compile(r"`(\w+)` in `([\w./-]+\.(?:py|js))`")
_TARGET = re.compile(r"(?:`|^)make ([a-z][a-z0-9-]*)", re.MULTILINE)
_MODULE = re.compile(rf"python -m ((?:{'|'.join(FOLDERS)})[\w.]*)")
_SETTING = re.compile(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`")


@cache
def tracked() -> frozenset[str]:
    """Return the files of the repository and their folders, as paths from its root."""
    files = [path.relative_to(ROOT) for path in ours()]
    return frozenset(str(name) for path in files for name in (path, *path.parents))


@cache
def code() -> dict[str, str]:
    """Return the text of every module, without libraries of others."""
    found = [path for path in ours() if path.suffix in SOURCES and "vendor" not in path.parts]
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in found}


def is_there(path: str) -> bool:
    """Tell whether a path, or any file of a pattern with a star, is in the repository."""
    return any(ROOT.glob(path)) if "*" in path else path.rstrip("/") in tracked()


def missing(text: str) -> Iterator[str]:
    """Yield what a page names and the repository lacks."""
    for name in _CODE.findall(text):
        is_path = name.startswith(tuple(f"{folder}/" for folder in FOLDERS))
        is_source = _SOURCE_FILE.fullmatch(name) is not None and name != "__init__.py"
        if (is_path or is_source) and not is_there(name):
            yield name
    for name, path in _NAME_IN_FILE.findall(text):
        if path in code() and not re.search(rf"\b{name}\b", code()[path]):
            yield f"{name} in {path}"
    yield from (f"make {name}" for name in _TARGET.findall(text) if name not in _targets())
    for name in _MODULE.findall(text):
        path = name.replace(".", "/")
        if not {f"{path}.py", f"{path}/__main__.py"} & tracked():
            yield f"python -m {name}"
    yield from (name for name in _SETTING.findall(text) if not _is_known(name))


@cache
def _targets() -> frozenset[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return frozenset(re.findall(r"^([a-z][a-z0-9-]*):", makefile, re.MULTILINE))


def _is_known(name: str) -> bool:
    word = re.compile(rf"\b{name}\b")
    settings = (ROOT / ".env.example").read_text(encoding="utf-8")
    return any(word.search(text) for text in chain([settings], code().values()))


def test_make_help_lists_every_target_that_says_what_it_does() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    reported = set(re.findall(r"^([\w-]+):.*## ", makefile, re.MULTILINE))
    (pattern,) = re.findall(r"grep -hE '(\^\S+?:)\.\*##'", makefile)
    assert {name for name in reported if re.match(pattern, f"{name}:")} == reported


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs"])
def test_files_targets_and_settings_named_in_pages_exist(page: str) -> None:
    place = ROOT / page
    pages = sorted(place.glob("*.md")) if place.is_dir() else [place]
    wrong = [f"{one.name}: {name}" for one in pages for name in missing(one.read_text())]
    assert wrong == []


@pytest.mark.parametrize(
    "text",
    [
        "`warehouse/nothing.py`", "`pipelines/no_folder/`", "`docs/*.nothing`", "`ranking.py`",
        "`no_such_score` in `pipelines/scan/rules/results.py`", "`make nothing`",
        "`python -m tests.nothing`", "`NO_SUCH" + "_SETTING`",
    ],
)  # fmt: skip
def test_missing_file_target_or_setting_in_a_page_is_reported(text: str) -> None:
    assert len(list(missing(text))) == 1


def test_a_module_named_in_a_docstring_or_comment_exists() -> None:
    made = {"answers.py"}  # by `python -m api.generate.client`
    ends = {name.rsplit("/", 1)[-1] for name in tracked()} | made
    wrong = [
        f"{path}: {name}"
        for path, text in code().items()
        for name in _CODE.findall(text)
        if _SOURCE_FILE.fullmatch(name)
        and name.rsplit("/", 1)[-1] not in ends
        and "tests/house" not in path
    ]
    assert wrong == []
