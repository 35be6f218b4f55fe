"""How the files of a table are written: by which column it is asked, and what helps to find a row.

Here: properties of files. Not here: when files are written anew (`lake`, `arranging`).
"""

from collections.abc import Mapping

from deltalake import BloomFilterProperties, ColumnProperties, WriterProperties

ARRANGED_BY: Mapping[str, str] = {
    "raw.captures": "entity_id",
    "raw.capture_items": "entity_id",
    "raw.videos": "aweme_id",
    "raw.accounts": "sec_uid",
    "raw.tracks": "music_id",
    "raw.chart_songs": "volid",
}
"""The column that each table is asked by."""

SCATTERED = "raw.videos"
"""The works of a page lie all over this table, so a page unpacks twenty row groups or more of all
its columns, which was two thirds of its time. Half as large ones, packed for speed, take half as
long; still smaller ones cost more to choose among (five million rows: 16,384 rows with ZSTD 132 ms
of the processor, 8,192 with LZ4 64, 4,096 80). Its files are half as large again.
"""
PLAIN = WriterProperties(compression="ZSTD", compression_level=3)


def writer_of(name: str) -> WriterProperties:
    """For files that are written anew: small row groups, each with a filter of what the column
    that the table is asked by holds.

    The readers' ranges know eight bytes of a text, and all ids of accounts begin with the same
    twelve; the order itself goes by sixteen.
    """
    column = ARRANGED_BY.get(name)
    if column is None:
        return PLAIN
    is_scattered = name == SCATTERED
    rows = 8_192 if is_scattered else 16_384
    known = BloomFilterProperties(set_bloom_filter_enabled=True, fpp=0.01, ndv=rows)
    return WriterProperties(
        compression="LZ4_RAW" if is_scattered else "ZSTD",
        compression_level=None if is_scattered else 3,
        max_row_group_size=rows,
        column_properties={column: ColumnProperties(bloom_filter_properties=known)},
    )
