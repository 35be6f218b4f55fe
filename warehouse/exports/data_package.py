"""Data packages: tables with schema, dictionary, checksums and coverage in one ZIP file.

The format is Frictionless' tabular data package; each table is included as CSV and as Parquet. Of a
job or track it has every row of the star's dimensions that its other rows refer to, and a foreign
key is declared where every value is inside. The same `as of` time gives the same bytes.
"""

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.atomic_files import atomic_path
from warehouse.exports.error_sheet import SHEET_SOURCE
from warehouse.exports.export_table import ExportKind, ExportTable, columns_of, rows_of
from warehouse.exports.extracts import (
    DIMENSIONS,
    ExportScope,
    Extract,
    dimensions_of,
    read_batches,
)
from warehouse.exports.package_contents.readme import REPORT_NUMBERS, render_readme
from warehouse.exports.package_contents.result_tables import read_result_tables
from warehouse.exports.package_descriptions import (
    CHECKSUMS,
    CROISSANT_FILE,
    citation_of,
    contributors_of,
    describe_citation,
    describe_croissant,
    rights_of,
    sources_of,
    version_of,
)
from warehouse.exports.package_files import (
    ForeignKey,
    PackageArchive,
    PackageTable,
    file_name,
)
from warehouse.exports.pseudonyms import Pseudonyms
from warehouse.exports.table_files import ExportMethod, csv_parts
from warehouse.tables import Table
from warehouse.tables.column import TEXT
from warehouse.tables.dictionary import render_dictionary

_TYPES: dict[ExportKind, str] = {
    "text": "string", "whole": "integer", "real": "number", "flag": "boolean", "time": "datetime",
    "date": "date", "texts": "array",
}  # fmt: skip
_KEYS: Mapping[str, tuple[str, str]] = {
    "capture_id": ("raw.captures", "capture_id"),
    "comparison_id": ("marts.audio_comparisons", "comparison_id"),
    "reference_sha256": ("raw.sounds", "sound_sha256"),
    "candidate_sha256": ("raw.sounds", "sound_sha256"),
}
"""Keys of tables that are no dimensions of the star, which the data contract does not declare."""


def write_package(
    path: Path,
    engine: Engine,
    extracts: Sequence[Extract],
    method: ExportMethod,
    *,
    scope: ExportScope,
    pseudonyms: Pseudonyms | None = None,
) -> dict[str, int]:
    """Write the package; returns the row count of each table.

    Raises:
        InvalidParameterError: The file cannot be written there.
        WarehouseUnavailableError: The lake cannot be read.
    """
    with atomic_path(path) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        package = PackageArchive(archive)
        tables = []
        values: dict[tuple[str, str], pa.Array] = {}
        for contract, rows in _read_tables(engine, extracts, scope):
            shown = rows if pseudonyms is None else _pseudonymised(contract, rows, pseudonyms)
            tables.append(_add_table(package, contract, shown))
            for column in {*contract.key, *(name for name, _ in _references(contract))}:
                if column in shown.schema.names:
                    values[contract.name, column] = pc.unique(shown.column(column)).drop_null()
        tables = [replace(table, references=_resolved(table.contract, values)) for table in tables]
        _add_descriptions(package, tables, method)
    return {table.contract.name: table.row_count for table in tables}


def _read_tables(
    engine: Engine, extracts: Sequence[Extract], scope: ExportScope
) -> Iterator[tuple[Table, pa.Table]]:
    """Yield the tables with their rows; of a job or track the dimensions by what refers to them."""
    is_everything = scope == ExportScope()
    referred: dict[str, set[str]] = {}

    def noting_references(table: Table, rows: pa.Table) -> tuple[Table, pa.Table]:
        for reference in () if is_everything else table.references:
            keys = pc.unique(rows.column(reference.column)).drop_null().cast(pa.string())
            referred.setdefault(reference.table, set()).update(keys.to_pylist())
        return table, rows

    for table, rows in read_result_tables(engine, scope):
        yield noting_references(table, rows)
    for extract in extracts:
        if is_everything or extract.table.name not in DIMENSIONS:
            yield noting_references(extract.table, _read_rows(engine, extract))
    for extract in () if is_everything else dimensions_of(referred):
        yield noting_references(extract.table, _read_rows(engine, extract))


def _read_rows(engine: Engine, extract: Extract) -> pa.Table:
    return pa.Table.from_batches(list(read_batches(engine, extract)))


def _pseudonymised(table: Table, rows: pa.Table, pseudonyms: Pseudonyms) -> pa.Table:
    nothing = pa.RecordBatch.from_pylist([], schema=rows.schema)  # it carries the columns
    batches = [pseudonyms.applied(table, batch) for batch in (nothing, *rows.to_batches())]
    return pa.Table.from_batches(batches)


