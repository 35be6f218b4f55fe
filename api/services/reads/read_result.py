"""The result of a synchronous read: its `data`, and how long it may be cached."""

from dataclasses import dataclass
from datetime import datetime

from api.schemas.lists import Provenance
from pipelines.platform.providers import is_experimental


@dataclass(frozen=True, slots=True)
class ReadResult[Answer]:
    """`data` with the captures (surface, entity id) that it depends on.

    `until` is the expiry time. `is_cacheable` False: the result must not be cached.
    """

    document: Answer
    entities: tuple[tuple[str, str], ...] = ()
    until: datetime | None = None
    is_cacheable: bool = True


def provenance(data_provider: str, *, is_demo: bool) -> Provenance:
    """Return the data source with its experimental mark and its demo mark."""
    return {
        "data_provider": data_provider,
        "is_experimental": is_experimental(data_provider),
        "is_demo_data": is_demo,
    }
