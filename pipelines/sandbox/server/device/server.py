"""An adb server on loopback, with one device behind it: the protocol as `adb` speaks it.

A request is its length in four hex digits, then its text; the answer begins with `OKAY` or `FAIL`.
After `host:transport:...` or `host:tport:...` the same connection speaks to the device.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from pipelines.sandbox.server.device.phone import LostError, SimulatedPhone
from pipelines.sandbox.server.device.sync_service import serve_sync

LOOPBACK = "127.0.0.1"
VERSION = 41
TRANSPORT_ID = 1
FEATURES = "shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir,apex,abb,abb_exec"
_STDOUT, _EXIT = 1, 3
_LONGEST = 0xFFFF


class _GoneError(Exception):
    """The connection is at its end."""


class AdbServer:
    """Serves one phone. `is_waited_for`: a client waits for a response that never comes."""

    def __init__(self, phone: SimulatedPhone) -> None:
        self.phone = phone
        self.port = 0
        self.is_waited_for = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._talks: set[asyncio.Task[None]] = set()
        self._of_host: Mapping[str, Callable[[], str]] = {
            "version": lambda: f"{VERSION:04x}",
            "devices": lambda: self._listed("{serial}\t{state}\n"),
            "devices-l": lambda: self._listed(
                "{serial}             {state} product:stand_in model:Stand_in transport_id:1\n"
            ),
            "features": lambda: FEATURES,
            "host-features": lambda: FEATURES,
        }

    async def start(self, port: int) -> None:
        """Listen; port 0 takes a free one.

        Raises:
            OSError: The port is taken.
        """
        self._server = await asyncio.start_server(self._talk, LOOPBACK, port)
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """End every connection and stop listening."""
        if self._server is None:
            return
        self._server.close()
        for talk in self._talks:
            talk.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)
        await self._server.wait_closed()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = asyncio.current_task()
        assert talk is not None, "a connection is served by a task"
        self._talks.add(talk)
        try:
            await self._serve(reader, writer)
        except (_GoneError, ConnectionError, asyncio.IncompleteReadError, ValueError):
            pass  # whoever asked has left, or speaks something else
        except LostError:
            self.phone.lose()
            writer.transport.abort()
        finally:
            self._talks.discard(talk)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await _read(reader)
        prefix, _, service = request.partition(":")
        if prefix == "host":
            await self._host(service, reader, writer)
        elif prefix == "host-serial":
            serial, _, word = service.rpartition(":")
            await self._of_serial(serial, word, writer)
        else:
            await _fail(writer, "unknown host service")

    async def _host(
        self, service: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        word = self._of_host.get(service)
        if word is not None:
            await _okay(writer, word())
            return
        for prefix, has_id in (("transport:", False), ("tport:serial:", True)):
            if service.startswith(prefix):
                await self._reach(service.removeprefix(prefix), writer)
                writer.write(b"OKAY")
                if has_id:
                    writer.write(TRANSPORT_ID.to_bytes(8, "little"))
                await self._device(reader, writer)
                return
        await _fail(writer, "unknown host service")

    async def _of_serial(self, serial: str, word: str, writer: asyncio.StreamWriter) -> None:
        if word == "get-state":
            await self._reach(serial, writer, must_be_online=False)
            await _okay(writer, self.phone.script.state)
            return
        await self._reach(serial, writer)
        told = {"features": FEATURES, "get-serialno": serial, "get-devpath": "stand-in"}.get(word)
        if told is None:
            await _fail(writer, "unknown host service")
            return
        await _okay(writer, told)

    async def _reach(
        self, serial: str, writer: asyncio.StreamWriter, *, must_be_online: bool = True
    ) -> None:
        """Refuse a device that is not there, or not online."""
        state = self.phone.script.state
        if serial != self.phone.serial or not self.phone.is_there():
            await _fail(writer, f"device '{serial}' not found")
        elif state == "unauthorized":
            await _fail(writer, "device unauthorized.\nCheck the dialog on the device.")
        elif state == "offline" and must_be_online:
            await _fail(writer, "device offline")
        else:
            return
        raise _GoneError

    async def _device(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await writer.drain()
        service, _, rest = (await _read(reader)).partition(":")
        serve: Mapping[str, Callable[[], Awaitable[None]]] = {
            "shell": lambda: self._shell(rest, writer),
            "exec": lambda: self._shell(rest, writer),
            "sync": lambda: self._sync(reader, writer),
        }
        name, *flags = service.split(",")
        if name == "shell" and "v2" in flags:
            await self._shell_v2(rest, writer)
        elif name in serve:
            await serve[name]()
        else:
            await _fail(writer, "closed")

    async def _shell(self, line: str, writer: asyncio.StreamWriter) -> None:
        writer.write(b"OKAY")
        said, _ = await self._run(line)
        writer.write(said.encode())
        await writer.drain()

    async def _shell_v2(self, line: str, writer: asyncio.StreamWriter) -> None:
        writer.write(b"OKAY")
        said, status = await self._run(line)
        if said:
            writer.write(_packet(_STDOUT, said.encode()))
        writer.write(_packet(_EXIT, bytes([status])))
        await writer.drain()

    async def _sync(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"OKAY")
        await serve_sync(self.phone, reader, writer)

    async def _run(self, line: str) -> tuple[str, int]:
        script = self.phone.script
        if script.is_silent:
            self.is_waited_for.set()
            await asyncio.Event().wait()  # until the server ends
        if script.delay_s:
            await asyncio.sleep(script.delay_s)
        return self.phone.run(line)

    def _listed(self, line: str) -> str:
        if not self.phone.is_there():
            return ""
        return line.format(serial=self.phone.serial, state=self.phone.script.state)


async def _read(reader: asyncio.StreamReader) -> str:
    """One request; a connection that asks nothing is at its end."""
    length = int(await reader.readexactly(4), 16)
    return (await reader.readexactly(length)).decode("utf-8", "replace")


async def _okay(writer: asyncio.StreamWriter, told: str) -> None:
    body = told.encode()[:_LONGEST]
    writer.write(b"OKAY" + f"{len(body):04x}".encode() + body)
    await writer.drain()


async def _fail(writer: asyncio.StreamWriter, told: str) -> None:
    body = told.encode()
    writer.write(b"FAIL" + f"{len(body):04x}".encode() + body)
    await writer.drain()


def _packet(kind: int, body: bytes) -> bytes:
    return bytes([kind]) + len(body).to_bytes(4, "little") + body
