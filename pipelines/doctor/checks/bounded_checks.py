"""Runs checks that may hang in daemon threads: a dead disk or server must not block the report."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future


def start_daemon_check[T](look: Callable[[], T], *, name: str) -> Future[T]:
    """Run `look` in a daemon thread."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            found = look()
        except BaseException as error:  # noqa: BLE001  # passed on to the caller
            future.set_exception(error)
        else:
            future.set_result(found)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future


async def run_with_timeout[T](look: Callable[[], T], seconds: float, *, name: str) -> T:
    """Return the result of `look`.

    Raises:
        TimeoutError: It takes longer; the thread is abandoned.
    """
    # shielded: the thread could not set the result of a cancelled future
    waiting = asyncio.wrap_future(start_daemon_check(look, name=name))
    return await asyncio.wait_for(asyncio.shield(waiting), seconds)
