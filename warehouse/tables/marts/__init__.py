"""Tables of conclusions, by subject; all but those of the chart belong to jobs of scans.

`MARTS` has those that a scan can write, `CATALOG_MARTS` those of catalogues, `CHART_MARTS` those of
the chart.
"""

from warehouse.tables.column import Table
from warehouse.tables.marts.charts import CHART_MARTS
from warehouse.tables.marts.coverage import COVERAGE_MARTS
from warehouse.tables.marts.scans import CATALOG_MARTS, CONCLUSIONS
from warehouse.tables.marts.steps import STEP_MARTS

__all__ = ["CATALOG_MARTS", "CHART_MARTS", "MARTS"]

MARTS: tuple[Table, ...] = (*STEP_MARTS, *CONCLUSIONS, *COVERAGE_MARTS)
