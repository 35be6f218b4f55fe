"""Sounds that cost much or are malformed, and the reader of a decoder process."""

import struct
import tempfile
from collections.abc import Callable

from pipelines.audio.decode.decoder_process import handle_request
from pipelines.audio.decode.protocol import DecodeLimits, DecoderRequest
from warehouse.records.errors import AudioUnavailableError

MB = 1024 * 1024


def read_sound(body: bytes) -> object:
    """What a decoder process makes of a file; a refusal is raised under its reason."""
    with tempfile.NamedTemporaryFile(suffix=".mp4") as file:
        file.write(body)
        file.flush()
        order = DecoderRequest(path=file.name, task="measure", stretch=None)
        reply, packed = handle_request(order, DecodeLimits())
    if "reason" in reply:
        raise AudioUnavailableError("refused", surface="media", reason=reply["reason"])
    return len(packed)


def _wav(rate: int, channels: int, bits: int, size: int, *, stated: int | None = None) -> bytes:
    frame = channels * bits // 8
    kind = 3 if bits == 64 else 1
    form = struct.pack(
        "<HHIIHH", kind, channels, rate, min(rate * frame, 2**32 - 1), frame % 65536, bits
    )
    data = bytes(range(256)) * (size // 256)
    length = len(data) if stated is None else stated
    return (
        b"RIFF" + struct.pack("<I", min(length + 36, 2**32 - 1)) + b"WAVEfmt "
        + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", length) + data
    )  # fmt: skip


def _box(kind: bytes, body: bytes, size: int | None = None) -> bytes:
    return struct.pack(">I", (len(body) + 8 if size is None else size) % 2**32) + kind + body


_FTYP = _box(b"ftyp", b"isom\0\0\2\0isomiso2mp41")


def _nested(depth: int) -> bytes:
    body = b""
    for _ in range(depth):
        body = _box(b"moov", body)
    return body


def _table_of(count: int) -> bytes:
    """A track whose table of sample sizes claims so many entries."""
    sizes = _box(b"stsz", struct.pack(">III", 0, 0, count))
    media = _box(b"mdia", _box(b"minf", _box(b"stbl", sizes)))
    return _FTYP + _box(b"moov", _box(b"trak", media))


SOUNDS: dict[str, Callable[[], bytes]] = {
    "WAV of 192 kHz, 8 channels, 64 bit": lambda: _wav(192_000, 8, 64, 60 * MB),
    "WAV that states 4 GB": lambda: _wav(44_100, 2, 16, 4 * MB, stated=2**32 - 1),
    "WAV of 65,535 channels": lambda: _wav(44_100, 65_535, 16, 4 * MB),
    "WAV of 4 GHz": lambda: _wav(2**32 - 1, 1, 16, 4 * MB),
    "MP4 with a box of 4 GB": lambda: _FTYP + _box(b"moov", bytes(MB), 2**32 - 1),
    "MP4 with a box of 2^63": lambda: (
        _FTYP + struct.pack(">I4sQ", 1, b"moov", 2**63 - 1) + bytes(MB)
    ),
    "MP4 with boxes of no size": lambda: _FTYP + _box(b"free", b"", 0) * 100_000,
    "MP4 with boxes in boxes": lambda: _FTYP + _nested(3000),
    "MP4 with 2^32 samples": lambda: _table_of(2**32 - 1),
    "MP4 with 100,000 tracks": lambda: _FTYP + _box(b"moov", _box(b"trak", b"") * 100_000),
    "Ogg pages without an end": lambda: (
        (b"OggS\0\2" + bytes(20) + b"\1\xff" + bytes(255)) * 100_000
    ),
    "MP3 of noise": lambda: bytes(range(255, 127, -1)) * 80_000,
    "FLAC that states 2^36 samples": lambda: (
        b"fLaC\x80\0\0\x22" + struct.pack(">HH", 16, 65_535) + bytes(6)
        + b"\x0a\xc4\x42\xff\xff\xff\xff\xff" + bytes(16) + bytes(MB)
    ),
    "WebM of unknown size": lambda: b"\x1a\x45\xdf\xa3\x01\xff\xff\xff\xff\xff\xff\xff" + bytes(MB),
}  # fmt: skip
