"""Limits of a live check: so many requests in all, and one to each surface."""

from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.call_trace import HttpResponse, record_response
from pipelines.platform.http.client import GuestClient, HttpRequest
from pipelines.platform.http.rate_limiter import HostRateLimiter, HostRateStore
from pipelines.platform.profiles import HostRate
from warehouse.records.errors import BudgetSpentError

REQUEST_LIMIT = 20
"""Requests of one live check, with redirects and robots.txt."""
LIMIT_REACHED = "request_limit"


class CountedTurns(HostRateLimiter):
    """The rate limiter of all clients, which also ends a live check after its last request."""

    def __init__(
        self,
        store: HostRateStore,
        rate: HostRate,
        *,
        daily_budget: int,
        max_wait_s: float,
        limit: int = REQUEST_LIMIT,
        clock: Clock = MACHINE_CLOCK,
    ) -> None:
        super().__init__(store, rate, daily_budget=daily_budget, max_wait_s=max_wait_s, clock=clock)
        self.limit = limit
        self.used = 0

    @property
    def left(self) -> int:
        """Requests that may still be sent."""
        return self.limit - self.used

    async def wait(self, host: str, *, surface: str) -> None:
        """Wait for a turn, if a request is left.

        Raises:
            BudgetSpentError: The limit of this live check is reached.
        """
        if self.left <= 0:
            raise BudgetSpentError(
                f"the limit of {self.limit} requests is reached",
                surface=surface,
                reason=LIMIT_REACHED,
            )
        self.used += 1  # before the wait, so that no two tasks take the last one
        await super().wait(host, surface=surface)


class OneRequestClient(GuestClient):
    """Asks each surface once: whoever asks again gets the first response again.

    A reader asks again where a first response only set cookies. What a single visit gets is what a
    live check reports.
    """

    async def fetch(self, ask: HttpRequest) -> HttpResponse:
        """Read a page or a JSON body into memory."""
        if not hasattr(self, "_answers"):
            self._answers: dict[str, HttpResponse] = {}
        known = self._answers.get(ask.surface)
        if known is None:
            known = self._answers[ask.surface] = await super().fetch(ask)
        else:
            record_response(known)
        return known
