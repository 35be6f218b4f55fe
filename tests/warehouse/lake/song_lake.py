"""A lake with a table of two columns, for tests of the promises of the lake."""

from dataclasses import replace

from deltalake import DeltaTable

from warehouse.lake.store import Lake, open_lake
from warehouse.tables import Column, Table
from warehouse.tables.column import TEXT, TIME

SONGS = "raw.songs"
TABLE = Table(
    SONGS,
    "song",
    ("song_id",),
    (
        Column("song_id", TEXT, "song", required=True),
        Column("title", TEXT, "title"),
        Column("committed_at", TIME, "when written", required=True),
    ),
)
OTHER = replace(TABLE, name="raw.others")
MB = 1024 * 1024


def opened(url: str, *tables: Table, free_mb: int = 1000) -> Lake:
    return open_lake(
        url, world="sandbox", tables=tables or (TABLE, OTHER), free=lambda _folder: free_mb * MB
    )


def songs(*ids: str) -> list[dict[str, object]]:
    return [{"song_id": song_id, "title": f"song {song_id}"} for song_id in ids]


def stored(lake: Lake, name: str = SONGS) -> list[tuple[str, str | None]]:
    rows = DeltaTable(lake.path(name)).to_pyarrow_table().to_pylist()
    return sorted((row["song_id"], row["title"]) for row in rows)


def titled(*ids: str) -> list[tuple[str, str]]:
    return [(song_id, f"song {song_id}") for song_id in ids]


def are_compressed(lake: Lake) -> bool:
    """Whether every file was written as the layout wants it."""
    return all(".zstd." in file for file in lake.files(SONGS))
