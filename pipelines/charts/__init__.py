"""The chart: back-fill its history and link its songs to music ids.

Operates on open stores, for Dagster, the command line and the API.
"""
