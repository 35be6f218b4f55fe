"""Everything that scan processes and look-ups load, loaded once before they are forked."""

import gc
import importlib
from contextlib import suppress

import pyarrow as pa

from pipelines.freed_memory import give_back_memory, limit_heaps

# ruff: noqa: E402
gc.disable()  # until everything is loaded: nothing of that is garbage
limit_heaps()
pa.set_memory_pool(pa.system_memory_pool())  # trimming a heap of its own would give back little

from pipelines.audio.index import reference_index
from pipelines.audio.matching import verify
from pipelines.catalog import sound_matches  # noqa: F401 -- what look-ups need
from pipelines.orchestration import (
    dagster_compat,
    storage,  # noqa: F401 -- what Dagster's instance loads
)
from pipelines.orchestration.runs import scan_runs

LOADED_LATER = ("httpcore2", "truststore")
"""What the HTTP client imports when it is first used."""

for name in LOADED_LATER:
    with suppress(ImportError):  # another version of them does without
        importlib.import_module(name)
verify.warm_up()
reference_index.warm_up()
scan_runs.scan_jobs()
dagster_compat.load_for_instances()
give_back_memory()
gc.freeze()  # a collection in a fork would touch, and so copy, what it shares
gc.enable()
