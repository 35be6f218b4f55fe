"""Two processes open the orchestrator's storage of a new home at the same time."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.stage import PATIENCE_S

OPEN = """
import sys, time
from pathlib import Path
from pipelines.orchestration.runs.scan_runs import open_instance
from warehouse.home.folder import open_home
home = open_home(Path(sys.argv[1]), "sandbox")
while not Path(sys.argv[2]).exists():
    time.sleep(0.01)
with open_instance(home) as instance:
    print(instance.get_runs_count(), len(instance.all_asset_keys()))
"""


def test_a_new_home_is_opened_by_two_at_once(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    logs = [tmp_path / f"log{number}" for number in range(2)]
    whistle = tmp_path / "whistle"
    opening = [
        start("-c", OPEN, str(tmp_path / "data"), str(whistle), cwd=tmp_path, log=log)
        for log in logs
    ]
    whistle.touch()
    assert [process.wait(PATIENCE_S) for process in opening] == [0] * 2, [
        log.read_text() for log in logs
    ]
    assert {log.read_text() for log in logs} == {"0 0\n"}
