"""An adb server on loopback, with one device behind it: the protocol as `adb` speaks it.

A request is its length in four hex digits, then its text; the answer begins with `OKAY` or `FAIL`.
After `host:transport:...` or `host:tport:...` the same connection speaks to the device.
"""

import asyncio
from collections.abc import Callable, Mapping

from sandbox.server.device.phone import LostError, SimulatedPhone

LOOPBACK = "127.0.0.1"
VERSION = 41
TRANSPORT_ID = 1
FEATURES = "shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir,apex,abb,abb_exec"
_STDOUT, _EXIT = 1, 3
_LONGEST = 0xFFFF
_FILE_MODE = 0o100660
_CHUNK = 64 * 1024
_LONGEST_PATH = 1024


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
        name, *flags = service.split(",")
        if name in ("shell", "exec"):
            writer.write(b"OKAY")
            await self._shell(rest, writer, in_packets=name == "shell" and "v2" in flags)
        elif name == "sync":
            writer.write(b"OKAY")
            await _serve_sync(self.phone, reader, writer)
        else:
            await _fail(writer, "closed")

    async def _shell(self, line: str, writer: asyncio.StreamWriter, *, in_packets: bool) -> None:
        said, status = await self._run(line)
        if not in_packets:
            writer.write(said.encode())
        else:
            if said:
                writer.write(_packet(_STDOUT, said.encode()))
            writer.write(_packet(_EXIT, bytes([status])))
        await writer.drain()

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


async def _okay(writer: asyncio.StreamWriter, told: str, *, word: bytes = b"OKAY") -> None:
    body = told.encode()[:_LONGEST]
    writer.write(word + f"{len(body):04x}".encode() + body)
    await writer.drain()


async def _fail(writer: asyncio.StreamWriter, told: str) -> None:
    await _okay(writer, told, word=b"FAIL")


def _packet(kind: int, body: bytes) -> bytes:
    return bytes([kind]) + len(body).to_bytes(4, "little") + body


async def _serve_sync(
    phone: SimulatedPhone, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Send files until the other side quits, as `adb pull` asks for them: reading only.

    Raises:
        LostError: The device goes away in the middle of a file.
    """
    while True:
        word = await reader.readexactly(4)
        length = int.from_bytes(await reader.readexactly(4), "little")
        if word == b"QUIT" or length > _LONGEST_PATH:
            return
        path = (await reader.readexactly(length)).decode("utf-8", "replace")
        body = phone.files.get(path)
        if word == b"STAT":
            writer.write(_stat(body))
        elif word == b"RECV" and body is not None:
            _send(phone, writer, body)
        elif word == b"LIST":
            writer.write(b"DONE" + bytes(16))
        else:
            told = b"No such file or directory" if word == b"RECV" else b"read-only device"
            writer.write(b"FAIL" + len(told).to_bytes(4, "little") + told)
        await writer.drain()


def _stat(body: bytes | None) -> bytes:
    mode, size, moment = (0, 0, 0) if body is None else (_FILE_MODE, len(body), 1)
    return b"STAT" + b"".join(number.to_bytes(4, "little") for number in (mode, size, moment))


def _send(phone: SimulatedPhone, writer: asyncio.StreamWriter, body: bytes) -> None:
    if phone.is_losing_dump:
        half = body[: len(body) // 2]
        writer.write(b"DATA" + len(half).to_bytes(4, "little") + half)
        raise LostError
    for start in range(0, len(body), _CHUNK):
        chunk = body[start : start + _CHUNK]
        writer.write(b"DATA" + len(chunk).to_bytes(4, "little") + chunk)
    writer.write(b"DONE" + bytes(4))
