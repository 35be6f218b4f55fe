"""A worker in a session of its own gives way to other sessions; one in somebody else's does not."""

import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.orchestration.worker.low_priority import NICENESS

MODULE = "pipelines.orchestration.worker.low_priority"
ASK = f"from {MODULE} import lower_session_priority; print(lower_session_priority())"
OWN = Path("/proc/self/autogroup")


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
