"""The assets of reports: each notebook of `notebooks/` as a page, its parameters by run config.

What a report shows is in its notebook; how it is made in `pipelines/reports`.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagster import (
    AssetExecutionContext,
    AssetKey,
    AssetsDefinition,
    Field,
    MaterializeResult,
    MetadataValue,
    ResourceParam,
    TableColumn,
    TableRecord,
    TableSchema,
    asset,
)

from pipelines.orchestration.assets.decorators import OWNERS
from pipelines.orchestration.report_resource import ReportResource
from pipelines.reports.catalogue import Notebook, read_catalogue
from warehouse.records.errors import InvalidParameterError

if TYPE_CHECKING:
    from pipelines.reports.build import Made

GROUP = "reports"
_AS_OF = "a date or a time: only what was committed until then; empty: the newest commit"
_PDF = "as PDF, too; needs Chromium"
_BESIDE = TableSchema(
    columns=[
        TableColumn("file", "string", description="table beside the page, as CSV"),
        TableColumn("size_bytes", "int", description="its size [bytes]"),
    ]
)
"""A page is no table; what lies beside it is one."""


def _schema(notebook: Notebook) -> dict[str, Field]:
    """What the launchpad offers: the notebook's parameters, the moment, and whether to print."""
    given = {
        one.name: Field(
            one.type, default_value=one.default, is_required=False, description=one.meaning
        )
        for one in notebook.parameters
    }
    return given | {
        "as_of": Field(str, default_value="", is_required=False, description=_AS_OF),
        "with_pdf": Field(bool, default_value=False, is_required=False, description=_PDF),
    }


def _asset_of(notebook: Notebook) -> AssetsDefinition:
    @asset(
        key=AssetKey(["reports", notebook.name]),
        deps=[AssetKey(name.split(".")) for name in notebook.reads],
        group_name=GROUP,
        owners=OWNERS,
        kinds={"jupyter", "html"},
        metadata={"dagster/column_schema": _BESIDE},
        description=f"{notebook.title}: {notebook.purpose}",
        config_schema=_schema(notebook),
        output_required=False,
    )
    def page(
        context: AssetExecutionContext, reports: ResourceParam[ReportResource]
    ) -> Iterator[MaterializeResult[Any]]:
        config = dict(context.op_execution_context.op_config)
        usual = {one.name: one.default for one in notebook.parameters}
        try:
            made = reports.make(notebook, config, run_id=context.run.run_id)
        except InvalidParameterError as error:
            if any(config[name] != value for name, value in usual.items()) or config["as_of"]:
                raise
            # Nothing was asked and there is nobody to tell of yet: no fault of a scheduled run.
            context.log.warning("no report: %s", error)
            return
        yield MaterializeResult(metadata=_told(made))

    return page


def _told(made: "Made") -> dict[str, MetadataValue[Any]]:
    told: dict[str, MetadataValue[Any]] = {
        "page": _place(made.page),
        "size_bytes": MetadataValue.int(made.page.stat().st_size),
        "tables": MetadataValue.table(records=_records(made.tables), schema=_BESIDE),
        "is_demo_data": MetadataValue.bool(made.is_demo),
    }
    return told if made.pdf is None else {**told, "pdf": _place(made.pdf)}


def _place(file: Path) -> MetadataValue[Any]:
    """Where a file lies, without a path of the machine."""
    return MetadataValue.text(f"reports/{file.name} in the home of this world")


def _records(tables: Sequence[Path]) -> list[TableRecord]:
    return [TableRecord({"file": one.name, "size_bytes": one.stat().st_size}) for one in tables]


REPORTS = tuple(_asset_of(notebook) for notebook in read_catalogue())
