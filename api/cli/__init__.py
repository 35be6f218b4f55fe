"""The `sametrack` command line. One module per command group; `main.py` registers them.

A command parses its options, calls one service and prints the result. Heavy imports (FastAPI,
Dagster, DuckDB) stay inside the functions that need them, so that `sametrack --help` is fast.
"""

import gc
import os

# By default Python looks for garbage some 400 times while it loads a command, and finds none.
gc.set_threshold(10_000)
# Without it, pydantic reads the metadata of all installed packages to find plugins for itself.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
