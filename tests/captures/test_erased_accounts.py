"""A capture keeps nothing of an account that was erased, and asks nothing about it."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.records.erasure import ErasureMarks, erasure_mark
from warehouse.records.errors import UnresolvedIdError
from warehouse.records.videos import Unavailability

pytestmark = pytest.mark.full

SALT = "a salt"
OTHER_SEC_UID = "MS4wLjABAAAAanother-account_0001"


def mark(stores: Any, *names: str) -> None:
    row = {
        "erasure_id": "e", "salt": SALT, "marks": [erasure_mark(SALT, name) for name in names],
        "erased_at": datetime.now(UTC),
    }  # fmt: skip
    stores.lake.append("raw.erasures", [row])
    stores.engine.refresh()


async def test_a_list_is_kept_without_its_works_and_without_the_body(
    stores: Any, source: Any, begin: Any
) -> None:
    mark(stores, "sec")
    async with begin() as captures:
        walk = await captures.walk_music("1234567890", limit=10)
    assert list(walk.videos) == []
    assert stores.rows("select * from raw.videos") == []
    assert stores.rows("select * from raw.capture_items") == []
    assert stores.rows("select * from raw.payloads") == []
    assert stores.rows("select distinct outcome, payload_sha256 from raw.captures") == [
        {"outcome": "ok", "payload_sha256": None}
    ]


async def test_captures_of_an_erased_account_send_no_request(
    stores: Any, source: Any, begin: Any
) -> None:
    mark(stores, "sec", "7410000000000000001")
    async with begin() as captures:
        with pytest.raises(UnresolvedIdError, match="erased"):
            await captures.account("sec")
        with pytest.raises(UnresolvedIdError, match="erased"):
            await captures.walk_user_posts("sec")
        assert isinstance(await captures.video("7410000000000000001"), Unavailability)
    assert source.asked == []
    assert stores.rows("select * from raw.captures") == []


async def test_handle_of_an_erased_account_is_not_requested(
    stores: Any, source: Any, begin: Any
) -> None:
    mark(stores, "sec", "@mia_00")
    async with begin() as captures:
        for text in ("@mia_00", " @Mia_00 "):
            with pytest.raises(UnresolvedIdError, match="erased"):
                await captures.resolve_user(text)
    assert source.asked == []
    assert stores.rows("select * from raw.captures") == []


async def test_erased_account_is_not_stored_under_a_new_handle(
    stores: Any, source: Any, begin: Any
) -> None:
    """An account may take another handle after its erasure."""
    mark(stores, "sec of @mia_00")
    async with begin() as captures:
        with pytest.raises(UnresolvedIdError, match="erased"):
            await captures.resolve_user("@mia_00")
    assert stores.rows("select * from raw.accounts") == []
    assert stores.rows("select * from raw.captures") == []


async def test_a_new_work_of_it_is_not_shown_and_leaves_no_row(
    stores: Any, source: Any, begin: Any
) -> None:
    mark(stores, "sec")
    async with begin() as captures:
        found = await captures.video("7499999999999999999")
    assert isinstance(found, Unavailability)
    assert found.reason == "erased"
    assert stores.rows("select * from raw.captures") == []


async def test_captures_of_other_accounts_are_stored_after_an_erasure(
    stores: Any, source: Any, begin: Any
) -> None:
    mark(stores, OTHER_SEC_UID)
    async with begin() as captures:
        walk = await captures.walk_music("1234567890", limit=10)
    assert len(stores.rows("select * from raw.videos")) == len(list(walk.videos)) > 0
    assert len(stores.rows("select * from raw.payloads")) > 0


ids = st.text("0123456789abcdefghijklmnopqrstuvwxyzABCDEF_-", min_size=6, max_size=80)


@given(ids, st.lists(ids, max_size=5))
def test_a_body_is_known_by_any_id_in_it_and_by_nothing_else(name: str, others: list[str]) -> None:
    marks = ErasureMarks({SALT: frozenset({erasure_mark(SALT, name)})})
    reported = "".join(f'{{"id":"{other}"}},' for other in others if other != name).encode()
    assert not marks.occur_in(reported)
    assert marks.occur_in(reported + f'{{"sec_uid":"{name}"}}'.encode())
    assert marks.occur_in(quote(f'{{"sec_uid":"{name}"}}', safe="").encode())
    assert not marks.occur_in(quote(reported, safe="").encode())
    assert marks.hold(None, name)
    assert not marks.hold(None, f"{name}x")
