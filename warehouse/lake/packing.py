"""Packing of whole documents (job results, captured bodies) into one cell, and back.

Here: the format, zstd over bytes or over JSON. Not here: what stands in a document.
"""

from collections.abc import Mapping

import orjson
import zstandard

from warehouse.records.errors import WarehouseUnavailableError

_LEVEL = 3  # 10 and above cost ten times the time for a tenth less space on JSON
_MAX_BYTES = 256 * 1024 * 1024  # a cell that claims more is damaged, not ours


def pack_bytes(body: bytes) -> bytes:
    """One zstd frame with a checksum."""
    return zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compress(body)


def unpack_bytes(packed: bytes) -> bytes:
    """The body of `pack_bytes`.

    Raises:
        WarehouseUnavailableError: The cell is damaged.
    """
    try:
        size = zstandard.frame_content_size(packed)
        if not 0 <= size <= _MAX_BYTES:
            raise WarehouseUnavailableError("a stored document has no believable size")
        return zstandard.ZstdDecompressor().decompress(packed)
    except zstandard.ZstdError as error:
        raise WarehouseUnavailableError("a stored document is damaged") from error


def pack_document(document: Mapping[str, object]) -> bytes:
    """A JSON document as compressed bytes."""
    return pack_bytes(orjson.dumps(dict(document)))


def unpack_document(packed: bytes) -> dict[str, object]:
    """The document of `pack_document`.

    Raises:
        WarehouseUnavailableError: The cell is damaged.
    """
    try:
        document: dict[str, object] = orjson.loads(unpack_bytes(packed))
    except orjson.JSONDecodeError as error:
        raise WarehouseUnavailableError("a stored document is not JSON") from error
    return document
