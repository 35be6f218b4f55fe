"""How late it is on the stand-in platform: its clock can be moved, so that a week takes minutes.

Asked once for each run, so that everything a run observes is stamped by one clock. No other
platform is ever asked: with any other profile the machine's own time holds.
"""

import httpx2

from pipelines.platform.profiles import Profile
from warehouse.records.times import move_observed_time

_PATH = "/_world/clock"
_PATIENCE_S = 2.0


def follow_clock(profile: Profile) -> None:
    """Stamp what is observed from now on by the platform's clock, where it is the stand-in.

    One that does not answer leaves the time as it was: whatever is asked of it next says why.
    """
    if not profile.may_name_loopback:
        move_observed_time(seconds=0)
        return
    try:
        with httpx2.Client(trust_env=False, timeout=_PATIENCE_S) as client:
            told = client.get(f"http://127.0.0.1:{profile.port}{_PATH}").raise_for_status().json()
            move_observed_time(seconds=float(told["offset_s"]))
    except (httpx2.HTTPError, ValueError, KeyError, TypeError):
        return
