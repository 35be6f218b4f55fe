"""Coverage of a job: what each source was asked, what it returned and why reading stopped."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

EstimateMethod = Literal["chao1", "ichao1", "chao2", "ichao2", "good_turing"]
EstimateUnit = Literal["music_id", "video"]
EstimateAssumption = Literal["screens_show_any_music_id", "lists_of_known_ids_are_complete"]
NotEstimated = Literal[
    "not_compared",
    "one_source",
    "too_few",
    "no_overlap",
    "lists_not_read",
    "not_audited",
    "sample_too_thin",
]
AuditVerdict = Literal[
    "confirmed", "variant", "rejected", "not_comparable", "unavailable", "not_read"
]
NotAudited = Literal[
    "switched_off", "not_compared", "nothing_left", "no_reference", "none_comparable"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCoverage:
    """One source of a job. Every stop has a reason, so `stop_reason` is never empty.

    `foreign_rows` are the items of a list that stated another account, hashtag or music id.
    """

    surface: str
    requests: int
    pages: int
    items: int
    new_items: int
    stop_reason: str
    foreign_rows: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ListGenuineShare:
    """Rows of a music list whose music is known, and how many of them use the list's music id.

    `audio_rows` of them were confirmed by audio, whichever music id they name, or are references
    that a candidate matched.
    """

    music_id: str
    rows: int
    own_rows: int
    audio_rows: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageEstimate:
    """An estimated number, or the reason why there is none.

    Attributes:
        unit: What is estimated.
        source_count: Sources of the sample.
        sample_size: Confirmed videos in the sample.
        observed: The number that the scan confirmed.
        listed: Videos of confirmed ids that lists showed and no comparison has reached.
        method: The estimator; None without an estimate, as the next four.
        point: The estimated number, at least `observed`.
        upper: Upper limit of the 95 % interval; its lower limit is `observed`.
        sample_coverage: Estimated share of the sample's population that known ids hold, 0 to 1.
        assumption: What must hold for the estimate.
        reason: Why there is no estimate.
    """

    unit: EstimateUnit
    source_count: int
    sample_size: int
    observed: int
    listed: int = 0
    method: EstimateMethod | None = None
    point: float | None = None
    upper: int | None = None
    sample_coverage: float | None = None
    assumption: EstimateAssumption | None = None
    reason: NotEstimated | None = None

    @property
    def lower(self) -> int | None:
        """Lower limit of the 95 % interval.

        It is the observed number and not the log-normal limit: a scan can have met everything,
        and then ids met once are no sign of others. Measured in `docs/coverage.md`.
        """
        return None if self.point is None else self.observed


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedVideo:
    """A video that was drawn at random, and what its own sound says."""

    aweme_id: str
    verdict: AuditVerdict
    reason: str | None = None
    music_id: str | None = None
    comparison_id: str | None = None

    @property
    def is_compared(self) -> bool:
        """Whether its sound was compared with the references."""
        return self.verdict in {"confirmed", "variant", "rejected"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditBound:
    """Upper limit, with 95 % confidence, of the videos that carry the recording."""

    count: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomAudit:
    """Videos that a scan saw and did not choose, some of which were compared at random.

    Attributes:
        seed: What decided the draw: the id of the job.
        population: Videos that were seen and are no candidates.
        sample: The drawn videos.
        videos: What became of each of them.
        bound: The limit for those of the population that can be compared.
        reason: Why there is no bound.
    """

    seed: str
    population: int
    sample: tuple[str, ...] = ()
    videos: tuple[AuditedVideo, ...] = ()
    bound: AuditBound | None = None
    reason: NotAudited | None = None

    @property
    def compared(self) -> int:
        """Drawn videos whose sound was compared."""
        return sum(video.is_compared for video in self.videos)

    @property
    def carrying(self) -> int:
        """Compared videos that carry the unchanged recording."""
        return sum(video.verdict == "confirmed" for video in self.videos)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceDecision:
    """What the planner decided about one source of a question, over a whole job.

    Attributes:
        question: The question: `detail`, `music_list`, `profile`, …
        surface: The source.
        tried: Times that it was asked.
        answered: Times that it had data.
        left_closed: Times that it was passed over because its circuit was open.
        left_sick: Times that it was passed over because it rarely answers.
        left_held_back: Times that the refusal of another source ruled it out.
        latest_answers: How many of its latest answers, to any job, were known.
        latest_refusals: How many of these were refusals.
    """

    question: str
    surface: str
    tried: int
    answered: int
    left_closed: int
    left_sick: int
    left_held_back: int
    latest_answers: int = 0
    latest_refusals: int = 0


type LatestAnswers = Mapping[str, tuple[int, int]]
"""By surface: how many of its latest answers are known, and how many of these were refusals."""


def to_source_decisions(
    verdicts: Mapping[tuple[str, str, str], int], latest: LatestAnswers
) -> list[SourceDecision]:
    """Sum verdicts by question, surface and verdict to one decision per question and surface."""
    sources = dict.fromkeys((question, surface) for question, surface, _ in verdicts)
    return [_decision(question, surface, verdicts, latest) for question, surface in sources]


def _decision(
    question: str,
    surface: str,
    verdicts: Mapping[tuple[str, str, str], int],
    latest: LatestAnswers,
) -> SourceDecision:
    def count(verdict: str) -> int:
        return verdicts.get((question, surface, verdict), 0)

    known, refusals = latest.get(surface, (0, 0))
    return SourceDecision(
        question=question,
        surface=surface,
        tried=count("answered") + count("refused"),
        answered=count("answered"),
        left_closed=count("closed"),
        left_sick=count("sick"),
        left_held_back=count("held_back"),
        latest_answers=known,
        latest_refusals=refusals,
    )


def merge_coverage(entries: list[SourceCoverage]) -> list[SourceCoverage]:
    """Sum entries with the same surface and stop reason, in the order they first appear."""
    totals: dict[tuple[str, str], SourceCoverage] = {}
    for entry in entries:
        key = (entry.surface, entry.stop_reason)
        before = totals.get(key)
        totals[key] = entry if before is None else _sum(before, entry)
    return list(totals.values())


def _sum(left: SourceCoverage, right: SourceCoverage) -> SourceCoverage:
    return replace(
        left,
        requests=left.requests + right.requests,
        pages=left.pages + right.pages,
        items=left.items + right.items,
        new_items=left.new_items + right.new_items,
        foreign_rows=left.foreign_rows + right.foreign_rows,
    )
