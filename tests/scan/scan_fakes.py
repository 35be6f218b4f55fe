"""What every fake of a scan shares: it waits for nothing, and nobody watches or cancels it."""

import asyncio
from collections.abc import Coroutine
from contextlib import AbstractContextManager, nullcontext


class FakeScan:
    """The part of a scan that each of its steps needs."""

    def wait_for[T](self, coroutine: Coroutine[object, object, T]) -> T:
        return asyncio.run(coroutine)

    def waiting(self, kind: str) -> AbstractContextManager[None]:
        assert kind == "upstream", "nothing is heard here"
        return nullcontext()

    def check_cancelled(self) -> None:
        """Nobody cancels."""

    def update_progress(self) -> None:
        """Nobody watches the progress."""
