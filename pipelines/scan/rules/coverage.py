"""What a scan did not see: bounds and estimates with intervals."""

import hashlib
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, comb, exp, floor, log, sqrt

from pipelines.documents.result_types import UnseenEstimate
from pipelines.scan.rules.candidate_pool import KNOWN_MATCHES, MUSIC_LIST, Sighting, is_row_of
from warehouse.records import coverage as coverage_records

# Draw videos that a scan has not compared, and bound how many of them carry the recording.
#
# A scan compares what its plan chooses, so it says nothing about the videos that it saw and did
# not choose. A sample of these, drawn at random, does: the bound is exact and assumes nothing
# about them.

MOST_MISSED = Fraction(1, 20)  # how often a bound may be too low
CONFIDENCE = float(1 - MOST_MISSED)
CANDIDATES_PER_DRAWN = 5
"""A scan draws one video per five places in its candidate pool, so a small scan stays small."""


def left_out(sightings: Iterable[Sighting], *, pooled: Collection[str]) -> set[str]:
    """Return the videos that a list showed and that are no candidates."""
    return {entry.aweme_id for entry in sightings}.difference(pooled)


def audit_size(most: int, *, candidate_limit: int) -> int:
    """Return how many videos a scan draws: its share of the candidate pool, `most` at most.

    Scans of a catalogue draw as well: without the draw the videos of a track cannot be estimated
    wherever its sources showed more than the pool holds. A full pool of 150 draws the default of
    20, one of 60 draws 12.
    """
    return min(most, candidate_limit // CANDIDATES_PER_DRAWN)


def draw_sample(aweme_ids: Iterable[str], *, seed: str, size: int) -> tuple[str, ...]:
    """Draw distinct videos at random, the same ones for the same seed.

    The order of their digests decides, so neither the order in which lists were read nor the
    release of a random number generator changes a draw.
    """

    def digest(aweme_id: str) -> bytes:
        return hashlib.sha256(f"{seed}:{aweme_id}".encode()).digest()

    return tuple(sorted(set(aweme_ids), key=digest)[:size])


def bound_carrying(
    *, comparable: int, compared: int, carrying: int, most_missed: Fraction = MOST_MISSED
) -> coverage_records.AuditBound:
    """Return the one-sided limit of how many videos of a population carry the recording.

    The exact limit of the hypergeometric distribution: the largest number of carrying videos with
    which a sample shows at most `carrying` more often than `most_missed`. For a large population it
    is the limit of C. J. Clopper and E. S. Pearson, Biometrika 26 (1934).

    Args:
        comparable: The population: the compared videos, and those that were not drawn.
        compared: How many of them were compared, drawn at random; at least one.
        carrying: How many of these carry the recording.
        most_missed: How often the limit may be too low; the default is a limit of 95 %.
    """
    # Bisect: the more videos carry the recording, the rarer is a sample with so few of them.
    low, high = carrying, comparable - compared + carrying
    while low < high:
        middle = (low + high + 1) // 2
        if _chance_of_few(comparable, middle, compared, carrying) > most_missed:
            low = middle
        else:
            high = middle - 1
    return coverage_records.AuditBound(count=low, share=round(low / comparable, 4))


def with_bound(audit: coverage_records.RandomAudit) -> coverage_records.RandomAudit:
    """Return the audit with its bound.

    A drawn video that cannot be compared says nothing, so it does not belong to the population.
    """
    if not audit.compared:
        return replace(audit, reason="none_comparable")
    comparable = audit.population - (len(audit.videos) - audit.compared)
    bound = bound_carrying(comparable=comparable, compared=audit.compared, carrying=audit.carrying)
    return replace(audit, bound=bound)


def _chance_of_few(population: int, carrying: int, drawn: int, most: int) -> Fraction:
    """Return the probability that a draw contains at most `most` of the `carrying` videos."""
    ways = sum(
        comb(carrying, number) * comb(population - carrying, drawn - number)
        for number in range(most + 1)
    )
    return Fraction(ways, comb(population, drawn))


# Estimate how many music ids and videos of a track a guest could reach, with 95 % intervals.
#
# What a scan confirmed is split by the source that showed it. Lists of music ids are read because
# their id is known, so they say nothing about unknown ids. All other sources (first screens of
# accounts, hashtags, search terms) show videos whatever their music id is: what they show is the
# sample. An id that occurs only once in the sample is a sign of ids that do not occur in it.
#
# Two samples of ids are formed, and the larger estimate is taken, because both are lower bounds:
# the videos, each of which shows one id (Chao1), and the sources, each of which shows some ids
# (Chao2). The videos are estimated from the share of the sample that known ids hold (Good-Turing).
#
# Never mixed into a count: the coverage report shows estimates apart, with their assumption.

MIN_SAMPLE = 8  # videos; below, one video more or less changes the estimate several times over
MIN_SOURCES = 2
MIN_IDS_SEEN = 2  # music ids; fewer have no overlap to estimate from
UNSEEN_NOTE = (
    "An estimate, not a count: at least so many more music ids are likely to carry the recording. "
    "It assumes that every such id could have been met on the author, hashtag and search screens "
    "that were read; first screens favour popular works, so the true number is probably larger."
)
Z_95 = 1.96
# One interval consists of two limits; so often each of them may be wrong.
HALF_MISSED = Fraction(1, 40)
ONCE, TWICE, THREE_TIMES, FOUR_TIMES = 1, 2, 3, 4
# Exact 97.5 % limit of a Poisson count (F. Garwood, Biometrika 28, 1936), by the count.
POISSON_UPPER = {0: 3.689, 1: 5.572}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedRest:
    """Videos on lists that are no candidates, and were not listed under a confirmed music id.

    Attributes:
        comparable: Their number without those that were drawn and could not be compared.
        compared: How many of them were compared, drawn at random; at least one.
        carrying: How many of these carry the recording.
    """

    comparable: int
    compared: int
    carrying: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmedSample:
    """What the sources other than music lists showed of the confirmed videos.

    Attributes:
        observed_ids: Music ids of all confirmed videos.
        observed_videos: Confirmed videos.
        source_count: Sources that were read, whether they showed a confirmed video or not.
        videos_per_id: For each id in the sample, how many of its videos the sources showed.
        sources_per_id: For each id in the sample, how many sources showed it.
        unread_lists: Lists of confirmed ids that were not read to their end.
        is_compared: Other music ids were compared by audio.
        listed_videos: Videos of confirmed ids that lists showed and no comparison has reached.
        left_out: Other videos that a source showed and that are no candidates.
        unread: Candidates whose page was not read, without those that lists showed.
        rest: What the random audit says of `left_out`; None without an audit.
    """

    observed_ids: int
    observed_videos: int
    source_count: int
    videos_per_id: tuple[int, ...]
    sources_per_id: tuple[int, ...]
    unread_lists: int = 0
    is_compared: bool = True
    listed_videos: int = 0
    left_out: int = 0
    unread: int = 0
    rest: AuditedRest | None = None

    @property
    def size(self) -> int:
        """Confirmed videos that the sources showed."""
        return sum(self.videos_per_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnseenCount:
    """How many kinds do not occur in a sample: the estimate and its 97.5 % limit."""

    method: coverage_records.EstimateMethod
    point: float
    upper: float


def sample_of(sightings: Iterable[Sighting], *, music_of: Mapping[str, str]) -> ConfirmedSample:
    """Return what sources other than music lists showed of the confirmed videos, and no more.

    Videos that scans of other tracks have matched are no sample either: their sounds chose them.

    Args:
        sightings: All sightings of a scan.
        music_of: Music id of each confirmed video.
    """
    sources: set[tuple[str, str]] = set()
    videos: dict[str, set[str]] = {}
    shown_by: dict[str, set[tuple[str, str]]] = {}
    for entry in sightings:
        if entry.surface in {MUSIC_LIST, KNOWN_MATCHES}:
            continue
        source = (entry.surface, entry.entity_id)
        sources.add(source)
        music_id = music_of.get(entry.aweme_id)
        if music_id is not None:
            videos.setdefault(music_id, set()).add(entry.aweme_id)
            shown_by.setdefault(music_id, set()).add(source)
    return ConfirmedSample(
        observed_ids=len(set(music_of.values())),
        observed_videos=len(music_of),
        source_count=len(sources),
        videos_per_id=tuple(map(len, videos.values())),
        sources_per_id=tuple(map(len, shown_by.values())),
    )


def listed_only(
    sightings: Iterable[Sighting], *, confirmed_ids: Collection[str], read: Collection[str]
) -> set[str]:
    """Return the videos that were shown under a confirmed music id and whose page was not read.

    A row that names its music id is judged by it, a row of a music list that names none is taken
    for the list's.
    """
    return {
        entry.aweme_id
        for entry in sightings
        if entry.aweme_id not in read
        and is_row_of(
            entry.music_id,
            surface=entry.surface,
            entity_id=entry.entity_id,
            music_ids=confirmed_ids,
        )
    }


def audited_rest(
    audit: coverage_records.RandomAudit | None, *, listed: Collection[str]
) -> AuditedRest | None:
    """Return what a random audit says of the videos that were not listed under a confirmed id."""
    if audit is None or not audit.compared:
        return None
    drawn = [video for video in audit.videos if video.aweme_id not in listed]
    compared = [video for video in drawn if video.is_compared]
    if not compared:
        return None
    return AuditedRest(
        comparable=audit.population - len(listed) - (len(drawn) - len(compared)),
        compared=len(compared),
        carrying=sum(video.verdict == "confirmed" for video in compared),
    )


def estimate_music_ids(sample: ConfirmedSample) -> coverage_records.CoverageEstimate:
    """Return the estimated number of music ids with the recording that a guest could reach."""
    reason = _reason(sample)
    if reason is not None:
        return _not_estimated("music_id", sample, reason)
    # From the videos, and from the sources if these overlap. Both are lower bounds, so the larger
    # estimate is taken.
    estimates = [unseen_kinds(sample.videos_per_id, size=sample.size, of_sources=False)]
    if max(sample.sources_per_id) > 1:
        estimates.append(
            unseen_kinds(sample.sources_per_id, size=sample.source_count, of_sources=True)
        )
    unseen = max(estimates, key=lambda estimate: estimate.point)
    return coverage_records.CoverageEstimate(
        unit="music_id",
        source_count=sample.source_count,
        sample_size=sample.size,
        observed=sample.observed_ids,
        method=unseen.method,
        point=round(sample.observed_ids + unseen.point, 1),
        upper=sample.observed_ids + ceil(round(unseen.upper, 6)),
        sample_coverage=round(sample_coverage(sample.videos_per_id), 4),
        assumption="screens_show_any_music_id",
    )


def estimate_videos(sample: ConfirmedSample) -> coverage_records.CoverageEstimate:
    """Return the estimated number of videos with the recording that a guest could reach.

    Good-Turing: the known ids hold the share `sample_coverage` of all videos (I. J. Good, "The
    population frequencies of species", Biometrika 40, 1953), so the videos of the known ids are
    divided by it: the confirmed ones, and those that lists showed and no comparison has reached.
    That needs complete lists of the known ids.

    The sample lacks what the sources showed and no comparison has reached. The random audit says
    how many of the videos that were left out carry the recording; its bound widens the upper limit.
    So does every unread candidate, because each of them may carry it. Each of the two other limits
    may be wrong once in forty times, so the upper limit is wrong once in twenty times at most,
    however they depend on each other (C. E. Bonferroni, 1936).
    """
    reason = _reason(sample)
    if reason is None and sample.unread_lists:
        reason = "lists_not_read"
    # Candidates are chosen for their likeness to confirmed videos, so only a random sample says
    # something about the videos that were left out.
    elif reason is None and sample.left_out and sample.rest is None:
        reason = "not_audited"
    lowest = lowest_coverage(sample.videos_per_id) if reason is None else 0.0
    if reason is not None or lowest <= 0:
        return _not_estimated("video", sample, reason or "sample_too_thin")

    # How many videos with the recording the sample lacks: estimated, and at most.
    lacking, most_lacking = 0.0, sample.unread
    if sample.rest is not None:
        rest = sample.rest
        bound = bound_carrying(
            comparable=rest.comparable,
            compared=rest.compared,
            carrying=rest.carrying,
            most_missed=HALF_MISSED,
        )
        lacking = rest.comparable * rest.carrying / rest.compared
        most_lacking += bound.count
    coverage = sample_coverage(sample.videos_per_id) * sample.size / (sample.size + lacking)
    lowest *= sample.size / (sample.size + most_lacking)
    videos = sample.observed_videos + sample.listed_videos
    return coverage_records.CoverageEstimate(
        unit="video",
        source_count=sample.source_count,
        sample_size=sample.size,
        observed=sample.observed_videos,
        listed=sample.listed_videos,
        method="good_turing",
        point=round(videos / coverage, 1),
        upper=ceil(round(videos / lowest, 6)),
        sample_coverage=round(coverage, 4),
        assumption="lists_of_known_ids_are_complete",
    )


def _reason(sample: ConfirmedSample) -> coverage_records.NotEstimated | None:
    """Return why nothing can be estimated from a sample, or None if it is large enough."""
    if not sample.is_compared:
        return "not_compared"
    if sample.source_count < MIN_SOURCES:
        return "one_source"
    if sample.size < MIN_SAMPLE:
        return "too_few"
    return "no_overlap" if max(sample.videos_per_id) == ONCE else None


def _not_estimated(
    unit: coverage_records.EstimateUnit,
    sample: ConfirmedSample,
    reason: coverage_records.NotEstimated,
) -> coverage_records.CoverageEstimate:
    observed = sample.observed_ids if unit == "music_id" else sample.observed_videos
    return coverage_records.CoverageEstimate(
        unit=unit,
        source_count=sample.source_count,
        sample_size=sample.size,
        observed=observed,
        reason=reason,
    )


def unseen_kinds(counts: Iterable[int], *, size: int, of_sources: bool) -> UnseenCount:
    """Return how many kinds do not occur in a sample, by the bias-corrected estimator of Chao.

    `(m - 1) / m * q1 (q1 - 1) / (2 (q2 + 1))`, where q1 and q2 kinds occur once and twice:
    A. Chao, "Nonparametric estimation of the number of classes in a population" (1984) for samples
    of individuals, "Estimating the population size for capture-recapture data with unequal
    catchability", Biometrics 43 (1987) for sources. The limit is the log-normal one of 1987.

    Where kinds occur three and four times, the second-order term of C.-H. Chiu, Y.-T. Wang,
    B. Walther and A. Chao, "An improved nonparametric lower bound of species richness", Biometrics
    70 (2014) is added (iChao1, iChao2). The variance is that without this term.

    With fewer than two kinds that occur once, the variance would be 0, a certainty that no sample
    gives: then the limit takes the exact Poisson limit in place of q1.

    Args:
        counts: How often each kind occurs, at least once each, for example `(3, 1, 1)`.
        size: Individuals, or sources if `of_sources`: the m of the formula.
        of_sources: The counts are numbers of sources, not of individuals.
    """
    times = Counter(counts)
    once, twice, thrice, four = (times[number] for number in (ONCE, TWICE, THREE_TIMES, FOUR_TIMES))
    share = (size - 1) / size
    second_order = 0.0
    if thrice and four and size > THREE_TIMES:
        ratio = thrice / four
        difference = once - (size - 3) / (2 * (size - 1)) * twice * ratio
        second_order = (size - 3) / (4 * size) * ratio * max(difference, 0.0)
    point = share * once * (once - 1) / (2 * (twice + 1)) + second_order
    if once in POISSON_UPPER:
        most = POISSON_UPPER[once]
        upper = share * most * (most - 1) / (2 * (twice + 1)) + second_order
    else:
        variance = _variance(once, twice, share, kinds=sum(times.values()))
        upper = point * exp(Z_95 * sqrt(log(1 + variance / point**2)))
    plain: coverage_records.EstimateMethod = "chao2" if of_sources else "chao1"
    improved: coverage_records.EstimateMethod = "ichao2" if of_sources else "ichao1"
    return UnseenCount(method=improved if second_order else plain, point=point, upper=upper)


def _variance(once: int, twice: int, share: float, *, kinds: int) -> float:
    """Return the variance of the bias-corrected estimator (Chao 1987; R. K. Colwell, EstimateS)."""
    linear = share * once * (once - 1) / (2 * (twice + 1))
    if twice:
        return (
            linear
            + share**2 * once * (2 * once - 1) ** 2 / (4 * (twice + 1) ** 2)
            + share**2 * once**2 * twice * (once - 1) ** 2 / (4 * (twice + 1) ** 4)
        )
    square = share**2 * once * (2 * once - 1) ** 2 / 4
    return max(linear + square - share**2 * once**4 / (4 * (kinds + linear)), 0.0)


def sample_coverage(counts: Iterable[int]) -> float:
    """Return the estimated share of the population that the kinds of a sample hold, 0 to 1.

    A. Chao and L. Jost, "Coverage-based rarefaction and extrapolation", Ecology 93 (2012).
    """
    times = Counter(counts)
    size = sum(number * kinds for number, kinds in times.items())
    once, twice = times[ONCE], times[TWICE]
    if not once:
        return 1.0
    weight = (size - 1) * once
    return 1 - once / size * weight / (weight + 2 * twice) if weight else 0.0


def lowest_coverage(counts: Iterable[int]) -> float:
    """Return the lower 97.5 % limit of the sample coverage; 0 or less if it may be nothing.

    W. W. Esty, "A normal limit law for a nonparametric estimator of the coverage of a random
    sample", Annals of Statistics 11 (1983); with fewer than two kinds that occur once, from the
    exact Poisson limit of their number.
    """
    counts = tuple(counts)
    times = Counter(counts)
    size, once, twice = sum(counts), times[ONCE], times[TWICE]
    if once in POISSON_UPPER:
        return 1 - POISSON_UPPER[once] / size
    spread = sqrt(once * (1 - once / size) + 2 * twice) / size
    return sample_coverage(counts) - Z_95 * spread


def unseen_music_ids(shown: Iterable[tuple[Hashable, str]]) -> UnseenEstimate | None:
    """Return Chao's lower bound for the number of unseen music ids that carry the recording.

    Bias-corrected Chao1, `f1 (f1 - 1) / (2 (f2 + 1))`: A. Chao, "Estimating the population size
    for capture-recapture data with unequal catchability", Biometrics 43 (1987), and the form of
    "Nonparametric estimation of the number of classes in a population" (1984) that needs no f2.

    Args:
        shown: One entry per confirmed video that appeared on a surface other than the list of its
            own music id: the video (or video and surface), and its music id.

    Returns:
        `{method, unit, lower_bound, observed, met_once, met_twice, note}`; None for fewer than two
        ids, because then there is no overlap to estimate from.
    """
    times = Counter(music_id for _, music_id in set(shown))
    if len(times) < MIN_IDS_SEEN:
        return None
    occurrences = Counter(times.values())
    once, twice = occurrences[ONCE], occurrences[TWICE]
    return {
        "method": "chao1",
        "unit": "music_id",
        "lower_bound": floor(once * (once - 1) / (2 * (twice + 1))),
        "observed": len(times),
        "met_once": once,
        "met_twice": twice,
        "note": UNSEEN_NOTE,
    }
