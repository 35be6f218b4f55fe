"""Reading in a world that a source brings along: no profile, no platform, no request.

A scan in the demo world is in `../cli/test_wheel.py`.
"""

from contextlib import ExitStack
from pathlib import Path

import pytest

from pipelines.scan.runtime import open_runtime
from pipelines.settings import Settings

pytestmark = pytest.mark.full


def folders(home: Path) -> list[str]:
    return [path.name for path in home.iterdir() if path.is_dir()]


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
