"""The `sametrack` command line. One module per command group; `main.py` registers them.

A command parses its options, calls one service and prints the result. Heavy imports (FastAPI,
Dagster, DuckDB) stay inside the functions that need them, so that `sametrack --help` is fast.
"""
