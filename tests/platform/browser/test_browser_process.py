"""The browser as a process: whoever ends takes it along."""

import signal
import subprocess
import sys

import psutil
import pytest

from tests.deployment import wait_for

pytestmark = pytest.mark.full

OWNER = """
import asyncio, sys
from pipelines.platform.browser.installation import find_chromium
from pipelines.platform.browser.process import BrowserProcess
async def main():
    process = BrowserProcess(find_chromium(None))
    await process.started(proxy="http://127.0.0.1:9")
    print("up", flush=True)
    await asyncio.sleep(3600)
asyncio.run(main())
"""


@pytest.mark.browser
def test_a_killed_owner_takes_its_browser_along() -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    assert owner.stdout.readline() == "up\n"
    below = psutil.Process(owner.pid).children(recursive=True)
    assert any("chromium" in process.name() for process in below)
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    wait_for(lambda: not any(runs(process) for process in below))


def runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
