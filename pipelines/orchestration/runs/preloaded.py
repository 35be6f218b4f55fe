"""Everything that scan processes and look-ups load, loaded once before they are forked."""

import gc

# ruff: noqa: E402
gc.disable()  # until everything is loaded: nothing of that is garbage

# What libraries load when they are first used: the HTTP client, and the storage of Dagster.
import httpcore2  # noqa: F401
import truststore  # noqa: F401
import upath.implementations.local  # noqa: F401

from pipelines.audio.index import reference_index
from pipelines.audio.matching import verify
from pipelines.catalog import sound_matches  # noqa: F401 -- what look-ups need
from pipelines.freed_memory import give_back_memory
from pipelines.orchestration import storage  # noqa: F401
from pipelines.orchestration.runs import scan_runs

verify.warm_up()
reference_index.warm_up()
scan_runs.scan_jobs()
give_back_memory()
gc.freeze()  # a collection in a fork would touch, and so copy, what it shares
gc.enable()
