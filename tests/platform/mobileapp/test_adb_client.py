"""What is said of an adb server that is silent and of an app that does not open, and what a client
does that has hung up.
"""

import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Never

import pytest
from adbutils.errors import AdbError

from pipelines.platform.mobileapp.adb import AdbPhone, QuietClient
from sandbox.server.addresses import SandboxUrls
from sandbox.server.device.app import PACKAGE
from sandbox.server.device.phone import SERIAL, SimulatedPhone
from sandbox.server.device.server import AdbServer
from sandbox.server.platform import SandboxPlatform
from sandbox.world.world import SandboxWorld
from warehouse.records.errors import DeviceUnavailableError


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[AdbServer]:
    platform = SandboxPlatform(SandboxWorld(5, 0.1), cache_dir=tmp_path, addresses=SandboxUrls(1))
    made = AdbServer(SimulatedPhone(platform))
    await made.start(0)
    yield made
    await made.close()
    platform.close()


@pytest.fixture
async def phone(server: AdbServer) -> AsyncIterator[AdbPhone]:
    made = AdbPhone(SERIAL, port=server.port)
    yield made
    await made.aclose()


def test_a_client_that_has_hung_up_asks_nothing_more_until_its_connections_are_closed() -> None:
    client = QuietClient(1)
    client.hang_up()
    with pytest.raises(AdbError, match="hung up"):
        client.make_connection()
    client.close_connections()
    with pytest.raises(AdbError, match="no adb server"):  # now it tries, and nobody listens
        client.make_connection()


async def test_an_adb_server_that_does_not_answer_in_time_is_told_as_such(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def silent(*_: Any, **__: Any) -> Never:
        raise TimeoutError

    monkeypatch.setattr(socket, "create_connection", silent)
    phone = AdbPhone("phone-1", port=1)
    with pytest.raises(DeviceUnavailableError) as caught:
        await phone.state()
    await phone.aclose()
    assert caught.value.reason == "no_answer"
    assert "wake it" in str(caught.value.hint)


async def test_an_app_that_is_not_there_is_neither_started_nor_opened_by_a_link(
    phone: AdbPhone, server: AdbServer
) -> None:
    with pytest.raises(DeviceUnavailableError) as not_started:
        await phone.start(package="no.such.app")
    with pytest.raises(DeviceUnavailableError) as not_opened:
        await phone.open("http://share.vidplat.localhost:1/share/music/1/", package="no.such.app")
    assert not_started.value.reason == not_opened.value.reason == "link_not_opened"
    assert "MOBILEAPP_PACKAGE" in str(not_opened.value.hint)
    assert server.phone.log.opened == []


async def test_an_app_that_is_there_starts_and_opens_links(
    phone: AdbPhone, server: AdbServer
) -> None:
    link = "http://share.vidplat.localhost:1/share/music/1/"
    await phone.start(package=PACKAGE)
    await phone.open(link, package=PACKAGE)
    assert server.phone.log.opened == [link]
