"""Processes of a worker that are forked from one which has loaded everything that they need.

They start within milliseconds instead of seconds and share what was loaded. That one process is
started afresh and runs no thread of ours, so no fork inherits a lock that nobody releases.
"""

import multiprocessing
import os
import threading
import time
from multiprocessing.context import ForkServerContext

import psutil

PRELOADED = "pipelines.orchestration.runs.preloaded"
"""The module that loads it. A name, since it is of a layer above this one."""
_POLL_S = 0.5


def forking_context() -> ForkServerContext:
    """Return the context whose processes are forked from the one that has loaded everything."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([PRELOADED])
    return context


def exit_with(owner_pid: int) -> None:
    """Watch the process that asked for this one, and exit when it is gone for any reason.

    It is not the parent: that is the process that was forked.
    """

    def watch() -> None:
        try:
            owner = psutil.Process(owner_pid)
            while owner.is_running() and owner.status() != psutil.STATUS_ZOMBIE:
                time.sleep(_POLL_S)
        except psutil.NoSuchProcess:
            pass
        os._exit(1)

    threading.Thread(target=watch, name="follow-owner", daemon=True).start()
