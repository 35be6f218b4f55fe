"""The index of works answers as the table does, for as long as it holds what the table holds."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warehouse.engine.duckdb_engine import Engine
from warehouse.engine.sql import MAX_INLINE_VALUES
from warehouse.lake.record_rows import video_row
from warehouse.lake.schema_evolution import SORT_COLUMNS
from warehouse.lake.store import Lake, open_lake
from warehouse.lake.video_index import FILE, VIDEOS_TABLE
from warehouse.maintenance.compaction import maintain_lake, sort_lake
from warehouse.maintenance.video_index import update_video_index
from warehouse.queries.videos import (
    read_listed_videos,
    read_sort_values,
)
from warehouse.records.errors import CapacityExhaustedError
from warehouse.records.videos import Author, Hashtag, Music, Statistics, Video
from warehouse.tables import BY_NAME

pytestmark = pytest.mark.full

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
IDS = ["1", "2", "3", "4"]
OTHERS = [f"other{number}" for number in range(MAX_INLINE_VALUES)]
TABLES = tuple(BY_NAME[name] for name in SORT_COLUMNS)
COUNTS = st.none() | st.integers(0, 9)
HOURS = st.integers(0, 40)
OBSERVATIONS = st.lists(
    st.tuples(st.sampled_from(IDS[:3]), COUNTS, COUNTS, st.none() | st.integers(1, 5), HOURS),
    min_size=1,
    max_size=14,
    unique_by=lambda seen: (seen[0], seen[4]),
)


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("settled")
    lake = _open(folder)
    _observe(lake, ("1", 5, None, 100, 1), ("1", 7, 7, 100, 2), ("2", 1, 1, None, 3))
    _settle(lake, hours=10)
    return folder


@pytest.fixture
def lake(settled: Path, tmp_path: Path) -> Lake:
    copytree(settled, tmp_path, dirs_exist_ok=True)
    return _open(tmp_path)


@pytest.fixture
def engine(lake: Lake) -> Iterator[Engine]:
    with closing(Engine(lake)) as engine:
        yield engine


@settings(max_examples=6)
@given(OBSERVATIONS, HOURS, HOURS, st.integers(0, 45))
def test_video_index_answers_as_the_table_does(
    seen: list[tuple[str, int | None, int | None, int | None, int]],
    first: int,
    second: int,
    until: int,
) -> None:
    bounds = sorted((first, second))
    with TemporaryDirectory() as folder:
        lake = _open(Path(folder))
        for begin, end in zip([-1, *bounds], [*bounds, 50], strict=True):
            _observe(lake, *(one for one in seen if begin <= one[4] < end))
            _settle(lake, hours=end) if end < 50 else None
        with closing(Engine(lake)) as engine:
            assert engine.video_index.read(IDS) is not None
            by_index = _answers(engine, until)
            engine.video_index.drop()
            assert engine.video_index.read(IDS) is None
            assert _answers(engine, until) == by_index


def test_a_reading_that_a_replay_corrected_is_not_in_it(lake: Lake, engine: Engine) -> None:
    at = {"observed_at": BEGIN + timedelta(hours=11)}
    misread, read = (
        _row("4", likes, rest, None, hours) | at | {"capture_id": name}
        for likes, rest, hours, name in ((9, 9, 11, "misread"), (3, None, 12, "read"))
    )
    again = _capture("read") | {"reason": "replay of misread", "committed_at": read["committed_at"]}
    lake.append(VIDEOS_TABLE, [misread, read])
    lake.append("raw.captures", [_capture("misread"), again])
    engine.video_index.drop()
    _settle(lake, hours=20)
    by_index = {until: _answers(engine, until) for until in (11, 30)}
    assert by_index[30][0]["4"].statistics.digg_count == 3
    assert [by_index[until][1]["4"] for until in (11, 30)] == [9, 3]
    engine.video_index.drop()
    assert {until: _answers(engine, until) for until in (11, 30)} == by_index


def test_video_index_keeps_every_field_of_an_observation(lake: Lake, engine: Engine) -> None:
    video = Video(
        aweme_id="9", surface="video_page", observed_at=BEGIN + timedelta(hours=11, microseconds=3),
        desc='\u0000 "quoted" \\ 你好 \U0001f3b5', create_time=2**53 + 1, media_type="photo",
        is_top=True, images_count=3, duration_ms=15_000, is_exact=False,
        author=Author(sec_uid="s", nickname="n"), music=Music(music_id="7", title="t"),
        hashtags=(Hashtag(ch_id="1", name=""), Hashtag(ch_id="2", name="b")),
        statistics=Statistics(digg_count=2**60),
    )  # fmt: skip
    row = video_row(video, capture_id=None, job_id="j", data_provider="test")
    lake.append(VIDEOS_TABLE, [{**row, "committed_at": video.observed_at}])
    assert _settle(lake, hours=20) == 1
    engine.refresh()
    found = engine.video_index.read(["9"])
    assert found is not None
    assert set(found.videos) == {"9"}
    listed = replace(video, first_observed_at=video.observed_at)
    assert read_listed_videos(engine, ["9"])["9"] == listed


def test_video_index_stays_valid_after_appends_and_compaction(lake: Lake, engine: Engine) -> None:
    _observe(lake, ("3", 4, 4, None, 12))
    lake.compact(VIDEOS_TABLE)
    sort_lake(lake, now=BEGIN + timedelta(hours=12))
    engine.refresh()
    assert engine.video_index.read(IDS) is not None
    assert set(read_listed_videos(engine, IDS)) == {"1", "2", "3"}


@pytest.mark.parametrize("way", ["deleted", "blanked", "forgotten"])
def test_video_index_is_invalid_after_rows_are_removed(
    lake: Lake, engine: Engine, way: str
) -> None:
    assert engine.video_index.read(IDS) is not None
    if way == "deleted":
        lake.delete(VIDEOS_TABLE, "aweme_id", ["2"])
    elif way == "blanked":
        lake.set_null(VIDEOS_TABLE, "desc", "aweme_id = '2'")
    else:
        for _ in range(3):
            lake.delete_old_versions(
                VIDEOS_TABLE
            )  # cleans the log away: nobody can tell what was done meanwhile
    assert engine.video_index.read(IDS) is None
    engine.refresh()
    assert set(read_listed_videos(engine, IDS)) == ({"1"} if way == "deleted" else {"1", "2"})
    assert _settle(lake, hours=11) == (2 if way == "deleted" else 3), "made anew, of all that is"
    assert engine.video_index.read(IDS) is not None
    with closing(Engine(lake)) as another:
        assert another.video_index.read(IDS) is not None


def test_a_round_of_upkeep_takes_up_what_settled_and_then_opens_no_file(
    lake: Lake, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    _observe(lake, ("3", 4, 4, None, 12))
    assert maintain_lake(lake, now=BEGIN + timedelta(hours=20)).works_indexed == 1
    assert maintain_lake(lake, now=BEGIN + timedelta(hours=20)).works_indexed == 0
    _observe(lake, ("4", 4, 4, None, 21))
    engine.refresh()
    asked: list[str] = []
    ask = Engine.rows

    def listen(self: Engine, sql: str, params: Any = None, **named: Any) -> list[dict[str, object]]:
        asked.append(sql)
        return ask(self, sql, params, **named)

    monkeypatch.setattr(Engine, "rows", listen)
    assert set(read_listed_videos(engine, ["1", "3"])) == {"1", "3"}
    [sql] = asked
    assert sql.count(".parquet") == 1, "what came later alone"
    assert set(read_listed_videos(engine, ["1", "4"])) == {"1", "4"}


def test_a_moment_of_the_past_is_read_from_the_table(lake: Lake) -> None:
    with closing(Engine(lake, as_of=BEGIN + timedelta(hours=1))) as past:
        assert read_listed_videos(past, ["1"])["1"].statistics.digg_count == 5


@pytest.mark.parametrize("body", [b"", b"SQLite format 3\x00 and then nothing", b"x" * 9000])
def test_damaged_video_index_is_ignored_and_rebuilt(
    lake: Lake, engine: Engine, body: bytes
) -> None:
    before = _answers(engine, 50)
    Path(lake.url, FILE).write_bytes(body)
    assert engine.video_index.read(IDS) is None
    assert _answers(engine, 50) == before
    assert _settle(lake, hours=11) == 3
    assert engine.video_index.read(IDS) is not None


def test_that_of_another_table_is_not_believed(lake: Lake, tmp_path: Path) -> None:
    other = _open(tmp_path / "other")
    _observe(other, ("1", 1, 1, None, 1))
    _settle(other, hours=10)
    Path(lake.url, FILE).replace(Path(other.url, FILE))
    with closing(Engine(other)) as engine:
        assert engine.video_index.read(IDS) is None
        assert read_listed_videos(engine, ["1"])["1"].statistics.digg_count == 1


def test_a_lake_put_back_to_an_older_version_is_not_told_of_what_came_later(lake: Lake) -> None:
    _observe(lake, ("3", 4, 4, None, 12))
    _settle(lake, hours=20)
    newest = max(Path(lake.path(VIDEOS_TABLE), "_delta_log").glob("*.json"))
    newest.unlink()
    again = open_lake(lake.url, world="sandbox", tables=TABLES)
    with closing(Engine(again)) as engine:
        assert engine.video_index.read(IDS) is None


def test_a_disk_that_is_nearly_full_gets_none_and_keeps_the_old_one(lake: Lake) -> None:
    _observe(lake, ("3", 4, 4, None, 12))
    sort_lake(lake, now=BEGIN + timedelta(hours=20))
    full = open_lake(lake.url, world="sandbox", tables=TABLES, free=lambda _folder: 0)
    with pytest.raises(CapacityExhaustedError):
        update_video_index(full)
    assert [file.name for file in Path(lake.url).glob(f"{FILE}*")] == [FILE]


def test_old_leftovers_of_killed_video_index_updates_are_deleted(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = Path(lake.url, f"{FILE}.left")
    left.write_bytes(b"half")
    update_video_index(lake)
    assert left.exists(), "another process may be writing it"
    monkeypatch.setattr("warehouse.maintenance.video_index.ABANDONED_AFTER_S", -1.0)
    update_video_index(lake)
    assert not left.exists()


def test_rows_that_were_erased_while_it_was_built_are_in_no_index(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    _observe(lake, ("3", 4, 4, None, 12))
    sort_lake(lake, now=BEGIN + timedelta(hours=20))
    names, erased = Engine.files, list[str]()

    def names_and_erase(self: Engine, name: str) -> tuple[str, ...]:
        if not erased:
            lake.delete(VIDEOS_TABLE, "aweme_id", ["2"])
            erased.append("2")
        return names(self, name)

    monkeypatch.setattr(Engine, "files", names_and_erase)
    update_video_index(lake)
    assert erased == ["2"]
    assert [*Path(lake.url).glob(f"{FILE}*")] == []
    assert update_video_index(lake) == 3, "made anew, of all that is"
    with closing(Engine(lake)) as engine:
        found = engine.video_index.read(IDS)
    assert found is not None
    assert set(found.videos) == {"1", "3"}


def test_a_lake_in_an_object_store_gets_none() -> None:
    far = Lake("s3://bucket/lake", "sandbox", {}, free=lambda _folder: 0)
    assert update_video_index(far) == 0
    assert update_video_index(far, rebuild=True) == 0


def _open(folder: Path) -> Lake:
    lake = open_lake(str(folder / "lake"), world="sandbox", tables=TABLES)
    lake.append("raw.captures", [_capture("c")])
    return lake


def _settle(lake: Lake, *, hours: int) -> int:
    """Upkeep, as if it were an hour after so many."""
    sort_lake(lake, now=BEGIN + timedelta(hours=hours + 1))
    return update_video_index(lake)


def _answers(engine: Engine, until: int) -> tuple[Any, ...]:
    engine.refresh()
    moment = BEGIN + timedelta(hours=until)
    orders: list[Any] = []
    for ids in (IDS, [*IDS, *OTHERS]):
        orders += read_sort_values(engine, ids, by="likes", until=moment)
        orders += read_sort_values(engine, ids, by="created", until=moment)
    return read_listed_videos(engine, IDS), *orders


def _observe(lake: Lake, *seen: tuple[str, int | None, int | None, int | None, int]) -> None:
    lake.append(VIDEOS_TABLE, [_row(*one) for one in seen])


def _row(
    aweme_id: str, likes: int | None, rest: int | None, created: int | None, hours: int
) -> dict[str, Any]:
    moment = BEGIN + timedelta(hours=hours)
    counts = Statistics(digg_count=likes, comment_count=rest, collect_count=rest, share_count=rest)
    shown = (None, (), (Hashtag(ch_id=str(hours), name="n"),))[hours % 3]
    author = Author(sec_uid="s", nickname=str(hours)) if hours % 2 else None
    video = Video(
        aweme_id=aweme_id, surface="video_page", observed_at=moment, create_time=created,
        statistics=counts, hashtags=shown, author=author, is_top=bool(likes) if hours % 5 else None,
    )  # fmt: skip
    row = video_row(video, capture_id="c", job_id=None, data_provider="test")
    return {**row, "committed_at": moment}


def _capture(name: str) -> dict[str, Any]:
    return {
        "capture_id": name, "surface": "video_page", "entity_id": "1", "sequence": 1,
        "outcome": "ok", "request_count": 1, "parser_version": "1", "data_provider": "test",
        "observed_at": BEGIN, "committed_at": BEGIN,
    } | dict.fromkeys(
        ("reason", "http_status", "item_count", "cursor_in", "cursor_out", "has_more",
         "payload_sha256", "source_path", "job_id", "notice", "detail_msg")
    )  # fmt: skip
