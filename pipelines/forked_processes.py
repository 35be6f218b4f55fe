"""Processes of a worker that are forked from one which has loaded everything that they need.

They start within milliseconds instead of seconds and share what was loaded. That one process is
started afresh, or forked before its parent starts a thread, and runs no thread of ours: no fork
inherits a lock that nobody releases.
"""

import multiprocessing
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import NoReturn

import psutil
from setproctitle import setproctitle

PRELOADED = "pipelines.preload"
"""The module that loads it. A name, since it is of a layer above this one."""
_POLL_S = 0.5
_SOCKET = "socket"
_SOCKET_PATH_MAX = 103
"""Of macOS; on Linux it is 107."""


def forking_context() -> ForkServerContext:
    """Return the context whose processes are forked from the one that has loaded everything."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([PRELOADED])
    return context


def fork_server_here() -> None:
    """Fork that process from this one, which shares what it has loaded. Call it before any thread.

    Otherwise `multiprocessing` starts a Python process that loads everything once more: seconds of
    processor time, and 0.1 GB. It still does so when the forked one has ended.
    """
    folder = _make_socket_folder()
    with socket.socket(socket.AF_UNIX) as listener:
        address = f"{folder}/{_SOCKET}"
        listener.bind(address)
        listener.listen()
        all_gone, in_use = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(in_use)
            _serve_forks(listener, all_gone, folder)
        os.close(all_gone)
    # Its own way of setting these starts a new Python process; it has no other.
    server = vars(forkserver)["_forkserver"]
    vars(server).update(
        _forkserver_address=address, _forkserver_alive_fd=in_use, _forkserver_pid=pid
    )


def _make_socket_folder() -> str:
    """Make a folder for a socket: in `/tmp` if the path in `TMPDIR` would be too long for one."""
    name = "sametrack-forks-"
    is_long = len(f"{tempfile.gettempdir()}/{name}12345678/{_SOCKET}") > _SOCKET_PATH_MAX
    return tempfile.mkdtemp(prefix=name, dir="/tmp" if is_long else None)  # noqa: S108 -- of its own, 0700


def _serve_forks(listener: socket.socket, all_gone: int, folder: str) -> NoReturn:
    """Fork a process for each request, until `all_gone` says that nobody is left who could ask.

    A SIGTERM to the process group does not end it: while the worker stops, it may ask once more,
    and would start a new Python process for that. `folder` contains the socket.
    """
    setproctitle(f"{Path(sys.executable).name}: forks the scans of process {os.getppid()}")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))
    try:
        forkserver.main(listener.detach(), all_gone, [PRELOADED])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)


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
