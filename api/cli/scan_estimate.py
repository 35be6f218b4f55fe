"""About how many requests and minutes a scan will take, said before it starts. Pure.

An estimate for a person who decides whether to wait, not a promise: what the platform shows
decides in the end.
"""

import math
from dataclasses import dataclass

from pipelines.parameters.scan import ScanParameters
from pipelines.scan.rules.expansion import REFERENCE_TRIALS, REPRESENTATIVES

WORKS_PER_PAGE = 20  # a list screen shows at most so many
CANDIDATES_PER_AUTHOR = 3  # one author screen is read for about so many candidates
CANDIDATES_PER_MUSIC_ID = 4  # other music ids among the candidates, by experience
REQUESTS_PER_SOUND = 1
WORTH_SAYING_S = 60.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """Requests, and the seconds they take at the profile's pace."""

    requests: int
    seconds: float

    @property
    def is_large(self) -> bool:
        """Whether a person would want to know before it starts."""
        return self.seconds >= WORTH_SAYING_S

    def sentence(self) -> str:
        """For the terminal."""
        minutes = max(1, round(self.seconds / 60))
        word = "minute" if minutes == 1 else "minutes"
        return f"about {self.requests:,} requests, at this profile's pace about {minutes} {word}"


def estimate_scan(parameters: ScanParameters, *, requests_per_s: float) -> Estimate:
    """Estimate a scan that fills its candidate pool.

    Args:
        parameters: Of the scan.
        requests_per_s: The profile's rate for one host.
    """
    pool = parameters.candidate_limit
    pages = math.ceil(pool / WORKS_PER_PAGE)
    sounds = 0
    if parameters.verify_audio:
        sounds = REFERENCE_TRIALS + REPRESENTATIVES * math.ceil(pool / CANDIDATES_PER_MUSIC_ID)
    requests = 1 + pages + pool // CANDIDATES_PER_AUTHOR + pool + sounds * REQUESTS_PER_SOUND
    return Estimate(requests, requests / requests_per_s)
