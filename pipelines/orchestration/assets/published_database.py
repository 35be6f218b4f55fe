"""The asset of the published database: all marts as one DuckDB file for other tools.

Not here: writing and verifying the file (`warehouse/exports/published_database.py`).
"""

import dagster as dg

from pipelines.orchestration.assets.decorators import OWNERS, Result
from pipelines.orchestration.assets.tables import asset_key
from pipelines.orchestration.failures import reasons_as_failures
from pipelines.orchestration.resources import PublishingResource
from warehouse.exports.published_database import LAYER
from warehouse.tables import TABLES

DATABASE = dg.AssetKey(["published", "database"])
GROUP = "publishing"


MARTS = [asset_key(table) for table in TABLES if table.name.startswith(f"{LAYER}.")]
_ABOUT = dg.TableSchema(
    columns=[
        dg.TableColumn("name", "text", description="property: world, is_demo_data, as_of, ..."),
        dg.TableColumn("value", "text", description="its value for this file"),
    ],
    constraints=dg.TableConstraints(other=["the table `main.about`; the marts are as in the lake"]),
)


@dg.asset(
    key=DATABASE,
    deps=MARTS,
    metadata={"dagster/column_schema": _ABOUT},
    group_name=GROUP,
    owners=OWNERS,
    kinds={"duckdb"},
)
def database(publishing: dg.ResourceParam[PublishingResource]) -> Result:
    """All marts as one DuckDB file, every table and column with its comment."""
    with reasons_as_failures():
        published = publishing.publish()
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": sum(published.row_counts.values()),
            "file": dg.MetadataValue.text(
                f"published/{published.path.name} in the home of this world"
            ),
            "size_bytes": published.size_bytes,
            "rows_by_table": dg.MetadataValue.json(dict(published.row_counts)),
        }
    )
