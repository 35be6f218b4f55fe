"""Data packages: tables with schema, dictionary, checksums and coverage in one ZIP file.

The format is Frictionless' tabular data package; each table is included as CSV and as Parquet. Of a
job or track it has every row of the star's dimensions that its other rows refer to, and a foreign
key is declared where every value is inside. The same `as of` time gives the same bytes.
"""

import hashlib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from warehouse.engine.duckdb_engine import Engine
from warehouse.exports import package_descriptions
from warehouse.exports import package_descriptions as descriptions
from warehouse.exports.atomic_files import atomic_path
from warehouse.exports.error_sheet import SHEET_SOURCE
from warehouse.exports.export_table import ExportTable, columns_of, rows_of
from warehouse.exports.extracts import (
    DIMENSIONS,
    ExportScope,
    Extract,
    dimensions_of,
    read_batches,
)
from warehouse.exports.package_contents.readme import REPORT_NUMBERS, render_readme
from warehouse.exports.package_contents.result_tables import read_result_tables
from warehouse.exports.pseudonyms import Pseudonyms
from warehouse.exports.table_files import ExportMethod, csv_parts
from warehouse.tables import Table
from warehouse.tables.dictionary import render_dictionary

_KEYS: Mapping[str, tuple[str, str]] = {
    "capture_id": ("raw.captures", "capture_id"),
    "comparison_id": ("marts.audio_comparisons", "comparison_id"),
    "reference_sha256": ("raw.sounds", "sound_sha256"),
    "candidate_sha256": ("raw.sounds", "sound_sha256"),
}
"""Keys of tables that are no dimensions of the star, which the data contract does not declare."""
_EPOCH = (2000, 1, 1, 0, 0, 0)  # a fixed date keeps the bytes of a ZIP reproducible


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
        package = _PackageArchive(archive)
        tables = []
        # The values of every key and reference decide which foreign keys can be declared.
        values: dict[tuple[str, str], pa.Array] = {}
        for contract, stored_rows in _read_tables(engine, extracts, scope):
            rows = stored_rows
            if pseudonyms is not None:
                # The empty batch carries the columns of a table without rows.
                empty = pa.RecordBatch.from_pylist([], schema=rows.schema)
                batches = [empty, *rows.to_batches()]
                rows = pa.Table.from_batches(pseudonyms.applied(contract, each) for each in batches)
            tables.append(package.add_table(contract, rows))
            for column in {*contract.key, *(name for name, _ in _references(contract))}:
                if column in rows.schema.names:
                    values[contract.name, column] = pc.unique(rows.column(column)).drop_null()
        tables = [
            replace(table, references=_resolved_references(table.contract, values))
            for table in tables
        ]
        _add_descriptions(package, tables, method)
    return {table.contract.name: table.row_count for table in tables}


def _read_tables(
    engine: Engine, extracts: Sequence[Extract], scope: ExportScope
) -> Iterator[tuple[Table, pa.Table]]:
    """Yield the tables with their rows.

    Of a job or track the dimensions come last, with the rows that the other tables refer to.
    """
    is_everything = scope == ExportScope()
    referenced_keys: dict[str, set[str]] = {}

    def noting_references(table: Table, rows: pa.Table) -> tuple[Table, pa.Table]:
        for reference in () if is_everything else table.references:
            keys = pc.unique(rows.column(reference.column)).drop_null().cast(pa.string())
            referenced_keys.setdefault(reference.table, set()).update(keys.to_pylist())
        return table, rows

    def read(extract: Extract) -> tuple[Table, pa.Table]:
        rows = pa.Table.from_batches(list(read_batches(engine, extract)))
        return noting_references(extract.table, rows)

    for table, rows in read_result_tables(engine, scope):
        yield noting_references(table, rows)
    for extract in extracts:
        if is_everything or extract.table.name not in DIMENSIONS:
            yield read(extract)
    # Each dimension is selected after the keys of the one before it were noted.
    for extract in () if is_everything else dimensions_of(referenced_keys):
        yield read(extract)


def _references(table: Table) -> Iterator[tuple[str, package_descriptions.ForeignKey]]:
    """Yield the columns that refer to another table, with its name in the contract."""
    for reference in table.references:
        yield (
            reference.column,
            package_descriptions.ForeignKey(
                reference.column, reference.table, reference.key, why=reference.exception
            ),
        )
    for column in table.columns:
        target, key = _KEYS.get(column.name, (table.name, ""))
        if target != table.name:  # `capture_id` of `raw.captures` is its own key
            yield column.name, package_descriptions.ForeignKey(column.name, target, key)


