"""Rows of others keep no displayed name of an erased account, however short; other names stay."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from warehouse.control import open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import open_home
from warehouse.lake.record_rows import observation_row, pack_document, search_page_row, video_row
from warehouse.lake.store import open_lake
from warehouse.maintenance.compaction import sort_lake
from warehouse.maintenance.erasure import ErasureStores, erase_account
from warehouse.queries.erasure import read_erasure_marks
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.values import Row
from warehouse.records.videos import Account, Author, Music, Statistics, Track, Video
from warehouse.tables import BY_NAME

pytestmark = pytest.mark.full

GONE, STAYS = "MS4wLjABAAAAgone-0001", "MS4wLjABAAAAstays-0002"
ORIGIN: Row = {"capture_id": None, "job_id": None, "data_provider": "mock"}
NOW = datetime(2026, 11, 1, tzinfo=UTC)
NICKNAMES = ("Amy", "深", "林深", "Amelie")
OTHERS = ("Amya", "xAmy", "深a", "x深")


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[ErasureStores]:
    home = open_home(tmp_path, "sandbox")
    lake = open_lake(home.lake_url, world="sandbox")
    with (
        closing(open_control(home.control_url, world="sandbox")) as control,
        closing(Engine(lake)) as engine,
    ):
        yield ErasureStores(home=home, lake=lake, engine=engine, control=control)


def add_account(stores: ErasureStores, *nicknames: str) -> None:
    """The account, observed under each name."""
    seen = [
        Account(sec_uid=GONE, surface="user_info", observed_at=NOW, nickname=nickname)
        for nickname in nicknames
    ]
    stores.lake.append("raw.accounts", [observation_row(account, **ORIGIN) for account in seen])


def add_sound(stores: ErasureStores, number: int, title: str, name: str) -> None:
    """A sound, and a video of another account that uses it."""
    music = Music(music_id=f"71000000000000000{number:02}", title=title, author=name)
    track = Track(
        music_id=music.music_id, surface="music_info", observed_at=NOW, title=title, author=name,
        owner_nickname=name,
    )  # fmt: skip
    video = Video(
        aweme_id=f"74200000000000000{number:02}", surface="music_list", observed_at=NOW,
        author=Author(sec_uid=STAYS), music=music,
    )  # fmt: skip
    stores.lake.append("raw.tracks", [observation_row(track, **ORIGIN)])
    stores.lake.append("raw.videos", [video_row(video, **ORIGIN)])


def add_search(stores: ErasureStores, number: int, term: str) -> None:
    """A page of a search, and a video that a job found by it."""
    first = SearchPosition()
    page: Row = {
        **search_page_row(
            SearchPage(videos=(), next_position=first, has_more=False), term=term, place=first
        ),
        **ORIGIN, "capture_id": f"c{number}", "surface": "search_stream", "observed_at": NOW,
    }  # fmt: skip
    related: Row = {
        "job_id": "job", "aweme_id": f"74200000000000000{number:02}", "music_id": None,
        "search_relevance_level": "exact_title", "search_terms": ["another term", term],
    }  # fmt: skip
    stores.lake.append("raw.search_pages", [page])
    stores.lake.append("marts.search_related", [related])


def add_captured_video(
    stores: ErasureStores, capture_id: str, likes: int, **captured: object
) -> None:
    """A video of another account, as a capture of a search for the name read it."""
    video = Video(
        aweme_id="7420000000000000001", surface="search_stream", observed_at=NOW,
        author=Author(sec_uid=STAYS), statistics=Statistics(digg_count=likes),
    )  # fmt: skip
    columns = dict.fromkeys(column.name for column in BY_NAME["raw.captures"].columns)
    del columns["committed_at"]
    capture: Row = columns | {
        "capture_id": capture_id, "surface": "search_stream", "entity_id": "林深", "sequence": 1,
        "outcome": "ok", "request_count": 1, "parser_version": "1", "data_provider": "mock",
        "observed_at": NOW,
    } | captured  # fmt: skip
    stores.lake.append("raw.videos", [video_row(video, **ORIGIN | {"capture_id": capture_id})])
    stores.lake.append("raw.captures", [capture])


def names_left(stores: ErasureStores) -> list[tuple[object, ...]]:
    """Title, artist and owner of each sound, as its own row and that of the video show them."""
    stores.engine.refresh()
    rows = stores.engine.rows(
        """
        select title, author, owner_nickname, music_title, music_author
        from raw.tracks join raw.videos using (music_id) order by music_id
        """
    )
    return [tuple(row.values()) for row in rows]


def test_sounds_of_the_account_lose_its_names_and_others_keep_theirs(
    stores: ErasureStores,
) -> None:
    add_account(stores, *NICKNAMES)
    for number, name in enumerate((*NICKNAMES, *OTHERS)):
        add_sound(stores, number, f"@{name}创作的原声", name)
        add_sound(stores, number + 50, f"@{name}创作的原声（原声中的歌曲：晚风-某某乐队）", name)
    assert erase_account(stores, GONE).proof.is_clean
    left = names_left(stores)
    assert left.count((None,) * 5) == 2 * len(NICKNAMES)
    assert [row[1] for row in left if row[0] and row[0] == row[3]] == [*OTHERS, *OTHERS]
    assert all(row[1] == row[2] == row[4] for row in left)
    marks = read_erasure_marks(stores.engine)
    titles = [f"@{name}创作的原声" for name in (*NICKNAMES, *OTHERS)]
    assert list(filter(marks.hold_title, titles)) == titles[: len(NICKNAMES)]


def test_a_result_with_a_sound_of_a_short_name_goes_and_others_stay(
    stores: ErasureStores,
) -> None:
    add_account(stores, "Amy")
    rows: list[Row] = [
        {
            "job_id": job_id, "music_id": "1", "document": pack_document({"title": title}),
            "confirmed_count": 1, "algorithm": "a",
        }
        for job_id, title in (("gone", "@Amy创作的原声"), ("stays", "Amy and others"))
    ]  # fmt: skip
    stores.lake.append("marts.job_results", rows)
    assert erase_account(stores, GONE).results == 1
    stores.engine.refresh()
    assert stores.engine.rows("select job_id from marts.job_results") == [{"job_id": "stays"}]


def test_erasure_keeps_other_accounts_found_by_searching_the_name(stores: ErasureStores) -> None:
    add_account(stores, "林深")
    add_captured_video(stores, "misread", 9)
    add_captured_video(stores, "read", 3, reason="replay of misread")
    add_captured_video(stores, "other", 5, entity_id="another term")
    assert erase_account(stores, GONE).proof.is_clean
    sort_lake(stores.lake, now=NOW + timedelta(days=99))
    stores.engine.refresh()
    videos = stores.engine.rows("select capture_id, digg_count from seen.videos order by all")
    assert [tuple(row.values()) for row in videos] == [("other", 5), (None, 3)]


def test_searches_for_its_name_go_and_others_stay(stores: ErasureStores) -> None:
    names = ("林深", "Amelie", "O'Neill")
    add_account(stores, *names, "Amy")
    kept = [*(f"{name} live" for name in names), "Amy"]  # a short word is not only a name
    for number, asked in enumerate((*names, GONE, *kept)):
        add_search(stores, number, asked)
    rows = erase_account(stores, GONE).rows
    assert (rows["raw.search_pages"], rows["marts.search_related"]) == (4, 4)
    stores.engine.refresh()
    pages = stores.engine.rows("select term from raw.search_pages order by capture_id")
    related = stores.engine.rows("select search_terms from marts.search_related order by aweme_id")
    assert [row["term"] for row in pages] == kept
    assert [row["search_terms"] for row in related] == [["another term", term] for term in kept]
