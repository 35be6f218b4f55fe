"""Imports of libraries without what they load and never use here.

`jsonschema`, which Altair and notebooks bring, looks for `rfc3987_syntax` to check addresses; if
Jupyter has installed that, it builds a grammar when it is imported, which costs a report 4 s.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_GRAMMAR = "rfc3987_syntax"


@contextmanager
def without_address_grammar() -> Iterator[None]:
    """Import inside of this as if the checker of addresses were not installed."""
    if _GRAMMAR in sys.modules:
        yield
        return
    sys.modules[_GRAMMAR] = None  # type: ignore[assignment]  # the import system's way to refuse
    try:
        yield
    finally:
        sys.modules.pop(_GRAMMAR, None)
