"""Estimates the requests and minutes of a scan before it starts.

Only a guide for the user: the real number depends on what the platform shows.
"""

import math
from dataclasses import dataclass

from pipelines.documents.messages import counted
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.rules.expansion import REFERENCE_TRIALS, REPRESENTATIVES

VIDEOS_PER_PAGE = 20  # maximum of a list page
CANDIDATES_PER_AUTHOR = 3  # one author page is read per so many candidates
CANDIDATES_PER_MUSIC_ID = 4  # observed average
REQUESTS_PER_SOUND = 1
LARGE_SCAN_S = 60.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """Requests, and the seconds they take at the rate limit of the profile."""

    requests: int
    seconds: float

    @property
    def is_large(self) -> bool:
        """True if the user should see the estimate before the scan starts."""
        return self.seconds >= LARGE_SCAN_S

    def sentence(self) -> str:
        """Return the estimate as a sentence for the terminal."""
        minutes = max(1, round(self.seconds / 60))
        return (
            f"about {counted(self.requests, 'request')}, {counted(minutes, 'minute')} at the rate "
            "limit of this profile"
        )


def estimate_scan(parameters: ScanParameters, *, requests_per_s: float) -> Estimate:
    """Estimate a scan that fills its candidate pool.

    Args:
        parameters: Parameters of the scan.
        requests_per_s: Rate limit of the profile for one host.
    """
    pool = parameters.candidate_limit
    pages = math.ceil(pool / VIDEOS_PER_PAGE)
    sounds = 0
    if parameters.verify_audio:
        sounds = REFERENCE_TRIALS + REPRESENTATIVES * math.ceil(pool / CANDIDATES_PER_MUSIC_ID)
    requests = 1 + pages + pool // CANDIDATES_PER_AUTHOR + pool + sounds * REQUESTS_PER_SOUND
    return Estimate(requests, requests / requests_per_s)
