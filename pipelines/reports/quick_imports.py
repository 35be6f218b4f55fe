"""Imports of libraries without what they load and never use here.

`jsonschema`, which Altair and notebooks bring, looks for `rfc3987_syntax` to check addresses; if
Jupyter has installed that, it builds a grammar when it is imported, which costs a report 4 s.
Libraries for two other formats cost 0.1 s. Papermill looks for clients of cloud storage, 1 s; our
notebooks are local files.
"""

from contextlib import AbstractContextManager

from pipelines.hidden_modules import hidden_modules

_UNUSED = ("rfc3987_syntax", "isoduration", "rfc3986_validator", "boto3", "pyarrow.fs")


def without_unused() -> AbstractContextManager[None]:
    """Import inside of this as if the unused libraries were not installed."""
    return hidden_modules(*_UNUSED)
