"""Rules of the planner: in which order the sources of a question are asked, and which are not.

Pure: learned answers come in, an order or a verdict comes out. The table of sources is in
`table.py`, the answers are kept by `http/circuit_breaker.py`, and `planner.py` asks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

ANSWERED = "ok"
"""Kind of an answer with data, or with a statement about the item; all other kinds are refusals."""
PRIOR_WEIGHT = 2.0  # answers that the declared share of a source counts for
CHALLENGES_THAT_CLOSE_A_HOST = 2
SICK_BELOW = 0.2  # success share below which a source costs more requests than it saves
SICK_AFTER = 3  # refusals without any data between them: two items, of which one was repeated
WITHHELD_KINDS = frozenset(
    {
        "empty_body",
        "blocked",
        "page_without_data",
        "no_container",
        "not_json",
        "structure",
        "unknown_code",
        "unknown_status",
        "forbidden",
        "restricted_page",
        "withheld_posts",
        "signature_demanded",
    }
)
"""Kinds of refusals that say something about the surface: not about one item, the host's network or
the chart, whose issues may be missing one by one."""


class RefusalScope(StrEnum):
    """Which other sources may be asked after a refusal."""

    ANY = "any"
    OTHER_HOST = "other_host"  # the refusal concerns the whole host
    NOT_INSTEAD = "not_instead"  # a demand: no later source of this host may replace the source
    NONE = "none"  # the question itself has ended


class SourceVerdict(StrEnum):
    """What became of one source in one question."""

    ANSWERED = "answered"
    REFUSED = "refused"
    CLOSED = "closed"  # its circuit is open, so no request was made
    SICK = "sick"  # it rarely answers, and its probe is not due
    HELD_BACK = "held_back"  # the refusal of another source rules it out


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSource:
    """What the rule knows of one source.

    Attributes:
        surface: The surface, unique within a question.
        host: Its host.
        place: Place in the declared order, from 0.
        completeness: Share of the question's fields that it gives, 0 to 1.
        prior: Share of answers with data that is expected before any answer is known.
        answers: Kinds of its latest answers, oldest first, without demands.
        is_demanding: Its latest answer demanded a verification or an account.
    """

    surface: str
    host: str
    place: int
    completeness: float
    prior: float
    answers: Sequence[str] = ()
    is_demanding: bool = False

    @property
    def success_share(self) -> float:
        """Share of requests with data; each answer, a repeated one too, is one request."""
        # The declared share counts as two answers, so that a single refusal decides nothing.
        with_data = sum(kind == ANSWERED for kind in self.answers)
        return (with_data + PRIOR_WEIGHT * self.prior) / (len(self.answers) + PRIOR_WEIGHT)

    @property
    def is_sick(self) -> bool:
        """True if it rarely answers, or never did so far. Without answers it is not."""
        return bool(self.answers) and (self.success_share < SICK_BELOW or self.withholds)

    @property
    def refusals(self) -> int:
        """Number of its latest answers that were refusals."""
        return sum(kind != ANSWERED for kind in self.answers)

    @property
    def withholds(self) -> bool:
        """True if it had no data in all its latest answers, and withheld it several times."""
        withheld = sum(kind in WITHHELD_KINDS for kind in self.answers)
        return withheld >= SICK_AFTER and ANSWERED not in self.answers


def order_sources(sources: Iterable[RankedSource]) -> tuple[RankedSource, ...]:
    """Return the sources by expected completeness per request; sick ones last, ties as declared."""
    return tuple(
        sorted(
            sources,
            key=lambda ranked: (
                ranked.is_sick,
                -ranked.completeness * ranked.success_share,
                ranked.place,
            ),
        )
    )


def displaced_sources(ordered: Sequence[RankedSource]) -> tuple[RankedSource, ...]:
    """Return the sources that would be asked first if they answered as declared.

    One of them is probed once per interval; otherwise its recovery would never be noticed. A source
    is not probed in place of an earlier source of its host that demanded something.
    """
    # A recovered source is worth a request; evading a demand by probing is not allowed.
    demanding = [(source, RefusalScope.NOT_INSTEAD) for source in ordered if source.is_demanding]
    displaced = [
        source
        for source in ordered[1:]
        if source.place < ordered[0].place and may_follow(source, demanding)
    ]
    return tuple(sorted(displaced, key=lambda source: source.place))


def may_follow(source: RankedSource, refused: Iterable[tuple[RankedSource, RefusalScope]]) -> bool:
    """Return True if a source may still be asked after these refusals of the same question.

    A demand for verification or an account holds back what the declared order asks later at that
    host: asking it would be evasion. What stands before it would have been asked anyway.
    """
    for other, scope in refused:
        if scope is RefusalScope.NONE:
            return False
        # Everything else holds for the host that refused.
        if source.host != other.host:
            continue
        if scope is RefusalScope.OTHER_HOST:
            return False
        if scope is RefusalScope.NOT_INSTEAD and source.place > other.place:
            return False
    return True


def closes_host(challenged: Iterable[str]) -> bool:
    """Return True if the surfaces of a host that demand verification close the whole host."""
    return len(set(challenged)) >= CHALLENGES_THAT_CLOSE_A_HOST
