"""The page of a catalogue's report: what it lists of a track, and in which words."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from pipelines.catalog.report import MOST_VIDEOS, CatalogTables, page_text, render_catalog_page
from pipelines.catalog.rules import DaySpending
from pipelines.catalog.service import CatalogStatus
from warehouse.exports.export_table import ExportColumn, ExportTable
from warehouse.records.catalogs import Catalog, CatalogSettings
from warehouse.records.values import Row

NOW = datetime(2026, 11, 1, 8, 30, tzinfo=UTC)
KEY = "music:1"
TRACK: Row = {
    "track_key": KEY, "input": "1", "label": "Paper <Boats>", "title": None, "state": "fresh",
    "music_id": "70001", "result_at": NOW, "error": None, "music_id_count": 2,
    "confirmed_video_count": 12, "variant_video_count": 0, "digg_count": 1234567,
    "new_video_count": None, "missing_video_count": None,
    **{
        f"{unit}_{figure}": None
        for unit in ("music_id", "video")
        for figure in ("estimate", "lower", "upper", "not_estimated_reason")
    },
}  # fmt: skip


def music_id(number: int, kind: str | None) -> Row:
    return {
        "track_key": KEY, "music_id": f"7000{number}", "is_new": False, "title": "Boats",
        "created_at": None, "kind": kind, "owner_nickname": None, "evidence": "audio",
        "copy_of_music_id": None, "confirmed_video_count": 6, "variant_video_count": 0,
    }  # fmt: skip


def video(number: int) -> Row:
    return {
        "track_key": KEY, "relation": "confirmed", "aweme_id": f"735{number:04}", "is_new": True,
        "created_at": NOW, "nickname": None, "score": 0.5, "digg_count": 100 - number,
        "comment_count": None, "collect_count": 0, "share_count": 0,
    }  # fmt: skip


def page(videos: Sequence[Row], music_ids: Sequence[Row], *, language: str = "en") -> str:
    status = CatalogStatus(
        catalog=Catalog(name="songs", settings=CatalogSettings(), created_at=NOW, updated_at=NOW),
        read_at=NOW, tracks=(), states={}, due=(), spent=DaySpending(), jobs={}, same_music={},
    )  # fmt: skip
    tables = CatalogTables(
        tracks=ExportTable(
            "tracks", [ExportColumn(name, "text") for name in TRACK], [tuple(TRACK.values())]
        ),
        music_ids=pa.Table.from_pylist(list(music_ids)),
        videos=pa.Table.from_pylist(list(videos)),
        matches=pa.table({"track_key": pa.array([], type=pa.string())}),
    )
    return render_catalog_page(status, tables, None, language=language, is_demo=False)


def test_of_a_track_the_first_videos_are_listed_and_all_its_music_ids() -> None:
    text = page([video(number) for number in range(12)], [music_id(1, None), music_id(2, None)])
    listed = [f"735{number:04}" in text for number in range(12)]
    assert listed == [True] * MOST_VIDEOS + [False] * 2
    assert "<code>70001</code>" in text
    assert "<code>70002</code>" in text
    assert "Paper &lt;Boats&gt;" in text


@pytest.mark.parametrize(
    ("language", "heading"), [("en", "Most liked videos"), ("zh", "点赞最多的作品")]
)
def test_a_page_is_in_the_language_asked_for(language: str, heading: str) -> None:
    text = page([video(1)], [music_id(1, "library")], language=language)
    assert heading in text
    assert "2026-11-01 08:30 UTC" in text


def test_a_kind_without_a_text_is_shown_as_it_is_and_no_kind_as_a_dash() -> None:
    text = page([video(1)], [music_id(1, "of tomorrow"), music_id(2, None)])
    assert "<td>of tomorrow</td>" in text
    assert '<td class="day">—</td><td>—</td>' in text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_name_without_a_text_stays_and_none_is_a_dash(language: str) -> None:
    found = [page_text(name, language=language) for name in (None, "of tomorrow")]
    assert found == ["—", "of tomorrow"]
