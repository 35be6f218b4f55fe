"""Where the process of the Dagster UI finds the code server."""

from pathlib import Path

import pytest

from api.cli.processes.dagster_ui import CodeServer


def test_an_address_is_a_host_and_a_port() -> None:
    assert CodeServer.of_address("code.internal:4000") == CodeServer(
        host="code.internal", port=4000
    )
    assert CodeServer.of_address("[::1]:4000") == CodeServer(host="[::1]", port=4000)


@pytest.mark.parametrize(
    "address", ["", "localhost", ":4000", "localhost:", "localhost:http", "localhost:-1"]
)
def test_invalid_code_server_address_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match=r"is not HOST:PORT") as refused:
        CodeServer.of_address(address)
    assert repr(address) in str(refused.value)


def test_a_socket_file_needs_no_port() -> None:
    assert CodeServer(Path("code.sock")) == CodeServer(socket=Path("code.sock"), port=None)
