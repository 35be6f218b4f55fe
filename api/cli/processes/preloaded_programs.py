"""Everything that the programs of `sametrack up` load, loaded once before they are forked."""

import atexit
import gc
import os

from pipelines.freed_memory import give_back_memory, limit_heaps
from pipelines.hidden_modules import hidden_modules

# ruff: noqa: E402
gc.disable()  # until everything is loaded: nothing of that is garbage
limit_heaps()

with hidden_modules("mako.ext.pygmentplugin"):  # colours for errors in templates: 6 MB of lexers
    from api.cli.processes import dagster_ui  # noqa: F401
from api import process  # noqa: F401 -- the service
from pipelines.orchestration import (
    dagster_compat,
    definitions,  # noqa: F401
)
from pipelines.orchestration.worker import worker  # noqa: F401

dagster_compat.load_for_instances()
give_back_memory()
gc.freeze()  # a collection in a fork would touch, and so copy, what it shares
gc.enable()
atexit.register(os._exit, 0)  # nothing is left to do at its end, where DuckDB reports its leaks
