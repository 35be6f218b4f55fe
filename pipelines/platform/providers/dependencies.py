"""What a source may be built from: the settings, the platform's addresses and the hosts' book.

Each entry of the provider table takes from it what it needs; most open a guest client.
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
    """The means of one process. Nothing is open until a source asks for it. `bodies` are those of
    the archive; without them nothing is asked conditionally.
    """

    settings: Settings
    profile: Profile
    control: PoliteBook
    limits: HttpLimits | None = None
    bodies: Bodies | None = None
    clock: Clock = MACHINE_CLOCK

    def turns(self) -> Turns:
        """Turns at the platform's hosts."""
        budget = self.settings.daily_request_budget
        return Turns(self.control, self.profile.rate, daily_budget=budget, clock=self.clock)

    def manners(self) -> Manners:
        """Circuits, memory and robots decisions, shared with all processes."""
        return build_manners(
            self.profile,
            self.control,
            is_robots_obeyed=self.settings.robots == "obey",
            bodies=self.bodies,
            clock=self.clock,
        )

    def guest(self) -> GuestClient:
        """A guest's client of its own; whoever asks for it closes it."""
        return GuestClient(self.profile, self.turns(), limits=self.limits, manners=self.manners())
