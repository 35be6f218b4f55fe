"""A worker in a session of its own gives way to other sessions; one in somebody else's does not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.orchestration.worker.low_priority import NICENESS

MODULE = "pipelines.orchestration.worker.low_priority"
ASK = f"from {MODULE} import lower_session_priority; print(lower_session_priority())"
OWN = Path("/proc/self/autogroup")
THERE_AND_BACK = f"""
from {MODULE} import lower_session_priority, restore_session_priority
lower_session_priority()
print(open("{OWN}").read().split()[-1])
is_restored = restore_session_priority()
print(is_restored, open("{OWN}").read().split()[-1])
"""


@pytest.mark.parametrize("leads", [True, False])
def test_only_who_leads_a_session_lowers_it(*, leads: bool) -> None:
    told = f"{ASK}; print(open('{OWN}').read())" if OWN.exists() else ASK
    ran = subprocess.run(
        [sys.executable, "-c", told], start_new_session=leads, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    said, *group = ran.stdout.split("\n")
    assert said == str(leads and OWN.exists())
    assert any(line.endswith(f"nice {NICENESS}") for line in group) is (leads and OWN.exists())


@pytest.mark.skipif(not OWN.exists(), reason="the kernel does not group sessions")
def test_a_starved_session_gets_the_normal_priority_back_where_that_is_permitted() -> None:
    done = subprocess.run(
        [sys.executable, "-c", THERE_AND_BACK], start_new_session=True, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    lowered, restored = done.stdout.splitlines()
    assert (lowered, restored) in ((f"{NICENESS}", "True 0"), (f"{NICENESS}", f"False {NICENESS}"))
    if os.geteuid() == 0:
        assert restored == "True 0"
