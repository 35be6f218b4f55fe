"""Partitions: what one run of the scan is about. Definitions only."""

from dagster import DynamicPartitionsDefinition

tracks = DynamicPartitionsDefinition(name="tracks")
"""One partition per track ever scanned: `music:<music_id>`."""


def track_partition(music_id: str) -> str:
    """Partition key of a track."""
    return f"music:{music_id}"
