"""What a table means, from the data dictionary: as text, as Markdown in a notebook, as records."""

import difflib
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from warehouse.records.errors import InvalidParameterError
from warehouse.tables import RELATIONS, TABLES, Column, Table
from warehouse.tables.column import Example
from warehouse.tables.dictionary import render_table

SEEN = tuple(table.counted_name for table in TABLES if table.is_observed)
"""Views of the observations whose capture is complete."""
_BY_NAME = {table.name: table for table in RELATIONS}
NAMES = (*sorted(_BY_NAME), *sorted(SEEN))
_SEEN_NOTE = "Only rows whose capture is complete; use it to count."


@dataclass(frozen=True, slots=True)
class TableDescription:
    """The meaning of a table and of its columns."""

    name: str
    table: Table

    @property
    def row(self) -> str:
        """What one row stands for."""
        return self.table.row

    @property
    def key(self) -> tuple[str, ...]:
        """Columns that identify a row."""
        return self.table.key

    @property
    def examples(self) -> Sequence[Example]:
        """Questions that the table answers, with their statements."""
        return self.table.examples

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns with name, type, unit and meaning."""
        return self.table.columns

    def __getitem__(self, column: str) -> Column:
        by_name = {each.name: each for each in self.columns}
        if column not in by_name:
            raise unknown_name("column", column, by_name)
        return by_name[column]

    def __str__(self) -> str:
        lines = [f"{self.name}: one row per {self.row}", f"key: {', '.join(self.key)}"]
        if self.name != self.table.name:
            lines.append(_SEEN_NOTE)
        # The columns: name, type and meaning below each other.
        cells = [
            (
                column.name,
                column.type_label + ("" if column.required else ", may be unknown"),
                column.meaning + (f" [{column.unit}]" if column.unit else ""),
            )
            for column in self.columns
        ]
        name_width, type_width = (max(len(cell[at]) for cell in cells) for at in (0, 1))
        lines.append("")
        for name, kind, text in cells:
            lines.append(f"{name:{name_width}}  {kind:{type_width}}  {text}")
        # How to join it, and questions that it answers.
        if self.table.references:
            joins = [f"{ref.column} is {ref.key} of {ref.table}" for ref in self.table.references]
            lines += ["", *joins]
        for example in self.table.examples:
            lines += ["", f"{example.question}", textwrap.indent(example.sql, "    ")]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        """Return the section of the data dictionary: notebooks display it."""
        # A view `seen.…` has the columns of its table, and a note.
        note = f"`{self.name}`: {_SEEN_NOTE}\n\n" if self.name != self.table.name else ""
        return note + render_table(self.table)

    def _ipython_key_completions_(self) -> list[str]:
        return [column.name for column in self.columns]


def describe_table(name: str) -> TableDescription:
    """Return the description of `raw.…`, `marts.…` or `seen.…`.

    Raises:
        InvalidParameterError: There is no such table.
    """
    check_table(name)
    return TableDescription(name, _BY_NAME[name.replace("seen.", "raw.")])


def check_table(name: str) -> None:
    """Refuse a name that is no table, with the nearest ones."""
    if name not in NAMES:
        raise unknown_name("table", name, NAMES)


def unknown_name(kind: str, name: str, names: Iterable[str]) -> InvalidParameterError:
    """Return the error for a name that does not exist."""
    existing = list(names)
    # A name without its layer is meant exactly: `rankings` is `marts.rankings`.
    same_noun = [each for each in existing if each.rpartition(".")[2] == name]
    similar = difflib.get_close_matches(name, existing, n=3, cutoff=0.5)
    meant = ", ".join(same_noun or similar)
    hint = f"did you mean {meant}?" if meant else ", ".join(existing)
    return InvalidParameterError(f"there is no {kind} {name!r}", hint=hint)
