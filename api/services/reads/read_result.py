"""What a synchronous read gives back: the `data`, and how long it may be told again."""

from dataclasses import dataclass
from datetime import datetime

from pipelines.documents.videos import Document
from pipelines.platform.providers import is_experimental


@dataclass(frozen=True, slots=True)
class Answer:
    """A `data` and the captures (surface, entity id) that it depends on.

    `until`: when it ends to hold by itself. `is_kept` False: it is not to be told again.
    """

    document: Document
    entities: tuple[tuple[str, str], ...] = ()
    until: datetime | None = None
    is_kept: bool = True


def marked(document: Document, *, data_provider: str, is_demo: bool) -> Document:
    """A `data` that says where it is from, whether that is tried out, or even invented."""
    return {
        **document,
        "data_provider": data_provider,
        "is_experimental": is_experimental(data_provider),
        "is_demo_data": is_demo,
    }
