"""An account is erased although captures of it are written meanwhile, or the erasure says where
it is still found.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from warehouse.control import open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import open_home
from warehouse.lake.record_rows import video_row
from warehouse.lake.store import Lake, open_lake
from warehouse.maintenance.erasure import ERASURE_ROUNDS, AccountNames, ErasureStores, erase_account
from warehouse.queries.erasure import read_erasure_marks
from warehouse.records.videos import Author, Video

pytestmark = pytest.mark.full

GONE, STAYS = "MS4wLjABAAAAgone-0001", "MS4wLjABAAAAstays-0002"
type OpenStores = Callable[[Callable[[AccountNames], int]], ErasureStores]


def capture(lake: Lake, aweme_id: str, sec_uid: str = GONE) -> None:
    video = Video(
        aweme_id=aweme_id, surface="user_posts", observed_at=datetime(2026, 11, 1, tzinfo=UTC),
        author=Author(sec_uid=sec_uid),
    )  # fmt: skip
    lake.append(
        "raw.videos", [video_row(video, capture_id=None, job_id=None, data_provider="mock")]
    )


def videos(stores: ErasureStores) -> list[str]:
    stores.engine.refresh()
    found = stores.engine.rows("select aweme_id from raw.videos order by 1")
    return [str(row["aweme_id"]) for row in found]


@pytest.fixture
def open_stores(tmp_path: Path) -> Iterator[OpenStores]:
    """Stores with a video of each account; `meanwhile` is called once in each round."""
    with ExitStack() as stack:

        def opened(meanwhile: Callable[[AccountNames], int]) -> ErasureStores:
            home = open_home(tmp_path, "sandbox")
            lake = open_lake(home.lake_url, world="sandbox")
            control = stack.enter_context(closing(open_control(home.control_url, world="sandbox")))
            engine = stack.enter_context(closing(Engine(lake)))
            capture(lake, "7410000000000000001")
            capture(lake, "7420000000000000001", STAYS)
            return ErasureStores(
                home=home, lake=lake, engine=engine, control=control, forget_runs=meanwhile
            )

        yield opened


def test_a_row_that_was_just_being_written_is_erased_in_another_round(
    open_stores: OpenStores,
) -> None:
    rounds: list[frozenset[str]] = []

    def meanwhile(names: AccountNames) -> int:
        rounds.append(names.videos)
        if len(rounds) == 1:
            capture(stores.lake, "7410000000000000001")
        return 1

    stores = open_stores(meanwhile)
    erased = erase_account(stores, GONE)
    assert rounds == [{"7410000000000000001"}] * 2
    assert (erased.proof.is_clean, erased.rows["raw.videos"], erased.runs) == (True, 2, 2)
    assert videos(stores) == ["7420000000000000001"]
    assert len(stores.engine.rows("select * from raw.erasures")) == 1


def test_a_video_that_appears_meanwhile_is_marked_too(open_stores: OpenStores) -> None:
    late = "7410000000000000002"

    def meanwhile(names: AccountNames) -> int:
        if late not in names.videos:
            capture(stores.lake, late)
        return 0

    stores = open_stores(meanwhile)
    assert erase_account(stores, GONE).proof.is_clean
    marks = read_erasure_marks(stores.engine)
    assert [marks.hold(name) for name in (GONE, late, STAYS)] == [True, True, False]


def test_an_account_that_is_captured_again_and_again_is_not_called_erased(
    open_stores: OpenStores,
) -> None:
    rounds: list[int] = []

    def meanwhile(_names: AccountNames) -> int:
        rounds.append(1)
        capture(stores.lake, "7410000000000000001")
        return 0

    stores = open_stores(meanwhile)
    erased = erase_account(stores, GONE)
    assert len(rounds) == ERASURE_ROUNDS
    assert not erased.proof.is_clean
    assert all(place.startswith("lake/") for place in erased.proof.places)
