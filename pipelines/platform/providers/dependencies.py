"""Dependencies of a provider: the settings, the platform profile and the control store.

Each builder of the provider table takes what it needs; most open a guest client.
"""

from dataclasses import dataclass
from functools import partial

from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.http import rate_limiter
from pipelines.platform.http.client import GuestClient, HttpLimits
from pipelines.platform.http.host_policy import HostPolicy, build_host_policy
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.sources.planner import SickPolicy
from pipelines.settings import Settings
from warehouse.control import ControlStore
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries.captures import read_body


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderDependencies:
    """Dependencies of the providers in one process. Nothing is opened before a source needs it.

    `engine` has the archived bodies; without it no request is conditional. `for_user`: the answers
    go to a user directly, not to a job.
    """

    settings: Settings
    profile: PlatformProfile
    control: ControlStore
    limits: HttpLimits | None = None
    engine: Engine | None = None
    clock: Clock = MACHINE_CLOCK
    for_user: bool = False

    @property
    def sick_policy(self) -> SickPolicy:
        """When sources are asked although all of them withhold their data."""
        return SickPolicy.ONCE if self.for_user else SickPolicy.IF_DUE

    @property
    def wants_fallback(self) -> bool:
        """True if demo data is to replace what a public source refuses."""
        return self.for_user and self.settings.public_fallback_to_mock

    def turns(self) -> rate_limiter.HostRateLimiter:
        """Rate limiter of the platform's hosts."""
        rate = self.profile.rate
        return rate_limiter.HostRateLimiter(
            self.control,
            rate,
            daily_budget=self.settings.daily_request_budget,
            max_wait_s=rate_limiter.HOST_MAX_WAIT_S
            if self.for_user
            else rate_limiter.max_wait_at(rate),
            clock=self.clock,
        )

    def host_policy(self) -> HostPolicy:
        """Circuits, revalidation and robots.txt decisions, shared with all processes."""
        return build_host_policy(
            self.profile,
            self.control,
            obeys_robots=self.settings.robots == "obey",
            read_body=None if self.engine is None else partial(read_body, self.engine),
            clock=self.clock,
        )

    def guest(self) -> GuestClient:
        """Open a guest client; the caller closes it."""
        return GuestClient(
            self.profile, self.turns(), limits=self.limits, host_policy=self.host_policy()
        )
