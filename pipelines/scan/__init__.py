"""The stages of a scan: collect candidates, verify audio, conclude. No Dagster, no HTTP.

The assets in `pipelines/orchestration/assets` call these functions in order and report counts;
tests call them without Dagster. The state of a scan is in its `ScanRun`.
"""
