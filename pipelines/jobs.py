"""Asset jobs: the named things that can be launched."""

from dagster import AssetSelection, define_asset_job

scan = define_asset_job(
    "scan",
    selection=AssetSelection.groups("scan"),
    description="One scan of one track. Started by the worker for a job of the queue.",
)
