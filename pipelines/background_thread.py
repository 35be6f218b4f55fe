"""A thread that works beside a process until it is asked to stop."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def background_thread(
    name: str, run: Callable[[threading.Event], None], *, wait_s: float | None = None
) -> Iterator[None]:
    """Run a function in a thread of its own; at the end, set its event and wait for it.

    The function returns soon after the event is set. It is waited for at most `wait_s` seconds;
    None: until it has ended.
    """
    stop = threading.Event()
    thread = threading.Thread(target=run, args=(stop,), name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(wait_s)