def _resolved_references(
    table: Table, values: Mapping[tuple[str, str], pa.Array]
) -> Sequence[package_descriptions.ForeignKey]:
    """Return the references of a table to tables of the package, with what is not inside."""
    references = []
    for column, key in _references(table):
        # Without values, the column or the other table is not part of the package.
        own, keys = values.get((table.name, column)), values.get((key.table, key.key))
        if own is not None and keys is not None:
            inside = pc.sum(pc.is_in(own, value_set=keys)).as_py() or 0
            name = key.table.replace(".", "_")
            references.append(replace(key, table=name, outside_count=len(own) - inside))
    return references


class _PackageArchive:
    """A ZIP file with a list of the files that were added to it."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.files: list[package_descriptions.PackageFile] = []

    def add(
        self, path: str, content: str | bytes, description: str
    ) -> package_descriptions.PackageFile:
        """Add a file."""
        body = content.encode() if isinstance(content, str) else content
        info = zipfile.ZipInfo(path, _EPOCH)
        info.compress_type = zipfile.ZIP_DEFLATED
        with self._archive.open(info, "w") as entry:
            entry.write(body)
        file = package_descriptions.PackageFile(
            path, description, hashlib.sha256(body).hexdigest(), len(body)
        )
        self.files.append(file)
        return file

    def add_table(self, contract: Table, rows: pa.Table) -> package_descriptions.PackageTable:
        """Add a table as CSV and Parquet."""
        path, columns = f"data/{package_descriptions.file_name(contract)}", columns_of(rows.schema)
        description = f"One row per {contract.row}."
        lines = b"".join(csv_parts(columns, rows_of(rows.to_batches()), for_spreadsheets=False))
        # In memory: the hash of the file is part of the descriptions.
        sink = pa.BufferOutputStream()
        pq.write_table(rows, sink, compression="zstd")
        return package_descriptions.PackageTable(
            contract,
            columns,
            int(rows.num_rows),
            self.add(f"{path}.csv", lines, description),
            self.add(f"{path}.parquet", sink.getvalue().to_pybytes(), description),
        )


def _add_descriptions(
    package: _PackageArchive,
    tables: Sequence[package_descriptions.PackageTable],
    method: ExportMethod,
) -> None:
    # The dictionary explains the joins that this package has, not those to absent tables.
    names = {table.contract.name for table in tables}
    contracts = [
        replace(
            table.contract,
            references=tuple(ref for ref in table.contract.references if ref.table in names),
        )
        for table in tables
    ]
    facts = {**dict(method.facts), "tables": ", ".join(table.contract.name for table in tables)}
    title = f"Sametrack: {facts['scope']}"
    citation = descriptions.describe_citation(facts, title=title)
    frictionless = descriptions.describe_frictionless(facts, tables, title=title)
    croissant = descriptions.describe_croissant(facts, tables, title=title)
    numbers = REPORT_NUMBERS.read_bytes()
    for name, content, description in (
        ("dictionary.md", render_dictionary(contracts), "The meaning of all columns."),
        ("coverage.md", _coverage_page(method), "What was asked, and why it ended."),
        ("error_sheet.md", _error_sheet_page(method), "What the data can and cannot say."),
        ("report_numbers.py", numbers, "Repeats every number of the reports of jobs."),
        ("CITATION.cff", citation, "How to cite this data."),
        ("datapackage.json", frictionless, "Frictionless data package."),
        (descriptions.CROISSANT_FILE, croissant, "Croissant description of the tables."),
    ):
        package.add(name, content, description)
    # The README lists the files before it, the checksums cover the README too.
    readme = render_readme(facts, tables, package.files, title=title)
    package.add("README.md", readme, "How to use this package.")
    checksums = "".join(f"{file.sha256}  {file.path}\n" for file in package.files)
    package.add(descriptions.CHECKSUMS, checksums, "Checksums of the files.")


def _coverage_page(method: ExportMethod) -> str:
    """Return the coverage report: requests and items of each source, and why reading stopped."""
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


def _error_sheet_page(method: ExportMethod) -> str:
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
