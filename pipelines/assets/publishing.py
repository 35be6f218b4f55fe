"""The asset of the published database: all marts as one DuckDB file for other tools.

How the file is written and proven is in `warehouse/published.py`.
"""

from dagster import AssetKey, MaterializeResult, MetadataValue, ResourceParam, asset

from pipelines.assets.concluding import JOB_RESULTS
from pipelines.assets.decorators import OWNERS, Result
from pipelines.resources import PublishingResource

DATABASE = AssetKey(["published", "database"])
GROUP = "publishing"


@asset(key=DATABASE, deps=[JOB_RESULTS], group_name=GROUP, owners=OWNERS, kinds={"duckdb"})
def database(publishing: ResourceParam[PublishingResource]) -> Result:
    """All marts as one DuckDB file, every table and column with its comment."""
    made = publishing.publish()
    return MaterializeResult(
        metadata={
            "dagster/row_count": sum(made.row_counts.values()),
            "path": MetadataValue.path(made.path),
            "size_bytes": made.size_bytes,
            "rows_by_table": MetadataValue.json(dict(made.row_counts)),
        }
    )
