"""One scan of one track: collect, listen, conclude. No Dagster, no HTTP of its own.

The assets in `pipelines/orchestration/assets` call these functions in order and report what they
did; tests
call them without Dagster. Everything that a scan learns is in its `ScanSession`.
"""
