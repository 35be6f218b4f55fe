"""Looks that may hang, each in a daemon thread: a dead disk or server must not hold the report."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future


def begin[T](look: Callable[[], T], *, name: str) -> Future[T]:
    """Run `look` in a thread that does not keep the process alive."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            found = look()
        except BaseException as error:  # noqa: BLE001  # whatever it is, the asker is told
            future.set_exception(error)
        else:
            future.set_result(found)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future


async def within[T](look: Callable[[], T], seconds: float, *, name: str) -> T:
    """What `look` returns.

    Raises:
        TimeoutError: It takes longer; the thread is left behind.
    """
    # shielded: a future that is cancelled could not be set by its thread any more
    waiting = asyncio.wrap_future(begin(look, name=name))
    return await asyncio.wait_for(asyncio.shield(waiting), seconds)
