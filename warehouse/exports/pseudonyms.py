"""Pseudonymised tables: keyed hashes for accounts and videos, identifying columns left out.

The key stays in the home, so an account has the same pseudonym in every export of this world, and
nobody else can reproduce it. `tables.privacy` decides the treatment of each column.
"""

import hmac
import secrets

import pyarrow as pa

from warehouse.files import write_once
from warehouse.home import Home
from warehouse.records.errors import WarehouseUnavailableError
from warehouse.tables import Table
from warehouse.tables.dictionary import treatment_of

_KEY_BYTES = 32
_HASH_CHARS = 24  # 96 bits of the hash: no collision among ten billion ids
_PUBLIC_SURFACES = ("music_", "chart_", "hashtag_", "track")
"""Prefixes of surfaces whose entity is neither an account nor a video."""
PSEUDONYM_NOTE = (
    "Accounts and videos are keyed hashes; the key is not part of this export. Names, "
    "signatures, texts and links are left out. Counts, times and ids of music and hashtags are "
    "exact, so a known video may still be recognised."
)


class Pseudonyms:
    """Creates pseudonyms with one key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def of(self, kind: str, value: str) -> str:
        """Return the pseudonym of an id: `account-…` or `work-…`."""
        # The kind is part of the hash: an account and a video with one number stay apart.
        digest = hmac.new(self._key, f"{kind}:{value}".encode(), "sha256").hexdigest()
        return f"{kind}-{digest[:_HASH_CHARS]}"

    def applied(self, table: Table, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a batch of rows with each column kept, hashed or left out."""
        treatments = {column.name: treatment_of(column) for column in table.columns}
        # The surface of a row tells what its entity is: an account, a video, or something public.
        surfaces: list[str | None] = [None] * batch.num_rows
        for name in ("source_surface", "surface"):
            if name in batch.schema.names:
                surfaces = batch.column(name).to_pylist()
        fields, arrays = [], []
        for field, array in zip(batch.schema, batch.columns, strict=True):
            treatment = treatments[field.name]
            if treatment == "out":
                continue
            fields.append(field)
            if treatment == "kept":
                arrays.append(array)
                continue
            rows = zip(array.to_pylist(), surfaces, strict=True)
            pseudonyms = [self._pseudonym(treatment, value, surface) for value, surface in rows]
            arrays.append(pa.array(pseudonyms, type=pa.string()))
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))

    def _pseudonym(self, treatment: str, value: str | None, surface: str | None) -> str | None:
        if value is None:
            return None
        if treatment != "entity":
            return self.of(treatment, value)
        if surface is not None and surface.startswith(_PUBLIC_SURFACES):
            return value
        if surface is not None and surface.startswith("user_"):
            return self.of("account", value)
        # What is not a number, such as a search term, may name a person.
        return self.of("work" if value.isdigit() else "other", value)


def open_pseudonyms(home: Home) -> Pseudonyms:
    """Return the pseudonyms of a world.

    The key is created on first use and readable by its owner only.

    Raises:
        OSError: The key cannot be read or created.
        WarehouseUnavailableError: The key is damaged.
    """
    path = home.pseudonyms_key
    if not path.exists():
        write_once(path, secrets.token_bytes(_KEY_BYTES))
    key = path.read_bytes()
    if len(key) != _KEY_BYTES:
        raise WarehouseUnavailableError(
            f"the key of pseudonyms is damaged: {path.name}",
            hint="restore a backup with `sametrack restore`, or delete the file: exports then have "
            "other pseudonyms",
        )
    return Pseudonyms(key)
