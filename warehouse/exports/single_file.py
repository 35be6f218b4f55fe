"""One table as one file on disk, written batch by batch if the format allows it."""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from warehouse.exports.atomic_files import drafting, write_whole
from warehouse.exports.export_table import Row, Table, columns_of, rows_of
from warehouse.exports.table_files import Method, csv_parts, to_xlsx


def write_table(
    path: Path,
    form: str,
    name: str,
    batches: Iterator[Any],
    method: Method,
    *,
    with_mark: bool,
) -> int:
    """Write the file atomically; returns its row count. The first batch carries the columns.

    `form`: csv, parquet or xlsx.

    Raises:
        InvalidParameterError: The file cannot be written there, or has too many rows for a sheet.
        WarehouseUnavailableError: The lake cannot be read.
    """
    first = next(batches)
    if form == "parquet":
        return _write_parquet(path, chain([first], batches), method)
    columns = columns_of(first.schema)
    counted = _Counted(rows_of(chain([first], batches)))
    if form == "csv":
        write_whole(path, csv_parts(columns, counted, with_mark=with_mark))
    else:
        write_whole(path, [to_xlsx(Table(name, columns, tuple(counted)), method)])
    return counted.count


def _write_parquet(path: Path, batches: Iterator[Any], method: Method) -> int:
    first = next(batches)
    facts = {f"sametrack.{name}": value for name, value in method.facts}
    schema = first.schema.with_metadata(facts)
    count = 0
    with drafting(path) as draft, pq.ParquetWriter(draft, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch.replace_schema_metadata(facts))
            count += batch.num_rows
    return count


class _Counted:
    """Rows, counted as they are iterated."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = rows
        self.count = 0

    def __iter__(self) -> Iterator[Row]:
        for row in self._rows:
            self.count += 1
            yield row
