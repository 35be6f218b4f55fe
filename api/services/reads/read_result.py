"""The result of a synchronous read: its `data`, and how long it may be cached."""

from dataclasses import dataclass
from datetime import datetime

from pipelines.platform.providers import is_experimental
from warehouse.records.values import Document


@dataclass(frozen=True, slots=True)
class ReadResult:
    """`data` with the captures (surface, entity id) that it depends on.

    `until` is the expiry time. `is_cacheable` False: the result must not be cached.
    """

    document: Document
    entities: tuple[tuple[str, str], ...] = ()
    until: datetime | None = None
    is_cacheable: bool = True


def with_provenance(document: Document, *, data_provider: str, is_demo: bool) -> Document:
    """Add the data source, the experimental mark and the demo mark to `data`."""
    return {
        **document,
        "data_provider": data_provider,
        "is_experimental": is_experimental(data_provider),
        "is_demo_data": is_demo,
    }
