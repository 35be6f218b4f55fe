"""Everything that scan processes and look-ups load, loaded once before they are forked."""

import gc

# ruff: noqa: E402
gc.disable()  # until everything is loaded: nothing of that is garbage

from pipelines.audio.index import reference_index
from pipelines.audio.matching import verify
from pipelines.catalog import sound_matches  # noqa: F401 -- what look-ups need
from pipelines.freed_memory import give_back_memory
from pipelines.orchestration.runs import scan_runs  # noqa: F401 -- what scans need

verify.warm_up()
reference_index.warm_up()
give_back_memory()
gc.freeze()  # a collection in a fork would touch, and so copy, what it shares
gc.enable()
