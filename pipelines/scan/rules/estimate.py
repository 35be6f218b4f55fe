"""Estimate how many music ids of a track remain unseen, from the overlap of several surfaces.

Never mixed into a count: the coverage report shows the estimate with its assumption.
"""

from collections import Counter
from collections.abc import Hashable, Iterable
from math import floor

from pipelines.documents.result_types import UnseenEstimate

MIN_IDS_SEEN = 2  # music ids; fewer have no overlap to estimate from
NOTE = (
    "An estimate, not a count: at least so many more music ids are likely to carry the recording. "
    "It assumes that every such id could have been met on the author, hashtag and search screens "
    "that were read; first screens favour popular works, so the true number is probably larger."
)


def unseen_music_ids(met: Iterable[tuple[Hashable, str]]) -> UnseenEstimate | None:
    """Return Chao's lower bound for the number of unseen music ids that carry the recording.

    Bias-corrected Chao1, `f1 (f1 - 1) / (2 (f2 + 1))`: A. Chao, "Estimating the population size
    for capture-recapture data with unequal catchability", Biometrics 43 (1987), and the form of
    "Nonparametric estimation of the number of classes in a population" (1984) that needs no f2.

    Args:
        met: One entry per confirmed video that appeared on a surface other than the list of its
            own music id: the video (or video and surface), and its music id.

    Returns:
        `{method, unit, lower_bound, observed, met_once, met_twice, note}`; None if fewer than two
        ids were seen, because then there is no overlap to estimate from.
    """
    times = Counter(music_id for _, music_id in set(met))
    if len(times) < MIN_IDS_SEEN:
        return None
    once = sum(count == 1 for count in times.values())
    twice = sum(count == 2 for count in times.values())  # noqa: PLR2004 -- met exactly twice
    return {
        "method": "chao1",
        "unit": "music_id",
        "lower_bound": floor(once * (once - 1) / (2 * (twice + 1))),
        "observed": len(times),
        "met_once": once,
        "met_twice": twice,
        "note": NOTE,
    }
