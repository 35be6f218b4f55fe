"""Follows the sandbox's clock, which can be moved so that a week takes minutes.

It is read once per run, so that all observations of a run use one clock. With any other profile the
machine's own time is used, and no platform is asked.
"""

import httpx2

from pipelines.platform.profiles import PlatformProfile
from warehouse.records.times import shift_observed_time

_PATH = "/_world/clock"
_TIMEOUT_S = 2.0


def follow_sandbox_clock(profile: PlatformProfile) -> None:
    """Use the sandbox's clock for observation times if the profile is the sandbox.

    If the sandbox does not answer, the time stays unchanged: the next request reports the reason.
    """
    if not profile.may_name_loopback:
        shift_observed_time(seconds=0)
        return
    try:
        with httpx2.Client(trust_env=False, verify=False, timeout=_TIMEOUT_S) as client:
            response = client.get(f"http://127.0.0.1:{profile.port}{_PATH}")
            shift_observed_time(seconds=float(response.raise_for_status().json()["offset_s"]))
    except (httpx2.HTTPError, ValueError, KeyError, TypeError):
        return
