"""Looking at accounts and hashtags of a watchlist: captured as ever, compared by what was shown."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from pipelines.watchlists.changes import find_changes
from pipelines.watchlists.open_service import SCREEN_LIMIT, EntryChecker
from sandbox.mock.provider import open_world
from sandbox.world.guest_view import VideoTextIndex
from tests.scripted_reads import ReadService, open_reads
from warehouse.records.errors import InputError, UpstreamError
from warehouse.records.watchlists import DigestThresholds, WatchlistEntry

pytestmark = pytest.mark.full

SEED, SIZE = 11, 0.1
WORLD = open_world(SEED, SIZE)
ACCOUNT = WatchlistEntry(kind="account", input=WORLD.sec_uid(3))
HASHTAG = WatchlistEntry(kind="hashtag", input=next(iter(VideoTextIndex(WORLD).names)))


@pytest.fixture(scope="module")
def reads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReadService]:
    with open_reads(
        tmp_path_factory.mktemp("screens"), mock_seed=SEED, mock_size=SIZE
    ) as read_service:
        yield read_service


@pytest.fixture
def screens(reads: ReadService, tmp_path: Path) -> EntryChecker:
    return EntryChecker(
        settings=reads.sources.settings,
        profile=reads.sources.profile,
        control=reads.control,
        open_engine=lambda: reads.engine,
        sounds_dir=tmp_path,
    )


def captured(reads: ReadService, surface: str) -> int:
    (row,) = reads.rows(f"select count(*) as n from raw.captures where surface = '{surface}'")
    return int(row["n"])


def test_an_account_is_its_profile_and_its_first_page(
    screens: EntryChecker, reads: ReadService
) -> None:
    before = captured(reads, "user_info"), captured(reads, "user_posts")
    seen = screens.observe(ACCOUNT)
    assert (seen.kind, seen.subject) == ("account", ACCOUNT.input)
    assert seen.title
    assert seen.figures["follower_count"] is not None
    assert 0 < len(seen.works) <= 20
    assert {work.rank for work in seen.works} == {None}
    after = captured(reads, "user_info"), captured(reads, "user_posts")
    assert after == (before[0] + 1, before[1] + 1)


def test_a_hashtag_is_its_figures_and_its_first_screen_in_order(
    screens: EntryChecker, reads: ReadService
) -> None:
    before = captured(reads, "hashtag_info")
    seen = screens.observe(HASHTAG)
    assert (seen.kind, seen.subject) == ("hashtag", HASHTAG.input)
    assert [work.rank for work in seen.works] == list(range(1, len(seen.works) + 1))
    assert 0 < len(seen.works) <= SCREEN_LIMIT
    assert captured(reads, "hashtag_info") == before + 1


@pytest.mark.parametrize("entry", [ACCOUNT, HASHTAG], ids=lambda entry: str(entry.kind))
def test_a_world_that_stands_still_changes_nothing(
    screens: EntryChecker, entry: WatchlistEntry
) -> None:
    first, second = screens.observe(entry), screens.observe(entry)
    assert second.observed_at - first.observed_at > timedelta(0)
    limits = DigestThresholds(velocity=0.001, rank_change=1)
    assert find_changes(first, second, thresholds=limits).count == 0


@pytest.mark.parametrize(
    "entry",
    [
        WatchlistEntry(kind="account", input="MS4wLjABAAAAnobody"),
        WatchlistEntry(kind="account", input="no account at all"),
        WatchlistEntry(kind="hashtag", input="no hashtag at all"),
    ],
    ids=lambda entry: str(entry.input),
)
def test_unknown_watchlist_entry_is_a_named_error(
    screens: EntryChecker, entry: WatchlistEntry
) -> None:
    with pytest.raises((InputError, UpstreamError)) as caught:
        screens.observe(entry)
    assert caught.value.detail
