"""Which tables a query can read, by the names in it.

Only the tables that a query may read are opened and looked at, which in an object store is a
request each. A name in a text or a comment counts too: that costs a look, while a missing table
would cost its rows. A query that lists the tables, such as one of `information_schema`,
reads all.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from warehouse.engine.seen_views import CAPTURES, RELEASED_FROM, RELEASED_SONGS, REPLAYED
from warehouse.models import read_model
from warehouse.tables import STAR, Table

_NAME = re.compile(r'(?:(\w+)"?\s*\.\s*"?)?\b(\w+)')
"""A word with what qualifies it, if anything does: `raw.videos`, `v.aweme_id`, `videos`."""
_ANY_TABLE = re.compile(
    r"\b(query|query_table|information_schema|pg_catalog|sqlite_master|duckdb_\w+"
    r"|pragma\w*|show|describe)\b"
)
"""What reads a table whose name is computed, or lists the tables."""


def mentions_of(tables: Sequence[Table]) -> Callable[[str], frozenset[str]]:
    """Return a function from a query to the names of the tables that it can read."""
    reads = {table.name: frozenset({table.name}) for table in tables}
    everything = frozenset(reads)
    for table in tables:
        if table.name.startswith("raw."):
            reads[table.counted_name] = frozenset({table.name, CAPTURES}) & everything
    reads[REPLAYED] = frozenset({CAPTURES}) & everything
    reads[RELEASED_SONGS] = frozenset().union(*(reads.get(name, ()) for name in RELEASED_FROM))
    for view in STAR:  # in the order of their creation: one may read those before it
        reads[view.name] = frozenset().union(*_mentioned(read_model(view), reads))
    nouns: dict[str, frozenset[str]] = {}
    for name, needed in reads.items():
        noun = name.partition(".")[2]
        nouns[noun] = nouns.get(noun, frozenset()) | needed
    known = {**nouns, **reads}

    @lru_cache(maxsize=512)
    def mentions(sql: str) -> frozenset[str]:
        if _ANY_TABLE.search(sql.lower()):
            return everything
        return frozenset().union(*_mentioned(sql, known))

    return mentions


def _mentioned(sql: str, known: dict[str, frozenset[str]]) -> Iterator[frozenset[str]]:
    for schema, word in _NAME.findall(sql.lower()):
        found = known.get(f"{schema}.{word}" if schema else word)
        if found is not None:
            yield found
