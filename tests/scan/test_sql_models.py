"""The SQL models of a scan say what the rules in Python say, also of unknown values and ties."""

import csv
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.documents.videos import to_ranked_document
from pipelines.parameters.scan import SORT_ORDERS, ScanParameters
from pipelines.scan.marts import rank_videos, sum_coverage, summarize_accounts
from pipelines.scan.rules.results import SORT_VALUES, view_result
from tests.scan.account_oracle import to_account_summary
from tests.stored_results import result
from tests.warehouse.lake_rows import to_row
from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.export_table import to_table
from warehouse.exports.table_files import to_csv
from warehouse.lake.store import open_lake
from warehouse.models import FOLDER
from warehouse.records.coverage import SourceCoverage, merge_coverage
from warehouse.records.values import MAX_COUNT
from warehouse.records.videos import Account, Author, Statistics, Video
from warehouse.tables import BY_NAME

pytestmark = pytest.mark.full

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
RANKED = ("rank", "aweme_id", "link_type", "hot_score", "statistics_complete", "create_time")
SOME = settings(max_examples=60, deadline=None)  # each is two to four queries

counts = st.none() | st.integers(0, 3) | st.integers(0, 10**12)  # few values: many ties
names = st.none() | st.sampled_from(["", "阿明", "Ada"])
sec_uids = st.sampled_from(["MS4a", "MS4b", "MS4é", "ms4a", "MS4aa"])
aweme_ids = st.integers(1, 10**19).map(str) | st.integers(1, 30).map(str)  # of several lengths
authors = st.none() | st.builds(Author, sec_uid=sec_uids, nickname=names, unique_id=names)
statistics = st.builds(
    Statistics, digg_count=counts, comment_count=counts, collect_count=counts, share_count=counts
)
profiles = st.builds(
    Account, sec_uid=sec_uids, surface=st.just("user_info"), observed_at=st.just(NOW),
    nickname=names, unique_id=names, follower_count=counts, total_favorited=counts,
    aweme_count=counts,
)  # fmt: skip
reads = st.builds(
    SourceCoverage, surface=st.sampled_from(["music_list", "search"]),
    requests=st.integers(0, 9), pages=st.integers(0, 9), items=st.integers(0, 9),
    new_items=st.integers(0, 9), stop_reason=st.sampled_from(["exhausted", "page_limit"]),
)  # fmt: skip


@st.composite
def confirmed(draw: st.DrawFn) -> list[Any]:
    """Documents of confirmed videos; those without a stated time have the one in their id."""
    ids = draw(st.lists(aweme_ids, unique=True, max_size=30))
    return [
        to_ranked_document(
            Video(
                aweme_id=aweme_id,
                surface=draw(st.sampled_from(["video_page", "music_list"])),
                observed_at=NOW,
                create_time=draw(st.none() | st.integers(1_600_000_000, 1_600_000_003)),
                author=draw(authors),
                statistics=draw(statistics),
            ),
            link_type="exact_music_id",
            source_music_id="1",
        )
        for aweme_id in ids
    ]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    lake = open_lake(str(tmp_path_factory.mktemp("lake")), world="sandbox", tables=())
    with closing(Engine(lake)) as opened:
        yield opened


def work(number: int, *, likes: int | None = 100, others: tuple[int, int, int] = (1, 2, 3)) -> Any:
    comments, collects, shares = others
    video = Video(
        aweme_id=str(7_000_000 + number), surface="video_page", observed_at=NOW,
        author=Author(sec_uid=f"user{number % 3}"),
        statistics=Statistics(
            digg_count=likes, comment_count=comments, collect_count=collects, share_count=shares
        ),
    )  # fmt: skip
    return to_ranked_document(video, link_type="exact_music_id", source_music_id="1")


@SOME
@given(
    videos=confirmed(),
    order=st.sampled_from(SORT_ORDERS),
    count=st.integers(1, 40),
    threshold=st.integers(0, 4),
    viral_only=st.booleans(),
)
def test_a_ranking_in_sql_is_the_view_of_the_result(
    engine: Engine, videos: Any, order: Any, count: int, threshold: int, viral_only: bool
) -> None:
    wanted = ScanParameters(
        sort_by=order, count=count, viral_threshold=threshold, viral_only=viral_only
    )
    document = result(0) | {"ranked": videos, "confirmed_count": len(videos)}
    shown: Any = view_result(document, wanted)["aweme_list"]
    expected = [{name: one[name] for name in RANKED} | one["statistics"] for one in shown]
    assert rank_videos(engine, videos, wanted) == expected


@SOME
@given(videos=confirmed(), read=st.lists(profiles, max_size=4))
def test_accounts_summed_in_sql_are_those_of_the_specification(
    engine: Engine, videos: Any, read: list[Account]
) -> None:
    known = {one.sec_uid: one for one in read}
    found = summarize_accounts(engine, videos, profiles=known)
    assert found == to_account_summary(videos, profiles=known)


