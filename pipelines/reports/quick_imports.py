"""Imports of libraries without what they load and never use here.

`jsonschema`, which Altair and notebooks bring, looks for `rfc3987_syntax` to check addresses; if
Jupyter has installed that, it builds a grammar when it is imported, which costs a report 4 s.
Libraries for two other formats cost 0.1 s. Papermill looks for clients of cloud storage, 1 s; our
notebooks are local files.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_UNUSED = ("rfc3987_syntax", "isoduration", "rfc3986_validator", "boto3", "pyarrow.fs")


@contextmanager
def without_unused() -> Iterator[None]:
    """Import inside of this as if the unused libraries were not installed."""
    blocked = [name for name in _UNUSED if name not in sys.modules]
    for name in blocked:
        sys.modules[name] = None  # type: ignore[assignment]  # the import system's way to refuse
    try:
        yield
    finally:
        for name in blocked:
            sys.modules.pop(name, None)
