"""Data packages: tables with schema, dictionary, checksums and coverage in one ZIP file.

The format is Frictionless' tabular data package; each table is included as CSV, safe to open in a
spreadsheet, and as Parquet, exact. The same `as of` time gives the same bytes.
"""

import hashlib
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.atomic_files import atomic_path
from warehouse.exports.export_table import ExportKind, ExportTable, columns_of, rows_of
from warehouse.exports.extracts import Extract, read_batches
from warehouse.exports.pseudonyms import Pseudonyms
from warehouse.exports.table_files import ExportMethod, csv_parts
from warehouse.tables import Table as Contract
from warehouse.tables.dictionary import render_dictionary

_EPOCH = (2000, 1, 1, 0, 0, 0)  # a fixed date keeps the bytes of a ZIP reproducible
_TYPES: dict[ExportKind, str] = {
    "text": "string", "whole": "integer", "real": "number", "flag": "boolean", "time": "datetime",
    "date": "date", "texts": "array",
}  # fmt: skip
_DEMO = "**This is generated demo data. Nothing in it is real.**\n\n"
_SPREADSHEETS = (
    "In the CSV files, text that a spreadsheet would run as a formula begins with an apostrophe; "
    "the Parquet files contain it unchanged.\n"
)


def write_package(
    path: Path,
    engine: Engine,
    extracts: Sequence[Extract],
    method: ExportMethod,
    *,
    pseudonyms: Pseudonyms | None = None,
) -> dict[str, int]:
    """Write the package; returns the row count of each table.

    Raises:
        InvalidParameterError: The file cannot be written there.
        WarehouseUnavailableError: The lake cannot be read.
    """
    with atomic_path(path) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        package = _Package(archive)
        resources: list[dict[str, object]] = []
        counts: dict[str, int] = {}
        for extract in extracts:
            batches = read_batches(engine, extract, pseudonyms=pseudonyms)
            schema, counts[extract.table.name] = package.add_table(extract, batches)
            resources.append(package.resource(extract, schema))
        package.add("dictionary.md", render_dictionary([extract.table for extract in extracts]))
        package.add("coverage.md", _coverage_page(method))
        package.add("README.md", _readme(method, counts))
        package.add("datapackage.json", _descriptor(resources, method))
        package.add("checksums.sha256", package.checksums())
    return counts


class _Package:
    """Files of an archive with their hashes."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._hashes: dict[str, tuple[str, int]] = {}

    def add(self, name: str, content: str | bytes) -> None:
        body = content.encode() if isinstance(content, str) else content
        with self._entry(name) as entry:
            entry.write(body)
        self._hashes[name] = (hashlib.sha256(body).hexdigest(), len(body))

    def add_table(
        self, extract: Extract, batches: Iterable[pa.RecordBatch]
    ) -> tuple[pa.Schema, int]:
        """Add a table as CSV and Parquet; returns its Arrow schema and row count."""
        found = list(batches)
        schema, name = found[0].schema, f"data/{_file_name(extract)}"
        lines = csv_parts(columns_of(schema), rows_of(found), with_mark=False)
        self.add(f"{name}.csv", b"".join(lines))
        table = pa.Table.from_batches(found, schema=schema)
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, compression="zstd")
        self.add(f"{name}.parquet", sink.getvalue().to_pybytes())
        return schema, int(table.num_rows)

    def resource(self, extract: Extract, schema: pa.Schema) -> dict[str, object]:
        name = _file_name(extract)
        digest, size = self._hashes[f"data/{name}.csv"]
        return {
            "name": name,
            "path": f"data/{name}.csv",
            "description": f"One row per {extract.table.row}.",
            "profile": "tabular-data-resource",
            "format": "csv",
            "mediatype": "text/csv",
            "encoding": "utf-8",
            "bytes": size,
            "hash": f"sha256:{digest}",
            "schema": _schema(extract.table, schema),
        }

    def checksums(self) -> str:
        """Return the checksums in the format of `sha256sum --check`."""
        return "".join(f"{digest}  {name}\n" for name, (digest, _) in self._hashes.items())

    def _entry(self, name: str) -> IO[bytes]:
        info = zipfile.ZipInfo(name, _EPOCH)
        info.compress_type = zipfile.ZIP_DEFLATED
        return self._archive.open(info, "w")


def _file_name(extract: Extract) -> str:
    return extract.table.name.replace(".", "_")


def _schema(table: Contract, schema: pa.Schema) -> dict[str, object]:
    """Return a Frictionless table schema, with the contract's descriptions and units."""
    by_name = {column.name: column for column in table.columns}
    fields = []
    for column in columns_of(schema):
        contract = by_name[column.name]
        field: dict[str, object] = {
            "name": column.name,
            "type": _TYPES[column.kind],
            "description": contract.meaning,
        }
        if contract.unit:
            field["unit"] = contract.unit
        if contract.required:
            field["constraints"] = {"required": True}
        if column.kind == "flag":
            field |= {"trueValues": ["True"], "falseValues": ["False"]}
        fields.append(field)
    return {"fields": fields, "missingValues": [""]}


def _descriptor(resources: list[dict[str, object]], method: ExportMethod) -> bytes:
    facts = dict(method.facts)
    descriptor: dict[str, object] = {
        "profile": "tabular-data-package",
        "name": "sametrack-demo" if facts["is_demo_data"] == "true" else "sametrack",
        "title": f"Sametrack: {facts['scope']}",
        "description": facts["coverage_note"],
    }
    if "exported_at" in facts:
        descriptor["created"] = facts["exported_at"]
    descriptor |= {"sametrack": facts, "resources": resources}
    return orjson.dumps(descriptor, option=orjson.OPT_INDENT_2)


def _readme(method: ExportMethod, counts: Mapping[str, int]) -> str:
    facts = dict(method.facts)
    demo = _DEMO if facts["is_demo_data"] == "true" else ""
    fact_lines = "\n".join(f"- {name}: {value}" for name, value in facts.items())
    rows = "\n".join(f"- `{name}`: {count:,} rows" for name, count in counts.items())
    return (
        f"# Sametrack data package\n\n{demo}{fact_lines}\n\n## Tables\n\n{rows}\n\n{_SPREADSHEETS}"
    )


def _coverage_page(method: ExportMethod) -> str:
    """Return the coverage report: what each source was asked, and why reading stopped."""
    facts = dict(method.facts)
    table = method.coverage or ExportTable("coverage", (), ())
    lines = [
        "# Coverage",
        "",
        facts["coverage_note"],
        "",
        f"Sources of {facts['scope']}, with the reason each one stopped:",
        "",
        "| " + " | ".join(column.name for column in table.columns) + " |",
        "| " + " | ".join("---" for _ in table.columns) + " |",
        *("| " + " | ".join(str(value) for value in row) + " |" for row in table.rows),
    ]
    return "\n".join(lines) + "\n"
