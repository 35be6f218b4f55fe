"""The data dictionary: a page that describes every table and column of the contract.

`python -m warehouse.tables.dictionary` writes the page in `docs` (`make docs` runs it); a test
compares the committed page.
"""

from collections.abc import Sequence
from pathlib import Path

from warehouse.tables import RELATIONS, Table
from warehouse.tables.naming import EXCEPTIONS, SCHEME
from warehouse.tables.privacy import Treatment, treatment_of

PAGE = Path(__file__).parents[2] / "docs" / "data-dictionary.md"

_TREATMENT_LABELS: dict[Treatment, str] = {
    "kept": "kept",
    "account": "keyed hash",
    "work": "keyed hash",
    "entity": "keyed hash if personal",
    "out": "left out",
}
_HEAD = """# Data dictionary

Generated from the data contract in `warehouse/tables` by `make docs`; do not edit by hand.

Tables of the layer `raw` contain observations, those of `marts` conclusions. Rows are only
appended; a later observation is a later row. An unknown value is null, never 0. Ids are text.
Table names are the same in SQL. Views such as `seen.videos` contain the rows of `raw.videos`
whose capture is complete; everything else in Sametrack counts these. The views of the star join
tracks, music ids, videos, accounts and days ([analysis.md](analysis.md#the-star)).

`committed_at` is the time at which a row was written: a query "as of" a date returns the rows
written until then. The last column says how a pseudonymised export treats the column.
"""


def render_dictionary(tables: Sequence[Table] = RELATIONS) -> str:
    """Return the page as Markdown."""
    index = "\n".join(
        f"- [`{table.name}`](#{_anchor_of(table.name)}): one row per {table.row}"
        for table in tables
    )
    return "\n".join(
        [_HEAD, index, "", *_naming(tables), *(render_table(table) for table in tables)]
    )


def _naming(tables: Sequence[Table]) -> list[str]:
    """Return the scheme of column names, with the exceptions among the columns of these tables."""
    names = {column.name for table in tables for column in table.columns}
    exceptions = [f"- `{name}`: {why}" for name, why in EXCEPTIONS.items() if name in names]
    said = ["Other names, and why:", "", *exceptions, ""] if exceptions else []
    return ["## Names of columns", "", *(f"- {rule}" for rule in SCHEME), "", *said]


def render_table(table: Table) -> str:
    """Return the section of one table as Markdown."""
    key = ", ".join(f"`{name}`" for name in table.key)
    kind = "A view of the star" if table.is_view else f"Schema version {table.version}"
    head = [
        f"## {table.name}",
        "",
        f"One row per {table.row}. Key: {key}. {kind}.",
        "",
        "| column | type | unit | null | meaning | pseudonymised |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    rows = [
        f"| `{column.name}` | {column.type_label} | {column.unit or ''} "
        f"| {'no' if column.required else 'yes'} | {_cell(column.meaning)} "
        f"| {_TREATMENT_LABELS[treatment_of(column)]} |"
        for column in table.columns
    ]
    return "\n".join([*head, *rows, "", *_references(table), *_examples(table)])


def _references(table: Table) -> list[str]:
    """Return what the table's columns join with, and which rows have no partner."""
    if not table.references:
        return []
    lines = [
        f"- `{one.column}` is `{one.key}` of [`{one.table}`](#{_anchor_of(one.table)})"
        + (f"; {one.exception}" if one.exception else "")
        for one in table.references
    ]
    return ["Joins:", "", *lines, ""]


def _examples(table: Table) -> list[str]:
    return [
        line
        for example in table.examples
        for line in (example.question, "", "```sql", example.sql, "```", "")
    ]


def _anchor_of(name: str) -> str:
    """Return the anchor that Markdown viewers derive from the heading."""
    return name.replace(".", "")


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


if __name__ == "__main__":
    PAGE.write_text(render_dictionary(), encoding="utf-8")
