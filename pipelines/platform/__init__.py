"""Access to the platform and the chart: HTTP client, parsers, providers, profiles.

No other package contacts a host. No Dagster, no FastAPI. No httpx2 error leaves this package:
errors are those of `warehouse.records.errors`, records those of `warehouse.records`.
"""
