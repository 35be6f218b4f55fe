"""Data packages: tables with schema, dictionary, checksums and coverage in one ZIP file.

The format is Frictionless' tabular data package; each table is included as CSV, safe to open in a
spreadsheet, and as Parquet, exact. Descriptions by RO-Crate and Croissant are included. The same
`as of` time gives the same bytes.
"""

import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.atomic_files import atomic_path
from warehouse.exports.error_sheet import SHEET_SOURCE
from warehouse.exports.export_table import ExportKind, ExportTable, columns_of, rows_of
from warehouse.exports.extracts import Extract, read_batches
from warehouse.exports.package_descriptions import (
    CHECKSUMS,
    CRATE_FILE,
    CROISSANT_FILE,
    describe_crate,
    describe_croissant,
)
from warehouse.exports.package_files import (
    CSV_TYPE,
    PARQUET_TYPE,
    PackageArchive,
    PackageTable,
)
from warehouse.exports.pseudonyms import Pseudonyms
from warehouse.exports.table_files import ExportMethod, csv_parts
from warehouse.tables.column import TEXT
from warehouse.tables.dictionary import render_dictionary

_JSON, _MARKDOWN = "application/json", "text/markdown"
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
        package = PackageArchive(archive)
        tables = [
            _add_table(package, extract, read_batches(engine, extract, pseudonyms=pseudonyms))
            for extract in extracts
        ]
        _add_descriptions(package, tables, method)
    return {table.contract.name: table.row_count for table in tables}


def _add_table(
    package: PackageArchive, extract: Extract, batches: Iterable[pa.RecordBatch]
) -> PackageTable:
    """Add a table as CSV and Parquet."""
    found = list(batches)
    schema, path = found[0].schema, f"data/{extract.table.name.replace('.', '_')}"
    row = f"One row per {extract.table.row}."
    lines = b"".join(csv_parts(columns_of(schema), rows_of(found), with_mark=False))
    table = pa.Table.from_batches(found, schema=schema)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return PackageTable(
        extract.table,
        columns_of(schema),
        int(table.num_rows),
        package.add(f"{path}.csv", lines, media_type=CSV_TYPE, description=row),
        package.add(
            f"{path}.parquet",
            sink.getvalue().to_pybytes(),
            media_type=PARQUET_TYPE,
            description=row,
        ),
    )


def _add_descriptions(
    package: PackageArchive, tables: Sequence[PackageTable], method: ExportMethod
) -> None:
    facts, title = dict(method.facts), f"Sametrack: {dict(method.facts)['scope']}"
    dictionary = render_dictionary([table.contract for table in tables])
    croissant_text = describe_croissant(facts, tables, title=title)
    for name, content, media_type, description in (
        ("dictionary.md", dictionary, _MARKDOWN, "The meaning of all columns."),
        ("coverage.md", _coverage_page(method), _MARKDOWN, "What was asked, and why it ended."),
        ("error_sheet.md", _sheet_page(method), _MARKDOWN, "What the data can and cannot say."),
        ("README.md", _readme(method, tables), _MARKDOWN, "What this package contains."),
        (
            "datapackage.json",
            _descriptor(tables, facts, title),
            _JSON,
            "Frictionless data package.",
        ),
        (CROISSANT_FILE, croissant_text, _JSON, "Croissant description of the tables."),
    ):
        package.add(name, content, media_type=media_type, description=description)
    crate = describe_crate(facts, package.files, title=title)
    package.add(CRATE_FILE, crate, media_type=_JSON, description="RO-Crate description.")
    package.add(
        CHECKSUMS,
        package.checksums(),
        media_type="text/plain",
        description="Checksums of the files.",
    )


def _resource(table: PackageTable) -> dict[str, object]:
    return {
        "name": table.name,
        "path": table.csv.path,
        "description": table.csv.description,
        "profile": "tabular-data-resource",
        "format": "csv",
        "mediatype": table.csv.media_type,
        "encoding": "utf-8",
        "bytes": table.csv.size_bytes,
        "hash": f"sha256:{table.csv.sha256}",
        "schema": _schema(table),
    }


def _schema(table: PackageTable) -> dict[str, object]:
    """Return a Frictionless table schema, with the contract's descriptions and units."""
    by_name = {column.name: column for column in table.contract.columns}
    fields = []
    for column in table.columns:
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
            if contract.type == TEXT:
                field["missingValues"] = []  # an empty text is a value: nothing stands for unknown
        if column.kind == "flag":
            field |= {"trueValues": ["True"], "falseValues": ["False"]}
        fields.append(field)
    key = {"primaryKey": list(table.key)} if table.key else {}
    return {"fields": fields, "missingValues": [""], **key}


def _descriptor(tables: Sequence[PackageTable], facts: Mapping[str, str], title: str) -> bytes:
    descriptor: dict[str, object] = {
        "profile": "tabular-data-package",
        "name": "sametrack-demo" if facts["is_demo_data"] == "true" else "sametrack",
        "title": title,
        "description": facts["coverage_note"],
    }
    if "exported_at" in facts:
        descriptor["created"] = facts["exported_at"]
    descriptor |= {"sametrack": facts, "resources": [_resource(table) for table in tables]}
    return orjson.dumps(descriptor, option=orjson.OPT_INDENT_2)


def _readme(method: ExportMethod, tables: Sequence[PackageTable]) -> str:
    facts = dict(method.facts)
    demo = _DEMO if facts["is_demo_data"] == "true" else ""
    fact_lines = "\n".join(f"- {name}: {value}" for name, value in facts.items())
    rows = "\n".join(f"- `{table.contract.name}`: {table.row_count:,} rows" for table in tables)
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


def _sheet_page(method: ExportMethod) -> str:
    """Return the error sheets of the scans: questions, and what the data answer."""
    lines = ["# Error sheet"]
    if method.error_sheet is None:
        lines += ["", "No result of a scan is in scope, so nothing is answered."]
    else:
        lines += ["", SHEET_SOURCE]
        job = section = ""
        for row_job, number, row_section, question, answer in method.error_sheet.rows:
            if row_job != job:
                job, section = str(row_job), ""
                lines += ["", f"## Job {job}"]
            if row_section != section:
                section = str(row_section)
                lines += ["", f"### {section}"]
            lines += ["", f"**{number} {question}** {answer}"]
    return "\n".join(lines) + "\n"