def _references(table: Table) -> Iterator[tuple[str, ForeignKey]]:
    """Yield the columns that refer to another table, with its name in the contract."""
    for reference in table.references:
        yield (
            reference.column,
            ForeignKey(reference.column, reference.table, reference.key, why=reference.exception),
        )
    for column in table.columns:
        target, key = _KEYS.get(column.name, (table.name, ""))
        if target != table.name:
            yield column.name, ForeignKey(column.name, target, key)


def _resolved(table: Table, values: Mapping[tuple[str, str], pa.Array]) -> Sequence[ForeignKey]:
    """Return the references of a table to tables of the package, with what is not inside."""
    found = []
    for column, key in _references(table):
        own, keys = values.get((table.name, column)), values.get((key.table, key.key))
        if own is not None and keys is not None:
            inside = pc.sum(pc.is_in(own, value_set=keys)).as_py() or 0
            name = key.table.replace(".", "_")
            found.append(replace(key, table=name, outside_count=len(own) - inside))
    return found


def _add_table(package: PackageArchive, contract: Table, rows: pa.Table) -> PackageTable:
    """Add a table as CSV and Parquet."""
    path, columns = f"data/{file_name(contract)}", columns_of(rows.schema)
    description = f"One row per {contract.row}."
    lines = b"".join(csv_parts(columns, rows_of(rows.to_batches()), for_spreadsheets=False))
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink, compression="zstd")
    return PackageTable(
        contract,
        columns,
        int(rows.num_rows),
        package.add(f"{path}.csv", lines, description),
        package.add(f"{path}.parquet", sink.getvalue().to_pybytes(), description),
    )


def _add_descriptions(
    package: PackageArchive, tables: Sequence[PackageTable], method: ExportMethod
) -> None:
    names = ", ".join(table.contract.name for table in tables)
    facts = {**dict(method.facts), "tables": names}
    title = f"Sametrack: {facts['scope']}"
    dictionary = render_dictionary([_with_own_joins(table, tables) for table in tables])
    croissant_text = describe_croissant(facts, tables, title=title)
    numbers = REPORT_NUMBERS.read_bytes()
    for name, content, description in (
        ("dictionary.md", dictionary, "The meaning of all columns."),
        ("coverage.md", _coverage_page(method), "What was asked, and why it ended."),
        ("error_sheet.md", _sheet_page(method), "What the data can and cannot say."),
        ("report_numbers.py", numbers, "Repeats every number of the reports of jobs."),
        ("CITATION.cff", describe_citation(facts, title=title), "How to cite this data."),
        ("datapackage.json", _descriptor(tables, facts, title), "Frictionless data package."),
        (CROISSANT_FILE, croissant_text, "Croissant description of the tables."),
    ):
        package.add(name, content, description)
    readme = render_readme(facts, tables, package.files, title=title)
    package.add("README.md", readme, "How to use this package.")
    package.add(CHECKSUMS, package.checksums(), "Checksums of the files.")


def _with_own_joins(table: PackageTable, tables: Sequence[PackageTable]) -> Table:
    """Return the contract of a table with the joins that this package has."""
    names = {one.contract.name for one in tables}
    references = (one for one in table.contract.references if one.table in names)
    return replace(table.contract, references=tuple(references))


def _resource(table: PackageTable) -> dict[str, object]:
    return {
        "name": table.name,
        "path": table.csv.path,
        "description": table.csv.description,
        "profile": "tabular-data-resource",
        "format": "csv",
        "mediatype": "text/csv",
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
    schema: dict[str, object] = {"fields": fields, "missingValues": [""]}
    if table.key:
        schema["primaryKey"] = list(table.key)
    if table.foreign_keys:
        schema["foreignKeys"] = [
            {"fields": [key.column], "reference": {"resource": key.table, "fields": [key.key]}}
            for key in table.foreign_keys
        ]
    return schema


def _descriptor(tables: Sequence[PackageTable], facts: Mapping[str, str], title: str) -> bytes:
    descriptor: dict[str, object] = {
        "profile": "tabular-data-package",
        "name": "sametrack-demo" if facts["is_demo_data"] == "true" else "sametrack",
        "title": title,
        "description": f"{facts['coverage_note']} {facts['method']}",
        "version": version_of(facts),
        "created": facts["as_of"],
        "citation": citation_of(facts, title=title),
        "rights": rights_of(facts),
        "licenses": [{"title": rights_of(facts), "path": "README.md"}],
        "sources": sources_of(facts),
        "contributors": contributors_of(facts),
        "sametrack": facts,
        "resources": [_resource(table) for table in tables],
    }
    return orjson.dumps(descriptor, option=orjson.OPT_INDENT_2)


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
