"""The catalogue of reports, read from the notebook files without running them.

A notebook is the single source of its name, purpose and parameters.
"""

import ast
import io
import json
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from warehouse.records.errors import InvalidParameterError

NOTEBOOKS = Path(__file__).parents[2] / "notebooks" / "reports"
RUNTIME_PARAMETERS = frozenset({"home", "lake", "tables", "as_of", "language"})
"""Notebook parameters that the runner sets: where, when and in which language, not what."""
_TYPES: Mapping[str, type] = {"str": str, "int": int, "float": float, "bool": bool}
_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportParameter:
    """One parameter of a report, for example `top: int = 20  # rows on the page`."""

    name: str
    type: type
    default: object
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Notebook:
    """One report; `reads` lists the tables that it uses."""

    name: str
    path: Path
    title: str
    purpose: str
    parameters: tuple[ReportParameter, ...]
    reads: tuple[str, ...]


def read_catalogue() -> tuple[Notebook, ...]:
    """Return all reports sorted by name."""
    return tuple(read_notebook(path) for path in sorted(NOTEBOOKS.glob("*.ipynb")))


def read_notebook(path: Path) -> Notebook:
    """Read name, title, purpose and parameters of a report from its notebook."""
    document = json.loads(path.read_text(encoding="utf-8"))
    cells = document["cells"]
    # The first cell is a heading and a paragraph: title and purpose.
    heading, _, purpose = "".join(cells[0]["source"]).partition("\n")
    source = next(
        "".join(cell["source"])
        for cell in cells
        if "parameters" in cell["metadata"].get("tags", ())
    )
    # A parameter is a line `name: type = default  # meaning`, the format that papermill uses too.
    meanings = {
        token.start[0]: token.string.removeprefix("#").strip()
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    parameters = [
        ReportParameter(
            name=str(ast.unparse(node.target)),
            type=_TYPES[ast.unparse(node.annotation)],
            default=ast.literal_eval(node.value),
            meaning=meanings.get(node.lineno, ""),
        )
        for node in ast.parse(source).body
        if isinstance(node, ast.AnnAssign)
        and node.value is not None
        and ast.unparse(node.target) not in RUNTIME_PARAMETERS
    ]
    return Notebook(
        name=path.stem,
        path=path,
        title=heading.removeprefix("# ").strip(),
        purpose=" ".join(purpose.split()),
        parameters=tuple(parameters),
        reads=tuple(document["metadata"]["sametrack"]["reads"]),
    )


def find_report(name: str) -> Notebook:
    """Return the report of this name.

    Raises:
        InvalidParameterError: No report has this name. The error lists all names and suggests the
            nearest one.
    """
    reports = {report.name: report for report in read_catalogue()}
    if name in reports:
        return reports[name]
    raise InvalidParameterError(
        f"there is no report {name!r}{_nearest(name, reports)}",
        hint=f"reports: {', '.join(reports)}; or give the id of a completed job",
    )


def parse_parameters(report: Notebook, values: Mapping[str, str]) -> dict[str, object]:
    """Parse the values of parameters; the result has the same names.

    Raises:
        InvalidParameterError: A name is unknown, or a value has the wrong type.
    """
    parameters = {parameter.name: parameter for parameter in report.parameters}
    unknown = next((name for name in values if name not in parameters), None)
    if unknown is not None:
        listing = ", ".join(f"{entry.name} ({entry.type.__name__})" for entry in report.parameters)
        raise InvalidParameterError(
            f"the report {report.name} has no parameter {unknown!r}{_nearest(unknown, parameters)}",
            hint=f"parameters: {listing or 'none'}",
        )
    parsed: dict[str, object] = {}
    for name, text in values.items():
        parameter = parameters[name]
        try:
            is_boolean = parameter.type is bool  # `bool("no")` would be True
            parsed[name] = _BOOLEANS[text.strip().lower()] if is_boolean else parameter.type(text)
        except (ValueError, KeyError) as error:
            raise InvalidParameterError(
                f"{parameter.name}: {text!r} is not a valid {parameter.type.__name__}",
                hint=parameter.meaning,
            ) from error
    return parsed


def _nearest(name: str, names: Mapping[str, object]) -> str:
    matches = get_close_matches(name, names, n=1)
    return f"; did you mean {matches[0]!r}?" if matches else ""
