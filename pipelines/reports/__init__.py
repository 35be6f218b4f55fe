"""Reports out of notebooks: which there are, running one, and its page as HTML and PDF.

What a report reads and shows is in `pipelines/reports/figures` and the notebook itself.
Libraries that
run notebooks are loaded when one is run, not to list them.
"""
