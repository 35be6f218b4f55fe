"""Find columns of a store that have one value on a whole surface, where it may stand for unknown.

`python -m tests.standards.constant_columns [HOME]` reads the rows of each observation table as they
are stored. A column that never varies on a surface with enough rows, and is never null there, is
either true of the surface, and then declared with its reason in `constant_columns.toml`, or a value
that the surface never showed. With `--migrate` the store is opened for writing first.
"""

import sys
import tomllib
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
from rich.console import Console
from rich.table import Table as PrintedTable

from warehouse.analysis.address import find_address
from warehouse.lake.reading import ReadOnlyLake, open_lake_for_reading
from warehouse.lake.store import open_lake
from warehouse.tables import Table
from warehouse.tables.column import TEXT_LIST
from warehouse.tables.raw import RAW

MIN_ROWS = 20
"""Fewer rows of a surface may agree by chance."""
DECLARED = Path(__file__).with_suffix(".toml")
_PROVENANCE = frozenset({
    "surface", "capture_id", "job_id", "data_provider", "parser_version", "committed_at",
    "observed_at", "payload_sha256",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantColumn:
    """A column with one value in all rows of a surface. `other_values`: those of other surfaces."""

    table: str
    column: str
    surface: str
    value: str
    row_count: int
    other_values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Declaration:
    """A column that may have one value. Without `surfaces` on any, without `value` any value."""

    table: str
    column: str
    reason: str
    surfaces: tuple[str, ...] | None = None
    value: str | None = None

    def covers(self, constant: ConstantColumn) -> bool:
        """Return True if it declares this column of this surface."""
        return (
            (self.table, self.column) == (constant.table, constant.column)
            and (self.surfaces is None or constant.surface in self.surfaces)
            and (self.value is None or self.value == constant.value)
        )


def read_declarations(path: Path = DECLARED) -> list[Declaration]:
    """Return the columns that are declared as constant."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["constant"]
    return [
        Declaration(
            **entry | {"surfaces": tuple(entry["surfaces"]) if "surfaces" in entry else None}
        )
        for entry in entries
    ]


def constant_columns(lake: ReadOnlyLake) -> list[ConstantColumn]:
    """Return the columns that have one value, and never null, on a surface with enough rows."""
    constants: list[ConstantColumn] = []
    for table in RAW:
        has_surface = any(column.name == "surface" for column in table.columns)
        if has_surface and lake.listing(table.name).files:
            constants += _of_table(table, lake.dataset(table.name))
    return constants


def _of_table(table: Table, stored: pa.Table) -> Iterable[ConstantColumn]:
    skipped = _PROVENANCE | set(table.key)
    with duckdb.connect() as database:
        database.register("stored", stored)
        have = {name for (name, *_) in database.execute("describe stored").fetchall()}
        for column in table.columns:
            if column.name in skipped or column.name not in have:
                continue
            name = f'"{column.name}"'
            text = f"{name}::varchar" if column.type != TEXT_LIST else f"to_json({name})::varchar"
            found = database.execute(
                f"""
                select surface, count(*), count({name}),
                    list_sort(list(distinct {text}) filter ({name} is not null))
                from stored group by surface order by surface
                """  # names of the contract
            ).fetchall()
            shown = {surface: values or [] for surface, _, _, values in found}
            for surface, row_count, known_count, values in found:
                if row_count >= MIN_ROWS and known_count == row_count and len(values) == 1:
                    others = {
                        one for other, seen in shown.items() if other != surface for one in seen
                    }
                    yield ConstantColumn(
                        table=table.name,
                        column=column.name,
                        surface=surface,
                        value=values[0],
                        row_count=row_count,
                        other_values=tuple(sorted(others - {values[0]})),
                    )


def undeclared(
    constants: Sequence[ConstantColumn], declarations: Sequence[Declaration]
) -> list[ConstantColumn]:
    """Return the constant columns that no declaration covers."""
    return [
        constant
        for constant in constants
        if not any(declaration.covers(constant) for declaration in declarations)
    ]


def _print(constants: Sequence[ConstantColumn], console: Console) -> None:
    printed = PrintedTable("table", "column", "surface", "rows", "only value", "on other surfaces")
    for constant in constants:
        others = constant.other_values
        elsewhere = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if others[3:] else "")
        printed.add_row(
            constant.table, constant.column, constant.surface, str(constant.row_count),
            constant.value[:40], elsewhere[:60] or "no other value",
        )  # fmt: skip
    console.print(printed)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a store; return 1 if a column is constant and not declared to be."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("home", nargs="?", help="home of a world, lake or s3:// address")
    parser.add_argument("--migrate", action="store_true", help="open the store for writing first")
    asked = parser.parse_args(arguments)
    place = find_address(asked.home)
    lake = open_lake_for_reading(place.lake_url, world=place.world)
    if asked.migrate:
        writable = open_lake(lake.url, world=lake.world)
        for table in writable.tables:
            writable.version(table.name)  # opens it, if it was not opened at once
        lake = open_lake_for_reading(place.lake_url, world=place.world)
    constants = constant_columns(lake)
    reported = undeclared(constants, read_declarations())
    console = Console(width=160)
    if not reported:
        console.print(
            f"{lake.url}: {len(constants)} columns have one value on a surface, all declared"
        )
        return 0
    _print(reported, console)
    console.print(
        f"{len(reported)} columns have one value on a whole surface, in {lake.url}. If the surface "
        f"does not show it, its parser must give null; if it is true, declare it in "
        f"{DECLARED.name}."
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
