"""Every notebook of `notebooks/explore` has the same form, so that one learns it once."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "notebooks" / "explore").glob("*.ipynb"))
MOST_LINES = 25  # of one cell
LIBRARIES = {
    "warehouse", "altair", "pandas", "numpy", "librosa", "pathlib", "json", "warnings",
}  # fmt: skip
"""What an analyst has; nothing of ours but the warehouse, so no work is hidden."""
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def cells(path: Path, kind: str = "code") -> list[Any]:
    found: list[Any] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [each for each in found if each["cell_type"] == kind]


def code(path: Path) -> str:
    return "\n".join("".join(cell["source"]) for cell in cells(path))


def test_explore_notebooks_include_first_steps() -> None:
    assert "first_steps" in {path.stem for path in FILES}


@every_file
def test_explore_notebook_has_question_answer_and_next_steps(path: Path) -> None:
    texts = ["".join(cell["source"]) for cell in cells(path, "markdown")]
    question, _, learned = texts[0].partition("\n")
    assert re.fullmatch(r"# .+\?", question)
    assert len(re.findall(r"\.(\s|$)", learned)) >= 2  # what one learns, in two sentences
    assert any(text.startswith("## Answer") for text in texts)
    assert texts[-1].startswith("## Now try\n\n- ")
    assert "alt.Chart(" in code(path)
    assert "print(" in code(path)


@every_file
def test_explore_notebook_shows_its_sql_and_pandas(path: Path) -> None:
    source = code(path)
    assert "open_warehouse(" in source
    assert "wh.sql(" in source
    assert ".df()" in source
    imported = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [each.name for each in node.names]
        )
    }
    assert imported <= LIBRARIES


@every_file
def test_parameters_of_an_explore_notebook_have_types_and_comments(path: Path) -> None:
    tagged = [cell for cell in cells(path) if "parameters" in cell["metadata"].get("tags", ())]
    assert len(tagged) == 1
    for line in tagged[0]["source"]:
        assert re.match(r"\w+: (str|int|float|bool) = .+  # .+", line)


@every_file
def test_ids_may_be_typed_as_numbers(path: Path) -> None:
    """Papermill reads `-p music_id 734…` as a number; ids are text in the tables."""
    source = code(path)
    for name in re.findall(r"^(music_id|tracks): str", source, re.MULTILINE):
        assert f"str({name})" in source


@every_file
def test_times_are_drawn_in_utc_wherever_the_machine_is(path: Path) -> None:
    axes = re.findall(r'alt\.X\("\w+:T"\).*', code(path))
    assert [axis for axis in axes if '.scale(type="utc")' not in axis] == []
    assert re.findall(r'"(?:year|month|day|hours)\w*\(', code(path)) == []


@every_file
def test_outputs_are_cleared_and_cells_are_small(path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["metadata"]["kernelspec"]["name"] == "python3"
    for cell in cells(path):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
        assert len(cell["source"]) <= MOST_LINES