@SOME
@given(entries=st.lists(reads, max_size=12))
def test_coverage_summed_in_sql_is_the_merged_report(
    engine: Engine, entries: list[SourceCoverage]
) -> None:
    found = [SourceCoverage(**row) for row in sum_coverage(engine, entries)]
    assert found == merge_coverage(entries)


def test_each_model_is_named_for_a_mart_and_says_what_a_row_is() -> None:
    for path in (FOLDER / "scan").glob("*.sql"):
        assert f"marts.{path.stem}" in BY_NAME
        assert path.read_text(encoding="utf-8").startswith("-- One row per ")


def test_accounts_aggregate_all_confirmed_works(engine: Engine) -> None:
    summary = summarize_accounts(engine, [work(number) for number in range(70)], profiles={})
    assert summary["account_count"] == 3
    assert sum(entry["linked_video_count"] for entry in summary["accounts"]) == 70
    assert summary["accounts"][0]["linked_digg_count"] == 2400
    assert [len(entry["video_previews"]) for entry in summary["accounts"]] == [20, 20, 20]


def test_the_largest_counts_that_are_read_fit_into_scores_and_sums(engine: Engine) -> None:
    most = MAX_COUNT
    videos = [work(3 * number, likes=most, others=(most, most, most)) for number in range(2000)]
    ranked = rank_videos(engine, videos, ScanParameters(count=1))
    assert ranked[0]["hot_score"] == 16 * most
    [account] = summarize_accounts(engine, videos, profiles={})["accounts"]
    assert account["linked_digg_count"] == 2000 * most


def test_unknown_counts_of_an_account_are_stated_not_guessed(engine: Engine) -> None:
    entry = summarize_accounts(engine, [work(3, likes=None)], profiles={})["accounts"][0]
    assert entry["linked_digg_count"] is None
    assert entry["linked_statistics_complete"] is False
    assert entry["follower_count"] is None


def comment_rate(video: Any) -> float | None:
    """An order that the interface does not have: comments for each like."""
    counts = video["statistics"]
    if counts["comment_count"] is None or not counts["digg_count"]:
        return None
    rate: float = counts["comment_count"] / counts["digg_count"]
    return rate


@pytest.fixture
def by_comment_rate(monkeypatch: pytest.MonkeyPatch) -> ScanParameters:
    order: Any = "comment_rate"
    monkeypatch.setitem(cast("dict[str, object]", SORT_VALUES), order, comment_rate)
    return ScanParameters(sort_by=order)


def test_an_order_by_a_ratio_ranks_alike_in_the_answer_the_store_sql_and_exports(
    by_comment_rate: ScanParameters, tmp_path: Path
) -> None:
    videos = [
        work(1, likes=100, others=(10, 0, 0)),
        work(2, likes=100, others=(90, 0, 0)),
        work(3, likes=0, others=(7, 0, 0)),  # no rate
        work(4, likes=None, others=(8, 0, 0)),  # no rate
        work(5, likes=100, others=(30, 0, 0)),
        work(6, likes=10, others=(15, 0, 0)),  # more than one comment for a like
    ]
    ranked = ["7000006", "7000002", "7000005", "7000001", "7000003", "7000004"]
    document = result(0) | {"ranked": videos, "confirmed_count": len(videos)}
    answer: Any = view_result(document, by_comment_rate)["aweme_list"]
    assert [(one["rank"], one["aweme_id"]) for one in answer] == list(enumerate(ranked, 1))

    table = BY_NAME["marts.rankings"]
    lake = open_lake(str(tmp_path), world="sandbox", tables=[table])
    with closing(Engine(lake)) as stored:
        rows = rank_videos(stored, videos, by_comment_rate)
        lake.append(table.name, [to_row(table.name, job_id="j", **row) for row in rows])
        sql = """
            select rank, aweme_id, comment_count / nullif(digg_count, 0) as rate
            from marts.rankings order by rank
        """
        found = stored.rows(sql)
        with stored.reading(sql) as batches:
            exported = to_csv(to_table("rankings", batches.read_all()), for_spreadsheets=False)
    lines = list(csv.DictReader(exported.decode().splitlines()))
    rates = [1.5, 0.9, 0.3, 0.1, None, None]
    assert [(one["rank"], one["aweme_id"]) for one in found] == list(enumerate(ranked, 1))
    assert [one["rate"] for one in found] == rates
    assert [line["aweme_id"] for line in lines] == ranked
    assert [float(line["rate"]) if line["rate"] else None for line in lines] == rates


@SOME
@given(videos=confirmed())
def test_a_ranking_by_a_ratio_in_sql_is_the_view_of_the_result(engine: Engine, videos: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(cast("dict[str, object]", SORT_VALUES), "comment_rate", comment_rate)
        wanted = ScanParameters(sort_by=cast("Any", "comment_rate"), count=40)
        document = result(0) | {"ranked": videos, "confirmed_count": len(videos)}
        shown: Any = view_result(document, wanted)["aweme_list"]
        found = rank_videos(engine, videos, wanted)
    assert [one["aweme_id"] for one in found] == [one["aweme_id"] for one in shown]
