"""File layout of the tables: sort columns, row groups, Bloom filters and compression."""

from collections.abc import Mapping

from deltalake import BloomFilterProperties, ColumnProperties, WriterProperties

SORT_COLUMNS: Mapping[str, str] = {
    "raw.captures": "entity_id",
    "raw.capture_items": "entity_id",
    "raw.videos": "aweme_id",
    "raw.accounts": "sec_uid",
    "raw.tracks": "music_id",
    "raw.chart_songs": "volid",
}
"""Column that each table is sorted by, because most queries filter on it."""

ROW_GROUP_SIZE = 16_384
ROW_GROUP_SIZES: Mapping[str, int] = {"raw.sounds": 32}
"""Other sizes: a row of features has 90 kB, and a lookup decompresses whole row groups."""
FILE_SIZE = 100 << 20
FILE_SIZES: Mapping[str, int] = {"raw.sounds": 32 << 20, "raw.scan_checkpoints": 8 << 20}
"""Bytes; files of this size are not merged any more. Merging takes four times as much memory, and
each merge rewrites the files of earlier merges: a scan adds 12 checkpoints of 30 kB."""
APPEND_PROPERTIES = WriterProperties(compression="ZSTD", compression_level=3)
_FILTER = BloomFilterProperties(set_bloom_filter_enabled=True, fpp=0.01, ndv=ROW_GROUP_SIZE)


def rewrite_properties(name: str) -> WriterProperties:
    """Return the writer properties of rewritten files.

    Small row groups with a Bloom filter on the sort column: Parquet statistics truncate text to
    eight bytes, and all account ids share their first twelve. The sort order itself uses sixteen.
    """
    column = SORT_COLUMNS.get(name)
    if column is None:
        return WriterProperties(
            compression="ZSTD",
            compression_level=3,
            max_row_group_size=ROW_GROUP_SIZES.get(name),
        )
    return WriterProperties(
        compression="ZSTD",
        compression_level=3,
        max_row_group_size=ROW_GROUP_SIZE,
        column_properties={column: ColumnProperties(bloom_filter_properties=_FILTER)},
    )


def file_size(name: str) -> int:
    """Return the size in bytes that files of a table are merged to."""
    return FILE_SIZES.get(name, FILE_SIZE)
