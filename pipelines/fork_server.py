"""Processes that are forked from a server which has loaded what they need."""

import multiprocessing
import os
import threading
from multiprocessing.context import ForkServerContext

PRELOADED = "pipelines.preload"
"""The module that the server loads. A name, since it is of a layer above this one."""


def fork_server_context() -> ForkServerContext:
    """Return the context of the fork server; the first process that is started starts it, too."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([PRELOADED])
    return context


def exit_with_parent() -> None:
    """End this process when the one that started it is gone for any reason, a kill included.

    Without effect in a program that `multiprocessing` did not start.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, name="follow-parent", daemon=True).start()
