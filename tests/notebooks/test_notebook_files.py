"""What holds of every notebook as a file."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.reports.catalogue import NOTEBOOKS, RUNTIME_PARAMETERS, read_catalogue
from warehouse.tables import BY_NAME

pytestmark = pytest.mark.full

FILES = sorted(NOTEBOOKS.glob("*.ipynb"))
ALLOWED = ("warehouse", "pipelines.reports.figures")
MOST_LINES = 45  # of one cell: a query stands in one


def cells(path: Path) -> list[Any]:
    found: list[Any] = json.loads(path.read_text())["cells"]
    return [cell for cell in found if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_outputs_are_stripped_and_cells_are_small(path: Path) -> None:
    for cell in cells(path):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
        assert len(cell["source"]) <= MOST_LINES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_notebook_imports_only_permitted_modules(path: Path) -> None:
    tree = ast.parse("\n".join("".join(cell["source"]) for cell in cells(path)))
    names = [
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [one.name for one in node.names]
        )
    ]
    assert names
    assert [name for name in names if not name.startswith(ALLOWED)] == []


@pytest.mark.parametrize("report", read_catalogue(), ids=lambda report: report.name)
def test_report_notebook_describes_purpose_parameters_and_tables(report: Any) -> None:
    assert report.title
    assert report.purpose.endswith(".")
    assert all(one.meaning for one in report.parameters)
    assert [name for name in report.reads if name not in BY_NAME] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_notebook_can_be_told_where_and_when(path: Path) -> None:
    source = next(
        "".join(cell["source"])
        for cell in cells(path)
        if "parameters" in cell["metadata"].get("tags", ())
    )
    names = {
        ast.unparse(node.target)
        for node in ast.parse(source).body
        if isinstance(node, ast.AnnAssign)
    }
    assert names >= RUNTIME_PARAMETERS
