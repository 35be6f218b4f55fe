"""The exception that stop signals raise."""

import signal


class Interrupted(BaseException):
    """A stop signal arrived. A BaseException, so that no `except Exception` swallows it."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number
