"""What the notebooks share: a report of the warehouse as of a moment, its reads and its plots.

Imported by `notebooks/` and loads Altair, so by nothing else. Every read names an order and sees
only what was committed until the moment of the report: the same moment gives the same tables.
"""

from pipelines.reports.figures.report import open_report

__all__ = ["open_report"]
