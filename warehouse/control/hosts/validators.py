"""Cache validators of responses, for later requests. The bodies are in the lake."""

from typing import NamedTuple

from sqlalchemy import delete, select

from warehouse.control.database import ControlStore
from warehouse.control.schema import CACHE_VALIDATORS

KEPT_S = 30 * 86_400.0


class CacheValidators(NamedTuple):
    """Cache validators of a response, and the hash of its body."""

    etag: str | None
    last_modified: str | None
    payload_sha256: str


def save(control: ControlStore, address: str, validators: CacheValidators) -> None:
    """Store the cache validators of a URL; `address` is a hash of it."""
    now = control.now()
    values = {"address": address, **validators._asdict(), "kept_at": now}
    expired = delete(CACHE_VALIDATORS).where(CACHE_VALIDATORS.c.kept_at < now - KEPT_S)
    with control.write() as connection:
        connection.execute(expired)
        connection.execute(control.upsert(CACHE_VALIDATORS, values))


def read(control: ControlStore, address: str) -> CacheValidators | None:
    """Return the cache validators of a URL, or None."""
    columns = (
        CACHE_VALIDATORS.c.etag,
        CACHE_VALIDATORS.c.last_modified,
        CACHE_VALIDATORS.c.payload_sha256,
    )
    query = select(*columns).where(CACHE_VALIDATORS.c.address == address)
    with control.read() as connection:
        row = connection.execute(query).first()
    return None if row is None else CacheValidators(*row)
