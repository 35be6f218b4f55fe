"""What storage libraries report becomes an error that says what to do."""

import sqlite3

import pytest

from warehouse.files import translate_errors
from warehouse.records.errors import WarehouseUnavailableError


@pytest.mark.parametrize(
    ("said", "detail", "hint"),
    [
        ("disk I/O error", "writing failed: the disk reports an error", "system's log"),
        (
            "[Errno 5] Input/output error",
            "writing failed: the disk reports an error",
            "system's log",
        ),
        ("attempt to write a readonly database", "the disk is read-only", "mount the disk"),
        ("database is locked", "writing failed (OperationalError)", "free disk space"),
    ],
)
def test_an_error_of_a_library_says_what_to_check(said: str, detail: str, hint: str) -> None:
    with (
        pytest.raises(WarehouseUnavailableError) as caught,
        translate_errors("writing", causes=(sqlite3.OperationalError,)),
    ):
        raise sqlite3.OperationalError(said)
    assert detail in caught.value.detail
    assert hint in (caught.value.hint or "")
