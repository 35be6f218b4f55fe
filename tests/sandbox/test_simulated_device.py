"""The stand-in device speaks the protocol of `adb`, as a kept client library understands it."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from adbutils.errors import AdbError

from pipelines.platform.mobileapp.adb import QuietClient
from tests.platform.mobileapp.devices import Device

pytestmark = pytest.mark.full

PACKAGE = "localhost.vidplat.app"


async def call_adb(device: Device, ask: Callable[[Any], Any]) -> Any:
    """What the library says, asked in a thread: it blocks."""
    client = QuietClient(device.server.port)
    try:
        return await asyncio.to_thread(ask, client)
    finally:
        client.close_connections()


async def test_the_server_tells_its_version_and_its_one_device(device: Device) -> None:
    assert await call_adb(device, lambda adb: adb.server_version()) == 41
    listed = await call_adb(device, lambda adb: [(one.serial, one.state) for one in adb.list()])
    assert listed == [("stand-in-1", "device")]
    extended = await call_adb(device, lambda adb: adb.list(extended=True)[0].tags["model"])
    assert extended == "Stand_in"


async def test_the_device_says_what_it_is(device: Device) -> None:
    def ask(adb: Any) -> tuple[str, ...]:
        phone = adb.device("stand-in-1")
        named = (phone.get_state(), phone.get_serialno(), phone.getprop("ro.sametrack.stand_in"))
        return (*named, phone.app_info(PACKAGE).version_name)

    assert await call_adb(device, ask) == ("device", "stand-in-1", "1", "31.2.0")
    size = await call_adb(device, lambda adb: tuple(adb.device("stand-in-1").window_size()))
    assert size == (1080, 2400)


@pytest.mark.parametrize("v2", [False, True])
async def test_a_shell_command_has_its_output_and_its_status(device: Device, v2: bool) -> None:
    def ask(line: str) -> Callable[[Any], tuple[int, str]]:
        def run(adb: Any) -> tuple[int, str]:
            done = adb.device("stand-in-1").shell2(line, v2=v2)
            return done.returncode, done.output.strip()

        return run

    assert await call_adb(device, ask("echo one two")) == (0, "one two")
    status, said = await call_adb(device, ask("nonsense"))
    assert (status, "not found" in said) == (127, True)
    status, _ = await call_adb(device, ask("pm path no.such.app && echo never"))
    assert status == 1


async def test_a_tree_is_dumped_to_a_file_and_pulled(device: Device) -> None:
    def ask(adb: Any) -> tuple[str, int, bytes]:
        phone = adb.device("stand-in-1")
        phone.app_start(PACKAGE)
        tree = phone.dump_hierarchy()
        path = "/data/local/tmp/uidump.xml"
        return tree, phone.sync.stat(path).size, phone.sync.read_bytes(path)

    tree, size, pulled = await call_adb(device, ask)
    assert tree.startswith("<?xml version='1.0'")
    assert 'resource-id="localhost.vidplat.app:id/tab_home"' in tree
    assert (size, pulled.decode()) == (len(tree.encode()), tree)


@pytest.mark.parametrize(
    ("state", "said"), [("offline", "device offline"), ("unauthorized", "device unauthorized")]
)
async def test_a_device_that_is_not_online_refuses_commands(
    state: Any, said: str, device: Device
) -> None:
    device.phone.script.state = state
    with pytest.raises(AdbError, match=said):
        await call_adb(device, lambda adb: adb.device("stand-in-1").shell("echo"))


async def test_simulated_device_refuses_unknown_serials_files_and_services(device: Device) -> None:
    with pytest.raises(AdbError, match="'other' not found"):
        await call_adb(device, lambda adb: adb.device("other").shell("echo"))
    with pytest.raises(AdbError, match="No such file"):
        await call_adb(device, lambda adb: adb.device("stand-in-1").sync.read_bytes("/none"))
    with pytest.raises(AdbError, match="unknown host service"):
        await call_adb(device, lambda adb: adb.forward_list())


async def test_the_server_listens_on_loopback_alone(device: Device) -> None:
    assert device.server._server is not None
    assert {one.getsockname()[0] for one in device.server._server.sockets} == {"127.0.0.1"}
