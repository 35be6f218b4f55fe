"""Reports from notebooks: list them, run one, render its page as HTML and PDF.

Not here: the content of a report (`pipelines/reports/figures` and the notebook itself). Libraries
that run notebooks are imported only to run one.
"""
