"""What the notebooks share: a report of the warehouse as of a moment, its reads and its plots.

Imported by `notebooks/` and loads Altair, so by nothing else. Every read names an order and sees
only what was committed until the report's moment: the same moment gives the same tables. Not here:
running notebooks, pages, printing (`pipelines/reports`).
"""

from warehouse.reporting.opening import open_report

__all__ = ["open_report"]
