"""Reports from notebooks: list them, run one, render its page as HTML and PDF.

Not here: the content of a report (`pipelines/reports/figures` and the notebook itself). Libraries
that run notebooks are imported only to run one.
"""

from functools import partial

from pipelines.hidden_modules import hidden_modules

PART_TYPE = "application/vnd.sametrack.part+json"
"""The name by which a page finds its parts among the outputs of a notebook. It is here because the
page must not load what draws them."""

without_unused = partial(
    hidden_modules, "rfc3987_syntax", "isoduration", "rfc3986_validator", "boto3", "pyarrow.fs"
)
"""Import inside of this as if the libraries that reports load and never use were not installed.

`jsonschema`, which Altair and notebooks bring, looks for `rfc3987_syntax` to check addresses; if
Jupyter has installed that, it builds a grammar when it is imported, which costs a report 4 s.
Libraries for two other formats cost 0.1 s. Papermill looks for clients of cloud storage, 1 s; our
notebooks are local files.
"""
