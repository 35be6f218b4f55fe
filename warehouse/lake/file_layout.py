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

GROUP_ROWS = 16_384
PLAIN = WriterProperties(compression="ZSTD", compression_level=3)
_FILTER = BloomFilterProperties(set_bloom_filter_enabled=True, fpp=0.01, ndv=GROUP_ROWS)


def writer_of(name: str) -> WriterProperties:
    """For files that are written anew: small row groups, each with a filter of what the column
    that the table is asked by holds.

    The readers' ranges know eight bytes of a text, and all ids of accounts begin with the same
    twelve; the order itself goes by sixteen.
    """
    column = ARRANGED_BY.get(name)
    if column is None:
        return PLAIN
    return WriterProperties(
        compression="ZSTD",
        compression_level=3,
        max_row_group_size=GROUP_ROWS,
        column_properties={column: ColumnProperties(bloom_filter_properties=_FILTER)},
    )
