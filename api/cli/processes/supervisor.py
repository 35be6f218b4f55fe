"""Keeps a set of programs running: restarts them with back-off, and gives up on repeated exits."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import monotonic, sleep

from api.cli.processes.child_processes import Child, ChildProcessGroup, Program
from api.cli.terminal import err, print_message, safe
from warehouse.records.errors import SametrackError

POLL_INTERVAL_S = 0.2
BACK_OFF_S = (0.5, 2.0, 5.0, 15.0)
STEADY_AFTER_S = 60.0


class ProgramFailedError(SametrackError):
    """A program exited repeatedly."""

    type = "process_failed"


@dataclass(frozen=True, slots=True)
class Service:
    """A program to keep running. Without `is_ready` it is ready as soon as it runs."""

    program: Program
    is_ready: Callable[[], bool] | None = None


@dataclass(slots=True)
class _ServiceState:
    """The state of one service."""

    service: Service
    child: Child | None = None
    falls: int = 0
    start_at: float = 0.0
    has_been_ready: bool = False


@dataclass(slots=True)
class Supervisor:
    """Supervises services. `on_ready` is called once, when all of them are ready."""

    process_group: ChildProcessGroup
    services: Iterable[Service]
    on_ready: Callable[[], None] = lambda: None
    clock: Callable[[], float] = monotonic
    _places: list[_ServiceState] = field(default_factory=list)
    _told: bool = False

    def __post_init__(self) -> None:
        self._places = [_ServiceState(service) for service in self.services]

    def run(self) -> None:
        """Run until a stop signal.

        Raises:
            Interrupted: A stop signal arrived.
            ProgramFailedError: A program exited repeatedly.
        """
        while True:
            self.step()
            sleep(POLL_INTERVAL_S)

    def step(self) -> None:
        """Check every service once.

        Raises:
            ProgramFailedError: See `run`.
        """
        for place in self._places:
            self._look(place)
        if not all(place.child and place.has_been_ready for place in self._places):
            return
        self.process_group.end_template()
        if not self._told:
            self._told = True
            self.on_ready()

    def _look(self, place: _ServiceState) -> None:
        now = self.clock()
        if place.child is None:
            if now >= place.start_at:
                place.child = self.process_group.start(place.service.program)
        elif place.child.exit_code() is not None:
            self._fell(place, place.child, now)
        elif not place.has_been_ready:
            is_ready = place.service.is_ready
            place.has_been_ready = is_ready is None or is_ready()

    def _fell(self, place: _ServiceState, child: Child, now: float) -> None:
        code = child.exit_code()
        self.process_group.stop(child)  # also stops what it has started
        if now - child.started_at >= STEADY_AFTER_S:
            place.falls = 0
        place.child = None
        _print_log_tail(child)
        if place.falls >= len(BACK_OFF_S):
            raise ProgramFailedError(
                f"{child.name} exited {place.falls + 1} times in a row (exit code {code})",
                hint=f"see its log: {child.program.log}",
            )
        wait_s = BACK_OFF_S[place.falls]
        place.falls += 1
        place.start_at = now + wait_s
        print_message(
            f"[red]{safe(child.name)} exited[/] (exit code {code}); restarting in {wait_s:g} s"
        )


def _print_log_tail(child: Child) -> None:
    for line in child.log_tail().splitlines():
        err.print(f"[dim]  {safe(child.name)} │ {safe(line)}[/]", soft_wrap=True)
