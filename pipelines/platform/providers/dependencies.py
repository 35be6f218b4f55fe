"""Dependencies of a provider: the settings, the platform profile and the control store.

Each builder of the provider table takes what it needs; most open a guest client.
"""

from dataclasses import dataclass

from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.http.client import GuestClient, HttpLimits
from pipelines.platform.http.host_policy import Manners, PoliteBook, build_manners
from pipelines.platform.http.politeness import Turns
from pipelines.platform.http.revalidation import Bodies
from pipelines.platform.profiles import Profile
from pipelines.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplies:
    """Dependencies of the providers in one process. Nothing is opened before a source needs it.

    `bodies` is the archive; without it no request is conditional.
    """

    settings: Settings
    profile: Profile
    control: PoliteBook
    limits: HttpLimits | None = None
    bodies: Bodies | None = None
    clock: Clock = MACHINE_CLOCK

    def turns(self) -> Turns:
        """Rate limiter of the platform's hosts."""
        budget = self.settings.daily_request_budget
        return Turns(self.control, self.profile.rate, daily_budget=budget, clock=self.clock)

    def manners(self) -> Manners:
        """Circuits, revalidation and robots.txt decisions, shared with all processes."""
        return build_manners(
            self.profile,
            self.control,
            is_robots_obeyed=self.settings.robots == "obey",
            bodies=self.bodies,
            clock=self.clock,
        )

    def guest(self) -> GuestClient:
        """Open a guest client; the caller closes it."""
        return GuestClient(self.profile, self.turns(), limits=self.limits, manners=self.manners())
