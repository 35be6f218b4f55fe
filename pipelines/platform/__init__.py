"""The outside world: the only code that talks to it. HTTP client, parsers, providers, profiles.

No Dagster, no FastAPI. No error of httpx2 leaves this package: errors are those of
`warehouse.records.errors`, records those of `warehouse.records`.
"""
