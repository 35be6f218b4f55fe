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
    lines = [
        _HEAD,
        *(
            f"- [`{each.name}`](#{_anchor_of(each.name)}): one row per {each.row}"
            for each in tables
        ),
    ]
    # The scheme of column names, with the exceptions among the columns of these tables.
    names = {column.name for table in tables for column in table.columns}
    exceptions = [f"- `{name}`: {why}" for name, why in EXCEPTIONS.items() if name in names]
    lines += ["", "## Names of columns", "", *(f"- {rule}" for rule in SCHEME), ""]
    if exceptions:
        lines += ["Other names, and why:", "", *exceptions, ""]
    return "\n".join([*lines, *map(render_table, tables)])


def render_table(table: Table) -> str:
    """Return the section of one table as Markdown."""
    key = ", ".join(f"`{name}`" for name in table.key)
    kind = "A view of the star" if table.is_view else f"Schema version {table.version}"
    lines = [
        f"## {table.name}",
        "",
        f"One row per {table.row}. Key: {key}. {kind}.",
        "",
        "| column | type | unit | null | meaning | pseudonymised |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for column in table.columns:
        meaning = column.meaning.replace("|", r"\|")
        lines.append(
            f"| `{column.name}` | {column.type_label} | {column.unit or ''} "
            f"| {'no' if column.required else 'yes'} | {meaning} "
            f"| {_TREATMENT_LABELS[treatment_of(column)]} |"
        )
    lines.append("")
    # What the columns join with, and which rows have no partner.
    if table.references:
        lines += ["Joins:", ""]
        for ref in table.references:
            target = f"`{ref.key}` of [`{ref.table}`](#{_anchor_of(ref.table)})"
            exception = f"; {ref.exception}" if ref.exception else ""
            lines.append(f"- `{ref.column}` is {target}{exception}")
        lines.append("")
    for example in table.examples:
        lines += [example.question, "", "```sql", example.sql, "```", ""]
    return "\n".join(lines)


def _anchor_of(name: str) -> str:
    """Return the anchor that Markdown viewers derive from the heading."""
    return name.replace(".", "")


if __name__ == "__main__":
    PAGE.write_text(render_dictionary(), encoding="utf-8")
