"""Partitions: what one run of the scan is about. Definitions only."""

from dagster import DynamicPartitionsDefinition

from warehouse.records.jobs import KEYWORD_SEARCH

tracks = DynamicPartitionsDefinition(name="tracks")
"""One partition per track ever scanned, `music:<music_id>`, or name searched, `keyword:<hash>`."""


watchlists = DynamicPartitionsDefinition(name="watchlists")
"""One partition per watchlist, by its name."""


def partition_key(kind: str, subject: str) -> str:
    """Partition key of what a job is about; the subject of a keyword search is one already."""
    return f"music:{subject}" if kind != KEYWORD_SEARCH else subject
