"""Scans in worlds that a source brings along: no profile, no platform, no request."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pipelines.sandbox.world.world import SandboxWorld
from pipelines.scan.runtime import open_runtime
from pipelines.settings import Settings

SEED, SIZE = 5, 0.1


def run(*arguments: str, home: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """A `sametrack` command in an empty directory; nothing of this machine's settings counts."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PROFILE")}
    root = Path(__file__).parents[3]
    own = {
        "DATA_HOME": str(home), "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "",
        "API_PORT": "1", "SANDBOX_PORT": "1", "WORKER_RUNS": "1", "LISTENING_WORKERS": "1",
        "RANDOM_AUDIT_SIZE": "0",
        "WORKER_GIVES_WAY": "false",
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-m", "api.cli.main", *arguments],
        cwd=home,
        text=True,
        capture_output=True,
        timeout=300,
        check=False,
        env={**clean, **own, **env},
    )


def folders(home: Path) -> list[str]:
    return [path.name for path in home.iterdir() if path.is_dir()]


def scanned(answer: subprocess.CompletedProcess[str]) -> Any:
    assert answer.returncode == 0, answer.stderr
    job = json.loads(answer.stdout)
    assert job["status"] == "completed"
    return job["result"]


def test_a_scan_of_the_demo_world_needs_nothing_but_this_machine(tmp_path: Path) -> None:
    world = SandboxWorld(SEED, SIZE)
    music_id = world.tracks[0].music_id
    demo = {"DATA_PROVIDER": "mock", "MOCK_SEED": str(SEED), "MOCK_SIZE": str(SIZE)}
    given = ("--candidate-limit", "15", "--count", "5", "--no-search-enabled", "--json")
    answer = run("scan", music_id, *given, home=tmp_path, **demo)
    result = scanned(answer)
    assert (result["is_demo_data"], result["data_provider"]) == (True, "mock")
    again = run("scan", music_id, *given, home=tmp_path, **demo)
    assert "a stored result serves" in again.stderr
    assert {source["requests"] for source in result["coverage"]["sources"]} == {0}
    assert result["confirmed_count"] >= 1
    assert all(world.video_of_id(work["aweme_id"]) is not None for work in result["aweme_list"])
    assert folders(tmp_path) == ["mock"]
    assert json.loads((tmp_path / "mock" / "world.json").read_text())["world"] == "mock"


async def test_own_files_lie_in_a_world_of_their_own_and_are_real(tmp_path: Path) -> None:
    users = tmp_path / "users.json"
    users.write_text('[{"sec_uid": "account", "follower_count": 7}]')
    settings = Settings(
        _env_file=None, data_provider="file", users_file=users, data_home=tmp_path,
        listening_workers=1,
    )  # fmt: skip
    with ExitStack() as stack:
        runtime = open_runtime(settings, stack)
        stack.callback(runtime.control.close)
        stack.callback(runtime.engine.close)
        async with runtime.captures(job_id="job", cancelled=lambda: False) as captures:
            account = await captures.account("account")
        runtime.engine.refresh()
        rows = runtime.engine.rows("select data_provider, follower_count from raw.accounts")
    assert (runtime.world, runtime.is_demo, account.follower_count) == ("file", False, 7)
    assert rows == [{"data_provider": "file", "follower_count": 7}]
    assert folders(tmp_path) == ["file"]
