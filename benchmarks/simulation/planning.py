"""What the planner promises of each question, judged by the sources it asked and their answers."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.simulation.clock import SimulatedClock
from warehouse.records.errors import (
    BudgetSpentError,
    LoginRequiredError,
    RateLimitedError,
    RegionBlockedError,
    SametrackError,
    UnreachableError,
    VerificationDemandedError,
)

FIELDS = frozenset({"likes", "collects"})
FORGOTTEN_AFTER_S = 6 * 3600.0
SICK_AFTER = 3
WITHHELD = frozenset({
    "empty_body", "blocked", "page_without_data", "structure", "not_json", "forbidden",
})  # fmt: skip
APART_S = 300.0
"""Two probes of a surface that withholds its data are 600 s apart; a probe may wait for its turn,
so that its request comes later than its claim."""
NOTICED_S = 2.0
PROBE_EVERY_S = 600.0
CIRCUIT_OPEN = "circuit_open"

type Outcome = frozenset[str] | SametrackError | None


@dataclass(slots=True)
class AskedQuestion:
    """One question: `sources` in declared order with host and fields, `asked` in the order asked.

    `begun_at` is the surface that gave the first page of a list. An outcome is the fields that an
    answer carried, an error, or None while the source is being read.
    """

    name: str
    sources: Sequence[tuple[str, str, frozenset[str]]]
    begun_at: str | None = None
    asked: list[tuple[str, Outcome]] = field(default_factory=list)

    def end(self, surface: str, outcome: Outcome) -> None:
        place = next(n for n, (name, _) in enumerate(self.asked) if name == surface)
        self.asked[place] = (surface, outcome)


@dataclass(slots=True)
class _Learned:
    kinds: list[str] = field(default_factory=list)
    answered_at: float = 0.0
    probed_at: float = float("-inf")
    sick_since: float | None = None  # monotonic


class PlanningPromises:
    """Judges which sources are asked, in which order, and what is returned."""

    def __init__(self, clock: SimulatedClock) -> None:
        self._clock = clock
        self._learned: defaultdict[str, _Learned] = defaultdict(_Learned)

    def learned(self, surface: str, kind: str) -> None:
        """A process has recorded the answer of a surface."""
        known, now = self._learned[surface], self._clock.unix()
        if now - known.answered_at > FORGOTTEN_AFTER_S:
            known.kinds.clear()
        known.kinds = [*known.kinds, kind][-50:]
        known.answered_at = now
        withheld = sum(one in WITHHELD for one in known.kinds)
        if withheld < SICK_AFTER or "ok" in known.kinds:
            known.sick_since = None
        elif known.sick_since is None:
            known.sick_since = self._clock.passed_s

    def begins(self, asked: AskedQuestion, surface: str) -> None:
        """A surface is about to be asked: once per question, and rarely if it withholds data."""
        known, now = self._learned[surface], self._clock.unix()
        assert all(surface != name for name, _ in asked.asked), "a source was asked twice"
        _may_follow(asked, surface, self._probed(asked))
        asked.asked.append((surface, None))
        if asked.begun_at is not None:
            assert surface == asked.begun_at, "a list goes on at another source"
        is_settled = self._clock.passed_s - self._clock.jumped_at > NOTICED_S
        if known.sick_since is None or now - known.answered_at > FORGOTTEN_AFTER_S:
            return
        if self._clock.passed_s - known.sick_since > NOTICED_S and is_settled:
            apart = now - max(known.probed_at, known.answered_at)
            assert apart >= APART_S, "a surface that withholds its data is asked again at once"
            known.probed_at = now

    def judge(
        self,
        asked: AskedQuestion,
        verdicts: dict[str, str],
        result: tuple[str, frozenset[str]] | SametrackError,
    ) -> None:
        """Judge a question that was answered, or refused with an error."""
        for surface, verdict in verdicts.items():
            if verdict == "sick":
                self._check_sick(surface)
        answers = [fields for _, fields in asked.asked if isinstance(fields, frozenset)]
        if isinstance(result, SametrackError):
            assert not answers, "an answer was thrown away"
            return
        _surface, found = result
        assert found in answers, "an answer that nobody gave"
        assert len(found) == max(map(len, answers)), "a less complete answer was returned"
        names = {surface for surface, _ in asked.asked} | verdicts.keys()
        for surface, _host, gives in asked.sources:
            if gives - found and asked.begun_at is None:
                assert surface in names, "a source of what is missing was forgotten"

    def _probed(self, asked: AskedQuestion) -> str | None:
        """Return the source that was asked first although others were better: a probe.

        What is asked next would have been asked without it, also if it met a demand.
        """
        if len(asked.asked) != 1:
            return None
        surface = asked.asked[0][0]
        return surface if any(kind != "ok" for kind in self._learned[surface].kinds) else None

    def latest_end(self) -> float:
        """Return when every surface may be probed again."""
        known = self._learned.values()
        latest = max((max(one.answered_at, one.probed_at) for one in known), default=0.0)
        return latest + PROBE_EVERY_S

    def _check_sick(self, surface: str) -> None:
        known = self._learned[surface]
        age = self._clock.unix() - known.answered_at
        is_settled = self._clock.passed_s - self._clock.jumped_at > 2 * PATIENCE_S
        if is_settled:
            assert age <= FORGOTTEN_AFTER_S + PATIENCE_S, "an old refusal is still held against it"
        assert any(kind != "ok" for kind in known.kinds), "a surface that never refused is sick"


PATIENCE_S = 600.0
"""A question may wait so long for its turns."""


def _may_follow(asked: AskedQuestion, surface: str, probed: str | None) -> None:
    """Judge whether a source may be asked after what the others answered to the same question."""
    places = {name: place for place, (name, _, _) in enumerate(asked.sources)}
    hosts = {name: host for name, host, _ in asked.sources}
    gives = {name: fields for name, _, fields in asked.sources}
    for other, outcome in asked.asked:
        assert not isinstance(outcome, RegionBlockedError), "asked on in a region that is blocked"
        if isinstance(outcome, frozenset):
            assert gives[surface] - outcome, "asked for what is known"
        if hosts[other] != hosts[surface]:
            continue
        is_silent = isinstance(outcome, UnreachableError) and outcome.status is None
        if is_silent and isinstance(outcome, UnreachableError):
            is_silent = outcome.reason != CIRCUIT_OPEN
        concerns_host = isinstance(outcome, (RateLimitedError, BudgetSpentError)) or is_silent
        assert not concerns_host, "asked another surface of a host that wants a pause"
        if isinstance(outcome, (VerificationDemandedError, LoginRequiredError)):
            is_allowed = other == probed or places[surface] < places[other]
            assert is_allowed, "a demand was evaded"
