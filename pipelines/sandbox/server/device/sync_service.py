"""The file service of a device, as `adb pull` speaks it: reading only."""

import asyncio

from pipelines.sandbox.server.device.phone import LostError, SimulatedPhone

_FILE_MODE = 0o100660
_CHUNK = 64 * 1024
_LONGEST_PATH = 1024


async def serve_sync(
    phone: SimulatedPhone, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Answer until the other side quits.

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
