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
    """One parameter of a report."""

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
    return tuple(_read(path) for path in sorted(NOTEBOOKS.glob("*.ipynb")))


def find_report(name: str) -> Notebook:
    """Return the report of this name.

    Raises:
        InvalidParameterError: There is none; the error lists all names and suggests the nearest.
    """
    known = {one.name: one for one in read_catalogue()}
    if name in known:
        return known[name]
    raise InvalidParameterError(
        f"there is no report {name!r}{_nearest(name, known)}",
        hint=f"reports: {', '.join(known)}; or give the id of a completed job",
    )


def parse_parameters(report: Notebook, given: Mapping[str, str]) -> dict[str, object]:
    """Parse the given parameters; parameters that are not given are omitted.

    Raises:
        InvalidParameterError: A name is unknown, or a value has the wrong type.
    """
    known = {one.name: one for one in report.parameters}
    for name in given:
        if name not in known:
            listing = ", ".join(f"{one.name} ({one.type.__name__})" for one in report.parameters)
            raise InvalidParameterError(
                f"the report {report.name} has no parameter {name!r}{_nearest(name, known)}",
                hint=f"parameters: {listing or 'none'}",
            )
    return {name: _parse(known[name], text) for name, text in given.items()}


def _parse(parameter: ReportParameter, text: str) -> object:
    try:
        if parameter.type is bool:
            return _BOOLEANS[text.strip().lower()]
        return parameter.type(text)
    except (ValueError, KeyError) as error:
        raise InvalidParameterError(
            f"{parameter.name}: {text!r} is not a valid {parameter.type.__name__}",
            hint=parameter.meaning,
        ) from error


def _nearest(name: str, known: Mapping[str, object]) -> str:
    found = get_close_matches(name, known, n=1)
    return f"; did you mean {found[0]!r}?" if found else ""


def _read(path: Path) -> Notebook:
    document = json.loads(path.read_text(encoding="utf-8"))
    cells = document["cells"]
    heading, _, purpose = "".join(cells[0]["source"]).partition("\n")
    source = next(
        "".join(cell["source"])
        for cell in cells
        if "parameters" in cell["metadata"].get("tags", ())
    )
    return Notebook(
        name=path.stem,
        path=path,
        title=heading.removeprefix("# ").strip(),
        purpose=" ".join(purpose.split()),
        parameters=tuple(_parameters(source)),
        reads=tuple(document["metadata"]["sametrack"]["reads"]),
    )


def _parameters(source: str) -> list[ReportParameter]:
    """Parse lines of `name: type = default  # meaning`, the format that papermill uses too."""
    meanings = {
        token.start[0]: token.string.removeprefix("#").strip()
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    return [
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
