"""`sametrack notebook` over real HTTP: the page, the token, a kernel that shows a data frame."""

import json
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from websocket import create_connection

from tests.deployment import PATIENCE_S
from warehouse.home import open_home
from warehouse.lake.store import open_lake

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[3]
FIRST = ROOT / "notebooks" / "explore" / "first_steps.ipynb"
type Start = Callable[..., subprocess.Popen[str]]


def ask(server: Any, path: str, *, body: object = None, token: str | None = None) -> Any:
    """Return the document of an answer, or its text if it is a page."""
    request = urllib.request.Request(f"{server['url']}{path}")
    request.add_header("Authorization", f"token {token or server['token']}")
    request.data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        text = answer.read().decode()
    return (
        json.loads(text) if answer.headers["Content-Type"].startswith("application/json") else text
    )


def execute(server: Any, kernel: str, code: str) -> dict[str, Any]:
    """Run code in a kernel as JupyterLab does; return the data that it shows."""
    address = server["url"].replace("http", "ws") + f"api/kernels/{kernel}/channels"
    header = [f"Authorization: token {server['token']}"]
    channel = create_connection(address, header=header, timeout=PATIENCE_S)
    message = {
        "header": {"msg_id": uuid4().hex, "msg_type": "execute_request", "version": "5.3",
                   "username": "", "session": uuid4().hex},
        "parent_header": {}, "metadata": {}, "channel": "shell",
        "content": {"code": code, "silent": False},
    }  # fmt: skip
    channel.send(json.dumps(message))
    while True:
        said = json.loads(channel.recv())
        assert said["msg_type"] != "error", said["content"]
        if said["msg_type"] == "execute_result":
            channel.close()
            shown: dict[str, Any] = said["content"]["data"]
            return shown


def test_the_first_cell_shows_a_data_frame_and_all_ends_with_the_command(
    start: Start, processes: Any, tmp_path: Path
) -> None:
    data, runtime, log = tmp_path / "data", tmp_path / "runtime", tmp_path / "log"
    open_lake(open_home(data, "sandbox").lake_url, world="sandbox")
    command = start(
        "-m", "api.cli.main", "notebook", "--no-browser", "--port", str(processes.find_port()),
        cwd=tmp_path, log=log, DATA_HOME=str(data), HOME=str(tmp_path), PROFILE="",
        JUPYTER_RUNTIME_DIR=str(runtime), JUPYTER_CONFIG_DIR=str(tmp_path / "config"),
    )  # fmt: skip
    assert processes.wait_until(lambda: "explore/first_steps.ipynb?token=" in log.read_text())
    server = json.loads(next(runtime.glob("jpserver-*.json")).read_text())
    assert server["url"].startswith("http://127.0.0.1:")
    assert '"news": {"disabled": true}' in ask(server, "lab/tree/explore/first_steps.ipynb")
    with pytest.raises(urllib.error.HTTPError, match="403"):
        ask(server, "api/contents", token="wrong")
    assert ask(server, "api/contents/explore/first_steps.ipynb")["type"] == "notebook"
    session = {"path": "explore/first_steps.ipynb", "type": "notebook", "name": "",
               "kernel": {"name": "python3"}}  # fmt: skip
    kernel = ask(server, "api/sessions", body=session)["kernel"]["id"]
    cells = [one for one in json.loads(FIRST.read_text())["cells"] if one["cell_type"] == "code"]
    shown = execute(server, kernel, "".join(cells[0]["source"]))
    assert 'class="dataframe"' in shown["text/html"]
    everybody = processes.family(command.pid)
    assert len(everybody) >= 2  # the server and its kernel
    command.send_signal(signal.SIGTERM)
    assert command.wait(PATIENCE_S) == 0
    assert processes.wait_until(lambda: processes.are_gone(everybody))
