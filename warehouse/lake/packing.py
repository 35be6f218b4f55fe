"""Compression of whole documents (job results, captured bodies) into one cell: zstd."""

from collections.abc import Mapping

import orjson
import zstandard

from warehouse.records.errors import WarehouseUnavailableError

_LEVEL = 3  # level 10 takes ten times as long and saves 10 % on JSON
_MAX_BYTES = 256 * 1024 * 1024  # a cell that claims more is damaged


def pack_bytes(body: bytes) -> bytes:
    """Compress to one zstd frame with a checksum."""
    # With a checksum: a damaged cell is then an error, not another document.
    return zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compress(body)


def unpack_bytes(packed: bytes) -> bytes:
    """Decompress the result of `pack_bytes`.

    Raises:
        WarehouseUnavailableError: The cell is damaged.
    """
    try:
        # The size is checked first: a damaged cell must not allocate gigabytes.
        size = zstandard.frame_content_size(packed)
        if not 0 <= size <= _MAX_BYTES:
            raise WarehouseUnavailableError("a stored document has an invalid size")
        return zstandard.ZstdDecompressor().decompress(packed)
    except zstandard.ZstdError as error:
        raise WarehouseUnavailableError("a stored document is damaged") from error


def pack_document(document: Mapping[str, object]) -> bytes:
    """Serialise a document to compressed JSON."""
    return pack_bytes(orjson.dumps(dict(document)))


def unpack_document(packed: bytes) -> dict[str, object]:
    """Parse the result of `pack_document`.

    Raises:
        WarehouseUnavailableError: The cell is damaged.
    """
    try:
        document: dict[str, object] = orjson.loads(unpack_bytes(packed))
    except orjson.JSONDecodeError as error:
        raise WarehouseUnavailableError("a stored document is not JSON") from error
    return document
