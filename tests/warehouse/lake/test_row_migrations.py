"""Rows of earlier releases that hold a value for what their surface does not show become null."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.warehouse.test_first_release import unpack
from warehouse import open_warehouse
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake import schema_evolution
from warehouse.lake.reading import open_lake_for_reading
from warehouse.lake.record_rows import video_row
from warehouse.lake.schema_evolution import FIRST_VERSION, read_properties, row_migrations
from warehouse.lake.store import Lake, open_lake
from warehouse.records.values import Row
from warehouse.records.videos import Hashtag, MediaType, Statistics, Video
from warehouse.tables import BY_NAME

pytestmark = pytest.mark.full

# at the version that corrected its rows: later versions add columns
VIDEOS = replace(BY_NAME["raw.videos"], version=3)
BEFORE = replace(VIDEOS, version=2)
NOW = datetime(2026, 11, 27, tzinfo=UTC)
TAG = Hashtag(ch_id="1600000000000001", name="a")
SURFACES_WITHOUT_HASHTAGS = {
    "music_list", "music_page", "trends_list", "user_posts", "user_page", "music_app", "app_work",
}  # fmt: skip


def stored(
    name: str,
    surface: str,
    provider: str = "public-graph",
    *,
    hashtags: tuple[Hashtag, ...] = (),
    media_type: MediaType | None = "video",
    is_top: bool | None = None,
    duration_ms: int | None = 9000,
    images_count: int | None = 0,
) -> Row:
    """A row as the release before wrote it."""
    video = Video(
        aweme_id=name, surface=surface, observed_at=NOW, media_type=media_type, is_top=is_top,
        duration_ms=duration_ms, images_count=images_count, hashtags=hashtags,
        statistics=Statistics(digg_count=0),
    )  # fmt: skip
    return video_row(video, capture_id=None, job_id=None, data_provider=provider)


ROWS = [
    *(stored(surface, surface) for surface in sorted(SURFACES_WITHOUT_HASHTAGS)),
    stored("none", "slides_info", is_top=False),
    stored("searched", "search_stream", is_top=False),
    stored("tagged", "music_list", hashtags=(TAG,)),
    stored("post", "user_posts", duration_ms=None, is_top=False),
    stored("photos", "user_posts", media_type="photo", duration_ms=None, images_count=3),
    stored("of_hashtag", "hashtag_list", duration_ms=None),
    stored("filed", "video_page", "file", is_top=False, images_count=None, duration_ms=None),
    stored("pinned", "video_page", "file", is_top=True, hashtags=(TAG,), media_type="photo"),
    stored("mocked", "hashtag_list", "mock"),
    stored("photo", "video_page", "mock", media_type="photo", duration_ms=0, images_count=2),
]


@pytest.fixture
def lake_before(tmp_path: Path) -> str:
    """The address of a lake of the release before."""
    lake = open_lake(str(tmp_path), world="sandbox", tables=[BEFORE])
    for row in ROWS:
        lake.append("raw.videos", [row])
    return str(tmp_path)


@pytest.fixture
def lake(lake_before: str) -> Lake:
    return open_lake(lake_before, world="sandbox", tables=[VIDEOS])


@pytest.fixture
def rows(lake: Lake) -> Iterator[dict[str, Row]]:
    with closing(Engine(lake)) as engine:
        yield {str(row["aweme_id"]): row for row in engine.rows("select * from raw.videos")}


def test_hashtags_are_unknown_where_the_surface_does_not_show_them(rows: dict[str, Row]) -> None:
    unknown = {name for name, row in rows.items() if row["hashtag_ids"] is None}
    assert unknown == SURFACES_WITHOUT_HASHTAGS | {"post", "photos", "filed", "mocked"}
    assert unknown == {name for name, row in rows.items() if row["hashtag_names"] is None}
    assert rows["none"]["hashtag_ids"] == rows["searched"]["hashtag_names"] == []
    assert rows["tagged"]["hashtag_names"] == rows["pinned"]["hashtag_names"] == ["a"]


def test_a_kind_that_only_missing_pictures_spoke_for_is_unknown(rows: dict[str, Row]) -> None:
    kinds = {name: (row["media_type"], row["images_count"]) for name, row in rows.items()}
    assert kinds["post"] == kinds["filed"] == (None, None)
    assert kinds["photos"] == ("photo", 3)
    assert kinds["user_posts"] == kinds["of_hashtag"] == ("video", 0)
    assert kinds["pinned"] == ("photo", 0)


def test_a_pin_and_a_length_that_nobody_stated_are_unknown(rows: dict[str, Row]) -> None:
    assert (rows["filed"]["is_top"], rows["pinned"]["is_top"]) == (None, True)
    assert rows["post"]["is_top"] is rows["searched"]["is_top"] is False
    assert (rows["photo"]["duration_ms"], rows["none"]["duration_ms"]) == (None, 9000)


def test_counts_and_times_stay_as_they_were(rows: dict[str, Row]) -> None:
    assert {row["digg_count"] for row in rows.values()} == {0}
    assert {row["observed_at"] for row in rows.values()} == {NOW}


def test_rows_are_corrected_once_and_files_still_have_all_columns(lake: Lake) -> None:
    version = lake.version("raw.videos")
    again = open_lake(lake.url, world="sandbox", tables=[VIDEOS])
    (Path(lake.url) / "opened_tables.json").unlink()
    anew = open_lake(lake.url, world="sandbox", tables=[VIDEOS])
    assert again.version("raw.videos") == anew.version("raw.videos") == version
    assert not anew.listing("raw.videos").has_mixed_schemas


def test_read_only_lake_shows_migrated_rows_without_writing(lake_before: str) -> None:
    reading = open_lake_for_reading(lake_before)
    version = reading.version("raw.videos")
    with closing(Engine(reading)) as engine:
        read = engine.rows("select * from raw.videos order by aweme_id")
    with closing(Engine(open_lake(lake_before, world="sandbox", tables=[VIDEOS]))) as engine:
        assert engine.rows("select * from raw.videos order by aweme_id") == read
    assert reading.version("raw.videos") > version


def test_new_rows_are_what_they_say(lake: Lake) -> None:
    lake.append("raw.videos", [stored("new", "music_list")])
    with closing(Engine(open_lake(lake.url, world="sandbox", tables=[VIDEOS]))) as engine:
        (row,) = engine.rows("select hashtag_ids from raw.videos where aweme_id = 'new'")
    assert row["hashtag_ids"] == []


@pytest.mark.parametrize("killed_after", ["nothing", "rows"])
def test_a_killed_migration_is_repeated(
    killed_after: str, lake_before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class KilledError(BaseException):
        """As if the process had ended."""

    def killed(*asked: object, **more: object) -> None:
        if killed_after == "rows":
            for migration in row_migrations(*asked, **more):  # type: ignore[arg-type]  # passed on
                migration.apply(DeltaTable(f"{lake_before}/raw/videos"))
        raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(schema_evolution, "row_migrations", killed)
        with pytest.raises(KilledError):
            open_lake(lake_before, world="sandbox", tables=[VIDEOS])
    half = DeltaTable(f"{lake_before}/raw/videos")
    assert read_properties(half).version == BEFORE.version
    with closing(Engine(open_lake(lake_before, world="sandbox", tables=[VIDEOS]))) as engine:
        (row,) = engine.rows("select count(*) as n from raw.videos where hashtag_ids is null")
    assert row["n"] == len(SURFACES_WITHOUT_HASHTAGS) + 4
    marks = DeltaTable(f"{lake_before}/raw/videos").metadata().configuration
    assert marks[FIRST_VERSION] == str(VIDEOS.version)


def test_a_store_of_the_first_release_is_corrected_and_shows_hashtags_of_other_surfaces(
    tmp_path: Path,
) -> None:
    home = unpack("store.tar.xz", tmp_path) / "home"
    with open_warehouse(str(home)) as wh:  # for reading: nothing is written
        by_surface = {
            row["surface"]: (row["known"], row["empty"], row["kinds"])
            for row in wh.sql(
                """
                select surface, count(hashtag_ids) as known,
                    count(*) filter (len(hashtag_ids) = 0) as empty,
                    list_sort(list(distinct media_type)
                        filter (media_type is not null)) as kinds
                from raw.videos group by surface
                """
            ).rows()
        }
        (videos,) = wh.sql(
            """
            select count(*) as n, count(hashtag_ids) as known,
                count(*) filter (len(hashtag_ids) = 0) as empty
            from marts.videos
            """
        ).rows()
        (shown,) = wh.sql(
            """
            select count(distinct aweme_id) as known
            from seen.videos where hashtag_ids is not null
            """
        ).rows()
    assert by_surface["user_posts"] == (0, 0, ["photo"])
    assert by_surface["music_list"] == (0, 0, ["photo", "video"])
    assert by_surface["video_page"] == (26, 0, ["photo", "video"])
    assert by_surface["search_stream"] == (54, 0, ["photo", "video"])
    assert videos["known"] == shown["known"] < videos["n"]
    assert videos["empty"] == 0
