"""Shared code of the notebooks: a report of the warehouse as of a moment, its queries and plots.

Imports Altair, so only `notebooks/reports/` import it. Every query has an explicit order and sees
only data committed until the moment of the report: the same moment gives the same tables.
"""

from pipelines.reports.figures.report import open_report

__all__ = ["open_report"]
