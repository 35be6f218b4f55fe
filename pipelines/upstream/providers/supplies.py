"""What a source may be built from: the settings, the platform's addresses and the hosts' book.

Each entry of the provider table takes from it what it needs; most open a guest client.
"""

from dataclasses import dataclass

from pipelines.settings import Settings
from pipelines.upstream.http import GuestClient, HttpLimits
from pipelines.upstream.politeness import HostBook, Turns
from pipelines.upstream.profiles import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplies:
    """The means of one process. Nothing is open until a source asks for it."""

    settings: Settings
    profile: Profile
    control: HostBook
    limits: HttpLimits | None = None

    def turns(self) -> Turns:
        """Turns at the platform's hosts."""
        budget = self.settings.daily_request_budget
        return Turns(self.control, self.profile.rate, daily_budget=budget)

    def guest(self) -> GuestClient:
        """A guest's client of its own; whoever asks for it closes it."""
        return GuestClient(self.profile, self.turns(), limits=self.limits)
