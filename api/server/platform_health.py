"""Known state of the platform's surfaces: last probes, circuit breakers, robots decisions.

Reads stores and contacts no host. Blocks: routes call it in a thread. Not here: probing
(`pipelines/doctor`), readiness of this service (`health.py`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from api.responses.documents import to_document
from api.schemas.base_models import SurfaceState
from api.schemas.extensions.doctor import PlatformReport
from pipelines.doctor.documents import (
    to_circuit_documents,
    to_robots_documents,
    to_surface_documents,
)
from pipelines.documents.videos import to_time
from warehouse.control import CircuitState, RobotsDecision
from warehouse.records.health import SurfaceHealth


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformHealth:
    """State of the surfaces of one profile.

    Attributes:
        latest: Newest probe of each surface.
        last_worked: Time of the last successful read of each surface.
        circuits: State of the circuit breakers.
        robots: Decisions from the hosts' robots files.
        is_demo: True if the profile holds demo data.
    """

    latest: Callable[[], Mapping[str, SurfaceHealth]]
    last_worked: Callable[[], Mapping[str, datetime]]
    circuits: Callable[[], Sequence[CircuitState]]
    robots: Callable[[], Sequence[RobotsDecision]]
    is_demo: bool

    def document(self) -> PlatformReport:
        """Return the last report on every surface that was ever probed."""
        found = list(self.latest().values())
        newest = max((health.observed_at for health in found), default=None)
        return {
            "surfaces": to_surface_documents(found, last_worked=self.last_worked()),
            "observed_at": to_time(newest),
            "circuits": to_circuit_documents(self.circuits()),
            "robots": to_robots_documents(self.robots()),
            "is_demo_data": self.is_demo,
        }

    def states(self) -> list[SurfaceState]:
        """Return the outcome of the last probe of each surface, in short."""
        return [to_document(SurfaceState, health) for health in self.latest().values()]
