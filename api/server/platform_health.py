"""What is known of the platform's surfaces: the last probe of each, circuits, robots decisions.

Reads stores, asks nobody. Blocking: routes run it in a thread. Not here: asking
(`pipelines/doctor`), whether this service itself is ready (`health.py`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pipelines.doctor.documents import (
    to_circuit_documents,
    to_robots_documents,
    to_surface_documents,
)
from pipelines.documents.videos import Document, to_time
from warehouse.control import CircuitState, RobotsDecision
from warehouse.records.health import SurfaceHealth


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformHealth:
    """Answers about the surfaces of one world.

    Attributes:
        latest: Per surface its newest probe.
        last_worked: Per surface when it last gave what was asked for.
        circuits: Which surfaces are left alone.
        robots: What the hosts' robots files say.
        is_demo: Whether the world is an invented one.
    """

    latest: Callable[[], Mapping[str, SurfaceHealth]]
    last_worked: Callable[[], Mapping[str, datetime]]
    circuits: Callable[[], Sequence[CircuitState]]
    robots: Callable[[], Sequence[RobotsDecision]]
    is_demo: bool

    def document(self) -> Document:
        """The last report: every surface that was ever probed."""
        found = list(self.latest().values())
        newest = max((health.observed_at for health in found), default=None)
        return {
            "surfaces": to_surface_documents(found, last_worked=self.last_worked()),
            "observed_at": to_time(newest),
            "circuits": to_circuit_documents(self.circuits()),
            "robots": to_robots_documents(self.robots()),
            "is_demo_data": self.is_demo,
        }

    def states(self) -> list[Document]:
        """Per surface what its last probe said, in a few words."""
        return [
            {
                "surface": health.surface,
                "outcome": health.outcome,
                "error_type": health.error_type,
                "observed_at": to_time(health.observed_at),
            }
            for health in self.latest().values()
        ]
