"""The only code that talks to the outside: gate, client, parsers, providers.

No Dagster, no FastAPI. Nothing of httpx2 leaves this package: errors are those of
`pipelines.domain.errors`, records those of `pipelines.domain.records`.
"""
