"""A column with one value on a whole surface is reported, unless a reason for it is declared."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipelines.platform.profiles import load_profile
from pipelines.platform.providers.file.provider import FileProvider
from pipelines.platform.providers.file.records import read_videos
from tests.standards.constant_columns import (
    MIN_ROWS,
    Declaration,
    constant_columns,
    main,
    read_declarations,
    undeclared,
)
from tests.warehouse.test_first_release import unpack
from warehouse.lake.reading import open_lake_for_reading
from warehouse.lake.record_rows import video_row
from warehouse.lake.store import open_lake
from warehouse.records.videos import Hashtag, Video
from warehouse.tables import BY_NAME

pytestmark = pytest.mark.full

NOW = datetime(2026, 11, 27, tzinfo=UTC)
TAG = (Hashtag(ch_id="1", name="a"),)
KEYS = {"table", "column", "surface", "reason", "value", "surfaces"}


def reported(folder: Path) -> dict[tuple[str, str], str]:
    """What is reported of the stored rows, by column and surface."""
    found = undeclared(constant_columns(open_lake_for_reading(str(folder))), read_declarations())
    return {(one.column, one.surface): one.value for one in found}


def store(folder: Path, *videos: Video, provider: str = "public-graph") -> Path:
    lake = open_lake(str(folder), world="sandbox", tables=[BY_NAME["raw.videos"]])
    rows = [video_row(one, capture_id=None, job_id=None, data_provider=provider) for one in videos]
    lake.append("raw.videos", rows)
    return folder


def listed(surface: str, count: int = MIN_ROWS, **fields: Any) -> list[Video]:
    return [
        Video(aweme_id=str(number), surface=surface, observed_at=NOW, **fields)
        for number in range(count)
    ]


def test_the_store_of_the_first_release_has_none_for_unknown_until_it_is_migrated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = unpack("store.tar.xz", tmp_path) / "home"
    faults = {
        (column, surface): "[]"
        for column in ("hashtag_ids", "hashtag_names")
        for surface in ("music_list", "user_posts")
    }
    assert reported(home / "sandbox/lake") == faults
    assert main([str(home)]) == 1
    assert "user_posts" in capsys.readouterr().out
    assert main([str(home), "--migrate"]) == 0


def test_defaults_of_a_file_are_reported(tmp_path: Path) -> None:
    defaults: dict[str, Any] = {"hashtags": (), "media_type": "video", "is_top": False}
    folder = store(tmp_path, *listed("video_page", **defaults), provider="file")
    assert reported(folder) == {
        ("hashtag_ids", "video_page"): "[]",
        ("hashtag_names", "video_page"): "[]",
        ("media_type", "video_page"): "video",
        ("is_top", "video_page"): "false",
    }


async def test_records_of_a_file_that_state_nothing_have_no_such_column(tmp_path: Path) -> None:
    rows = [
        {"aweme_id": f"{10_000 + n}", "author": {"sec_uid": f"{n % 7}"}} for n in range(MIN_ROWS)
    ]
    file = tmp_path / "videos.json"
    file.write_text(json.dumps(rows), encoding="utf-8")
    records = read_videos(file)
    provider = FileProvider(
        [], records, profile=load_profile("sandbox", sandbox_port=8790), name="file"
    )
    values = [(await provider.fetch_video(record.aweme_id)).value for record in records]
    videos = [value for value in values if isinstance(value, Video)]
    assert len(videos) == len(records)
    assert reported(store(tmp_path, *videos, provider="file")) == {}


@pytest.mark.parametrize(
    "videos",
    [
        listed("music_list"),
        listed("music_list", MIN_ROWS - 1, hashtags=()),
        [*listed("music_list", hashtags=()), *listed("music_list", 1, hashtags=TAG)],
        [*listed("music_list", hashtags=()), *listed("music_list", 1)],
    ],
    ids=["unknown", "few rows", "another value", "unknown in one row"],
)
def test_varying_and_null_columns_are_not_reported(videos: list[Video], tmp_path: Path) -> None:
    numbered = [
        Video(aweme_id=str(n), surface=video.surface, observed_at=NOW, hashtags=video.hashtags)
        for n, video in enumerate(videos)
    ]
    assert reported(store(tmp_path, *numbered)) == {}


def test_constant_column_names_values_of_other_surfaces(tmp_path: Path) -> None:
    folder = store(
        tmp_path, *listed("music_list", hashtags=()), *listed("video_page", 2, hashtags=TAG)
    )
    found = undeclared(constant_columns(open_lake_for_reading(str(folder))), read_declarations())
    assert {(one.column, one.other_values) for one in found} == {
        ("hashtag_ids", ('["1"]',)),
        ("hashtag_names", ('["a"]',)),
    }


def test_a_declaration_covers_its_surfaces_and_its_value(tmp_path: Path) -> None:
    constants = [
        one
        for one in constant_columns(
            open_lake_for_reading(str(store(tmp_path, *listed("music_list", hashtags=()))))
        )
        if one.column == "hashtag_ids"
    ]
    covering = Declaration("raw.videos", "hashtag_ids", "r", ("music_list",), "[]")
    others = [
        Declaration("raw.tracks", "hashtag_ids", "r"),
        Declaration("raw.videos", "hashtag_names", "r"),
        Declaration("raw.videos", "hashtag_ids", "r", ("user_posts",)),
        Declaration("raw.videos", "hashtag_ids", "r", None, "null"),
    ]
    assert undeclared(constants, [*others, covering]) == []
    assert undeclared(constants, others) == constants


def test_each_declaration_names_a_column_and_a_reason() -> None:
    for declaration in read_declarations():
        columns = {column.name for column in BY_NAME[declaration.table].columns}
        assert declaration.column in columns, declaration
        assert len(declaration.reason) > 10, declaration
