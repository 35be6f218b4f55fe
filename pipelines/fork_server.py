"""Processes that are forked from one which has loaded what a scan needs, and end with their parent.

The fork server of `multiprocessing` loads it once, runs no thread, and ends by itself when nobody
is left who could ask it for a process.
"""

import multiprocessing
import os
import threading
from multiprocessing.context import ForkServerContext

PRELOADED = "pipelines.orchestration.runs.preload"
"""A name, because the module is of a layer above this one."""


def fork_server_context() -> ForkServerContext:
    """Return the context whose processes have everything loaded that a scan needs."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([PRELOADED])
    return context


def exit_with_parent() -> None:
    """End this process when the one that asked for it is gone for any reason."""
    parent = multiprocessing.parent_process()
    if parent is None:  # not started by `multiprocessing`
        return

    def wait() -> None:
        parent.join()
        os._exit(1)  # whatever the main thread does, nobody waits for it

    threading.Thread(target=wait, name="exit-with-parent", daemon=True).start()
