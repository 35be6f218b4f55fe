"""Partition definitions: tracks and watchlists."""

from dagster import DynamicPartitionsDefinition

from warehouse.records.jobs import KEYWORD_SEARCH

MUSIC_PARTITION = "music:"

tracks = DynamicPartitionsDefinition(name="tracks")
"""One partition per scanned track, `music:<music_id>`, or searched name, `keyword:<hash>`."""


watchlists = DynamicPartitionsDefinition(name="watchlists")
"""One partition per watchlist, by its name."""


def partition_key(kind: str, subject: str) -> str:
    """Return the partition key of a job's subject; that of a keyword search is one already."""
    return f"{MUSIC_PARTITION}{subject}" if kind != KEYWORD_SEARCH else subject
