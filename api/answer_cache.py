"""Answers to reads that are kept in memory: what a route says of its answer.

A route calls `keep` beside `read`. Not here: jobs that are polled (`job_answers.py`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from starlette.types import Scope

from pipelines.captures.batch import entity_of

WISH = "keep"


@dataclass(frozen=True, slots=True)
class Wish:
    """An answer may be kept: until then, and as long as nothing new is known of the entities."""

    entities: frozenset[str]
    until: datetime | None


def keep(
    scope: Scope, *, entities: Iterable[tuple[str, str]] = (), until: datetime | None = None
) -> None:
    """Say that the answer to this read may be kept for whoever asks the same.

    Args:
        scope: Of the request; its path and raw query are what "the same" means.
        entities: (surface, entity id) of the captures that the answer depends on. Any new capture
            of one of them, in whatever process, ends the keeping.
        until: Aware; when the answer ends to hold by itself, as by its freshness. None: it does not.
    """
    names = frozenset(entity_of(surface, entity_id) for surface, entity_id in entities)
    scope["state"][WISH] = Wish(names, until)
