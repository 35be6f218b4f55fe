"""Documents are packed whole, and damage is noticed."""

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from warehouse.lake.record_rows import pack_bytes, pack_document, unpack_bytes, unpack_document
from warehouse.records.errors import WarehouseUnavailableError

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc"), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text("abc"), values, max_size=4))
def test_document_comes_back_as_it_went_in(document: dict[str, object]) -> None:
    assert unpack_document(pack_document(document)) == document


@given(st.binary(max_size=500))
def test_body_comes_back_as_it_went_in(body: bytes) -> None:
    assert unpack_bytes(pack_bytes(body)) == body


def test_large_repetitive_document_becomes_small() -> None:
    document = {
        "aweme_list": [{"aweme_id": str(7_000_000_000_000_000_000 + n)} for n in range(500)]
    }
    assert len(pack_document(document)) < 4_000


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"no frame",
        pack_bytes(b"a" * 100)[:-6],
        bytes([*pack_bytes(b"abcdefgh")[:-5], 0, 0, 0, 0, 0]),
        zstandard.ZstdCompressor().compressobj().compress(b"a"),
        pack_bytes(b"{"),
    ],
)
def test_damaged_cell_is_refused(damaged: bytes) -> None:
    with pytest.raises(WarehouseUnavailableError):
        unpack_document(damaged)


@pytest.mark.parametrize(
    "cell",
    [
        zstandard.ZstdCompressor(write_content_size=False).compress(b"{}"),
        bytes.fromhex("28b52ffd e0") + (2**40).to_bytes(8, "little") + bytes(8),
    ],
    ids=["no size", "a terabyte"],
)
def test_a_cell_that_claims_no_size_or_too_large_a_one_is_not_unpacked(cell: bytes) -> None:
    with pytest.raises(WarehouseUnavailableError, match="invalid size"):
        unpack_bytes(cell)
