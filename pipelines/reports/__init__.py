"""Reports from notebooks: list them, run one, render its page as HTML and PDF.

Not here: the content of a report (`pipelines/reports/figures` and the notebook itself). Libraries
that run notebooks are imported only to run one.
"""

PART_TYPE = "application/vnd.sametrack.part+json"
"""The name by which a page finds its parts among the outputs of a notebook. It is here because the
page must not load what draws them."""
