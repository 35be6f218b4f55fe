"""One table as one file on disk, written batch by batch if the format allows it."""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.exports.atomic_files import atomic_path, write_atomically
from warehouse.exports.export_table import ExportRow, ExportTable, columns_of, rows_of
from warehouse.exports.table_files import ExportMethod, TableFormat, csv_parts, to_file


def write_table(
    path: Path,
    form: TableFormat,
    name: str,
    batches: Iterator[pa.RecordBatch],
    method: ExportMethod,
    *,
    for_spreadsheets: bool,
) -> int:
    """Write the file atomically; returns its row count. The first batch carries the columns.

    Raises:
        InvalidParameterError: The file cannot be written there, or has too many rows for a sheet.
        WarehouseUnavailableError: The lake cannot be read.
    """
    first = next(batches)
    if form == "parquet":
        return _write_parquet(path, chain([first], batches), method)
    columns = columns_of(first.schema)
    counted = _CountedRows(rows_of(chain([first], batches)))
    if form == "csv":
        write_atomically(path, csv_parts(columns, counted, for_spreadsheets=for_spreadsheets))
    else:
        whole = ExportTable(name, columns, tuple(counted))
        write_atomically(path, [to_file(whole, method, form)])
    return counted.count


def _write_parquet(path: Path, batches: Iterator[pa.RecordBatch], method: ExportMethod) -> int:
    first = next(batches)
    facts = {f"sametrack.{name}": value for name, value in method.facts}
    schema = first.schema.with_metadata(facts)
    count = 0
    with atomic_path(path) as draft, pq.ParquetWriter(draft, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch.replace_schema_metadata(facts))
            count += batch.num_rows
    return count


class _CountedRows:
    """Rows, counted as they are iterated."""

    def __init__(self, rows: Iterable[ExportRow]) -> None:
        self._rows = rows
        self.count = 0

    def __iter__(self) -> Iterator[ExportRow]:
        for row in self._rows:
            self.count += 1
            yield row
