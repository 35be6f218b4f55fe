"""The data dictionary: every table and column of the contract in words, for people.

Derived from `warehouse.tables` alone. `python -m warehouse.tables.dictionary` writes the page in
`docs`
(`make docs` does); a test holds the committed page to it.
"""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from warehouse.tables import BYTES, DATE, FLAG, REAL, TABLES, TEXT, TEXTS, TIME, WHOLE, Table
from warehouse.tables.privacy import Treatment, treatment_of

PAGE = Path(__file__).parents[2] / "docs" / "data-dictionary.md"

TYPE_WORDS: dict[pa.DataType, str] = {
    TEXT: "text",
    WHOLE: "whole number",
    REAL: "real number",
    FLAG: "true or false",
    TIME: "time",
    DATE: "date",
    BYTES: "bytes",
    TEXTS: "list of texts",
}
_TREATMENT_WORDS: dict[Treatment, str] = {
    "kept": "kept",
    "account": "keyed hash",
    "work": "keyed hash",
    "entity": "keyed hash where a person's",
    "out": "left out",
}
_HEAD = """# Data dictionary

Made from the data contract in `warehouse/tables` by `make docs`; do not edit it by hand.

Tables of the layer `raw` hold what was observed, those of `marts` what was concluded. Rows are
appended; what a later look found is a later row. An unknown value is null, never 0. Ids are text.
In SQL each table has the name it has here; `seen.videos` and the like are the rows of `raw.videos`
whose capture was written whole, which is what everything else in Sametrack counts.

`committed_at` is the moment at which a row was written: a read "as of" a date keeps the rows
written until then. The last column says what a pseudonymised export makes of the column.
"""


def render_dictionary(tables: Sequence[Table] = TABLES) -> str:
    """The page, as Markdown."""
    index = "\n".join(
        f"- [`{table.name}`](#{_anchor(table)}): one row per {table.row}" for table in tables
    )
    return "\n".join([_HEAD, index, "", *(_section(table) for table in tables)])


def _section(table: Table) -> str:
    key = ", ".join(f"`{name}`" for name in table.key)
    head = [
        f"## {table.name}",
        "",
        f"One row per {table.row}. Key: {key}. Schema version {table.version}.",
        "",
        "| column | type | unit | null | meaning | without names |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    rows = [
        f"| `{column.name}` | {TYPE_WORDS[column.type]} | {column.unit or ''} "
        f"| {'no' if column.required else 'yes'} | {_cell(column.meaning)} "
        f"| {_TREATMENT_WORDS[treatment_of(column)]} |"
        for column in table.columns
    ]
    return "\n".join([*head, *rows, ""])


def _anchor(table: Table) -> str:
    """As Markdown viewers make it of the heading."""
    return table.name.replace(".", "")


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


if __name__ == "__main__":
    PAGE.write_text(render_dictionary(), encoding="utf-8")
