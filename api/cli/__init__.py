"""The `sametrack` command. One file per command group; `main.py` only registers them.

Commands parse options, call one thing below and print. Heavy imports (FastAPI, Dagster, DuckDB)
stay inside the functions that need them, so that `sametrack --help` answers at once.
"""
