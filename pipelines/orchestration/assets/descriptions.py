"""Convert the data contract of a table to Dagster metadata: column schema, lineage, links.

Not here: the contract itself (`warehouse/tables`), the sources of columns (`lineage.py`), counts
of one run (`metadata.py`).
"""

from collections.abc import Iterable, Mapping
from datetime import date, timedelta

from dagster import (
    AssetDep,
    AssetKey,
    AssetsDefinition,
    AssetSpec,
    MetadataValue,
    TableColumn,
    TableColumnConstraints,
    TableColumnDep,
    TableColumnLineage,
    TableConstraints,
    TableSchema,
    map_asset_specs,
)

from pipelines.orchestration.assets.lineage import COLUMNS_FROM
from warehouse.tables import BY_NAME, Column, Table

WRITES: Mapping[str, str] = {"raw/watched_screens": "raw.capture_items"}
"""Assets that are no tables themselves, with the table of most of their rows."""

_BARS = "▁▂▃▄▅▆▇█"

type AssetMetadata = Mapping[str, object]


def asset_key(table: Table) -> AssetKey:
    """Return the asset key of a table: `layer/noun`, the same names as in SQL."""
    return AssetKey(table.name.split("."))


def described(
    assets: Iterable[AssetsDefinition | AssetSpec], *, console_url: str | None = None
) -> list[AssetsDefinition | AssetSpec]:
    """Add the metadata of the data contract to assets; metadata of the asset itself wins."""

    def describe(spec: AssetSpec) -> AssetSpec:
        known = {**_of_key(spec.key), **_links(console_url)}
        return spec.replace_attributes(metadata={**known, **spec.metadata})

    return list(map_asset_specs(describe, assets))


def table_schema(table: Table) -> TableSchema:
    """Return the columns of a table with type, meaning, unit and nullability."""
    return TableSchema(
        columns=[_column(table, column) for column in table.columns],
        constraints=TableConstraints(
            other=[f"one row per {table.row}", f"key: {', '.join(table.key)}"]
        ),
    )


def column_lineage(name: str) -> TableColumnLineage | None:
    """Return the sources of a table's columns, or None if the table is itself a source."""
    declared = COLUMNS_FROM.get(name)
    if declared is None:
        return None
    return TableColumnLineage(
        {column: [_dep(source) for source in sources] for column, sources in declared.items()}
    )


def deps_on(*names: str) -> list[AssetDep]:
    """Return dependencies on tables by name."""
    return [AssetDep(asset_key(BY_NAME[name])) for name in names]


def rows_of_days(counts: Mapping[date, int]) -> str:
    """Render the rows per day as a Markdown bar chart; days without rows are dots."""
    if not counts:
        return "no rows in the last 30 days"
    first, last = min(counts), max(counts)
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    most = max(counts.values())
    bars = "".join(_bar(counts.get(day, 0), most) for day in days)
    return f"`{bars}`\n\n{first} to {last}, at most {most:,} rows a day"


def _bar(count: int, most: int) -> str:
    return "·" if count == 0 else _BARS[(count * (len(_BARS) - 1) + most - 1) // most]


def _of_key(key: AssetKey) -> AssetMetadata:
    name = ".".join(key.path)
    table = BY_NAME.get(name)
    if table is None:
        written = BY_NAME.get(WRITES.get(key.to_user_string(), ""))
        return {} if written is None else _of_step(written)
    declared: dict[str, object] = {
        "dagster/column_schema": table_schema(table),
        "dagster/table_name": name,
        "dagster/storage_kind": "delta",
        "schema_version": table.version,
        "dictionary": MetadataValue.path(_place(table)),
    }
    lineage = column_lineage(name)
    return declared if lineage is None else {**declared, "dagster/column_lineage": lineage}


def _of_step(table: Table) -> AssetMetadata:
    return {
        "dagster/column_schema": table_schema(table),
        "writes": MetadataValue.asset(asset_key(table)),
        "dictionary": MetadataValue.path(_place(table)),
    }


def _links(console_url: str | None) -> AssetMetadata:
    """Return links to console and API docs, if their public address is configured."""
    if console_url is None:
        return {}
    root = console_url.rstrip("/")
    return {
        "console": MetadataValue.url(f"{root}/console"),
        "api": MetadataValue.url(f"{root}/docs"),
    }


def _place(table: Table) -> str:
    return f"docs/data-dictionary.md#{table.name.replace('.', '')}"


def _column(table: Table, column: Column) -> TableColumn:
    return TableColumn(
        column.name,
        column.type_label,
        description=_meaning(table, column),
        constraints=TableColumnConstraints(
            nullable=not column.required, unique=table.key == (column.name,)
        ),
        tags={"key": ""} if column.name in table.key else None,
    )


def _meaning(table: Table, column: Column) -> str:
    """Add unit and sources to the meaning: the free UI shows column lineage nowhere else."""
    unit = f" [{column.unit}]" if column.unit else ""
    sources = COLUMNS_FROM.get(table.name, {}).get(column.name, ())
    return f"{column.meaning}{unit}" + (f" ← {', '.join(sources)}" if sources else "")


def _dep(source: str) -> TableColumnDep:
    """Parse `raw.videos.digg_count`."""
    name, _, column = source.rpartition(".")
    return TableColumnDep(AssetKey(name.split(".")), column)
