"""The report of a catalogue: what scans found per track, music id and video, in three forms."""

import json
import zipfile
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pipelines.catalog.report import write_catalog_report
from pipelines.catalog.rules import DaySpending, count_states
from pipelines.catalog.service import CatalogStatus
from pipelines.catalog.sources.tables import read_first_sheet
from tests.reports.test_error_sheets import scanned as scanned_document
from tests.warehouse.analysis.test_genealogy import filled, made_at, observed, page, store
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.record_rows import pack_document
from warehouse.queries.catalogs import (
    CatalogQueryTrack,
    read_catalog_music_ids,
    read_catalog_tracks,
    read_catalog_videos,
)
from warehouse.records.catalogs import Catalog, CatalogSettings, CatalogTrack, ImportedTrack

pytestmark = pytest.mark.full

BORN = datetime(2026, 3, 1, 12, tzinfo=UTC)
FIRST, SECOND = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 11, 8, tzinfo=UTC)
TRACK, COPY, LATE, UNREAD = (made_at(BORN + timedelta(days=n), n) for n in range(1, 5))
KEPT, GONE, NEW, VARIANT = (made_at(BORN + timedelta(days=20), n) for n in range(11, 15))
TRACKS = [
    CatalogQueryTrack(
        key="music:1", label="Paper Boats", music_id=TRACK, result_job_id="new",
        previous_job_id="old",
    ),
    CatalogQueryTrack(
        key="music:4", label=None, music_id=UNREAD, result_job_id=None, previous_job_id=None
    ),
]  # fmt: skip
READS = (read_catalog_tracks, read_catalog_music_ids, read_catalog_videos)
type Row = dict[str, Any]


def video(aweme_id: str, music_id: str, likes: int) -> tuple[str, Row]:
    row = observed(music_id, aweme_id=aweme_id, published=BORN + timedelta(days=20))
    counts = {"comment_count": 1, "collect_count": 2, "share_count": None}
    return "raw.videos", {**row, "digg_count": likes, **counts}


def confirmed(job_id: str, aweme_id: str, music_id: str) -> tuple[str, Row]:
    return "marts.confirmed_videos", filled(
        "marts.confirmed_videos", music_id=TRACK, aweme_id=aweme_id, job_id=job_id,
        source_music_id=music_id, expansion_round=0, algorithm="a",
        link_type="exact_music_id" if music_id == TRACK else "audio_fingerprint_match",
        committed_at=FIRST if job_id == "old" else SECOND,
    )  # fmt: skip


def result(job_id: str) -> tuple[str, Row]:
    return "marts.job_results", filled(
        "marts.job_results", job_id=job_id, music_id=TRACK, document=b"", confirmed_count=2,
        algorithm="a", committed_at=FIRST if job_id == "old" else SECOND,
    )  # fmt: skip


def covered(job_id: str) -> tuple[str, Row]:
    return "marts.coverage", filled(
        "marts.coverage", job_id=job_id, surface="music_list", requests=1, pages=1, items=2,
        new_items=2, stop_reason="exhausted", committed_at=FIRST if job_id == "old" else SECOND,
    )  # fmt: skip


def estimate(job_id: str, unit: str, **given: Any) -> tuple[str, Row]:
    return "marts.coverage_estimates", filled(
        "marts.coverage_estimates", job_id=job_id, unit=unit, observed_count=2, source_count=2,
        sample_count=2, committed_at=FIRST if job_id == "old" else SECOND, **given,
    )  # fmt: skip


@pytest.fixture
def engine(small_store: Any) -> Iterator[Engine]:
    rows = [
        ("raw.tracks", page(TRACK, title="Paper Boats", author="Someone", is_original_sound=False)),
        ("raw.tracks", page(COPY, title="@a", author="a", is_original_sound=True)),
        ("raw.tracks", page(LATE, title="@b", author="b", is_original_sound=True)),
        video(KEPT, TRACK, 100), video(GONE, COPY, 50), video(NEW, LATE, 7),
        video(VARIANT, COPY, 3),
        confirmed("old", KEPT, TRACK), confirmed("old", GONE, COPY),
        confirmed("new", KEPT, TRACK), confirmed("new", NEW, LATE),
        result("old"), result("new"), covered("old"), covered("new"),
        ("marts.audio_comparisons", filled(
            "marts.audio_comparisons", comparison_id="c", job_id="new", track_music_id=TRACK,
            reference_aweme_id=KEPT, candidate_aweme_id=VARIANT, reference_music_id=TRACK,
            candidate_music_id=COPY, verdict="variant", reason="r", score=0.9, speed=1.25,
            limits="{}", algorithm="a", feature_version="f", library_version="l",
        )),
        ("marts.catalog_matches", filled(
            "marts.catalog_matches", comparison_id="m", job_id="other", track_music_id=TRACK,
            reference_aweme_id=KEPT, candidate_aweme_id=NEW, reference_music_id=TRACK,
            candidate_music_id=LATE, verdict="confirmed", reason="r", score=0.87, vote_count=40,
            limits="{}", algorithm="a", feature_version="f", library_version="l",
        )),
        estimate("old", "music_id", method="chao2", estimated_count=9),
        estimate("new", "music_id", method="chao2", estimated_count=4, lower_count=3,
                 upper_count=8),
        estimate("new", "video", not_estimated_reason="one_source"),
        ("marts.random_audits", filled(
            "marts.random_audits", job_id="new", population_count=9, drawn_count=9,
            compared_count=9, carrying_count=0, upper_share=0.25, committed_at=SECOND,
        )),
    ]  # fmt: skip
    store(small_store, rows)
    with closing(Engine(small_store.lake)) as opened:
        yield opened


def test_a_track_has_its_counts_its_estimates_and_what_changed(engine: Engine) -> None:
    first, unread = read_catalog_tracks(engine, TRACKS).to_pylist()
    assert (first["title"], first["artist"]) == ("Paper Boats", "Someone")
    assert (first["music_id_count"], first["confirmed_video_count"]) == (3, 3)
    assert (first["variant_video_count"], first["account_count"]) == (1, 3)
    assert (first["digg_count"], first["share_count"]) == (157, None)
    assert (first["new_music_id_count"], first["new_video_count"]) == (1, 1)
    assert (first["missing_video_count"], first["previous_at"]) == (1, FIRST)
    assert [first[f"music_id_{name}"] for name in ("estimate", "lower", "upper")] == [4, 3, 8]
    assert first["left_out_upper_share"] == 0.25
    assert (first["video_estimate"], first["video_not_estimated_reason"]) == (None, "one_source")
    assert (unread["track_key"], unread["confirmed_video_count"]) == ("music:4", 0)
    assert (unread["new_video_count"], unread["digg_count"]) == (None, None)


def test_catalog_report_is_unchanged_after_results_expired(
    small_store: Any, engine: Engine
) -> None:
    before = [read(engine, TRACKS).to_pylist() for read in READS]
    small_store.lake.delete("marts.job_results", "job_id", ["old", "new"])
    engine.refresh()
    assert [read(engine, TRACKS).to_pylist() for read in READS] == before


@pytest.mark.parametrize(
    ("before", "after", "scans", "missing"),
    [
        ([KEPT, GONE], [], ["old", "new"], 2),
        ([], [KEPT], ["old", "new"], 0),
        ([KEPT, GONE], [], ["old"], None),
        ([], [KEPT], ["new"], None),
    ],
)
def test_all_videos_or_none_may_be_missing_and_of_a_copied_result_it_is_unknown(
    small_store: Any, before: list[str], after: list[str], scans: list[str], missing: int | None
) -> None:
    store(
        small_store,
        [
            result("old"), result("new"), *map(covered, scans),
            *(confirmed("old", aweme_id, TRACK) for aweme_id in before),
            *(confirmed("new", aweme_id, TRACK) for aweme_id in after),
        ],
    )  # fmt: skip
    with closing(Engine(small_store.lake)) as engine:
        (row,) = read_catalog_tracks(engine, TRACKS[:1]).to_pylist()
    assert row["missing_video_count"] == missing


def test_every_music_id_of_a_track_has_its_birth_its_uploader_and_whether_it_is_new(
    engine: Engine,
) -> None:
    found = {row["music_id"]: row for row in read_catalog_music_ids(engine, TRACKS).to_pylist()}
    assert found.keys() == {TRACK, COPY, LATE}
    assert [found[one]["is_new"] for one in (TRACK, COPY, LATE)] == [False, False, True]
    assert found[COPY]["created_at"] == BORN + timedelta(days=2)
    assert (found[COPY]["kind"], found[COPY]["variant_video_count"]) == ("original_sound", 1)
    assert {row["label"] for row in found.values()} == {"Paper Boats"}


def test_confirmed_videos_come_before_variants_and_the_most_liked_first(engine: Engine) -> None:
    found = read_catalog_videos(engine, TRACKS).to_pylist()
    assert [row["aweme_id"] for row in found] == [KEPT, GONE, NEW, VARIANT]
    assert [row["is_new"] for row in found] == [False, False, True, None]
    assert (found[3]["relation"], found[3]["speed"], found[3]["link_type"]) == (
        "variant", 1.25, None,
    )  # fmt: skip


def status(*tracks: CatalogTrack) -> CatalogStatus:
    catalog = Catalog(name="songs", settings=CatalogSettings(), created_at=FIRST, updated_at=FIRST)
    return CatalogStatus(
        catalog=catalog, read_at=SECOND, tracks=tracks, due=(), spent=DaySpending(), jobs={},
        states=count_states(tracks, catalog.settings, SECOND), same_music={},
    )  # fmt: skip


def scanned() -> CatalogTrack:
    given = ImportedTrack(
        key="music:1", input=TRACK, label="Paper <b>Boats</b>", columns={"ISRC": "DE-A00"}
    )
    return CatalogTrack(
        given=given, position=0, music_id=TRACK, result_job_id="new", result_at=SECOND,
        previous_job_id="old",
    )  # fmt: skip


def unread() -> CatalogTrack:
    given = ImportedTrack(key="music:4", input=UNREAD, label="=1+1")
    return CatalogTrack(given=given, position=1, failed_at=SECOND, error={"detail": "nothing came"})


def read_parquet(path: Path) -> list[Row]:
    found: list[Row] = pq.read_table(path).to_pylist()
    return found


def test_every_form_holds_the_same_tracks(engine: Engine, tmp_path: Path) -> None:
    paths = write_catalog_report(tmp_path, engine, status(scanned(), unread()))
    assert sorted(path.name for path in paths) == [
        "songs-matches.parquet", "songs-music_ids.parquet", "songs-tracks.parquet",
        "songs-videos.parquet", "songs.html", "songs.xlsx",
    ]  # fmt: skip
    first, second = read_parquet(tmp_path / "songs-tracks.parquet")
    assert (first["label"], first["state"]) == ("Paper <b>Boats</b>", "fresh")
    assert (first["confirmed_video_count"], first["music_id_upper"]) == (3, 8)
    assert json.loads(first["columns"]) == {"ISRC": "DE-A00"}
    assert (second["state"], second["error"]) == ("failed", "nothing came")
    assert second["confirmed_video_count"] is None
    assert len(read_parquet(tmp_path / "songs-music_ids.parquet")) == 3
    assert len(read_parquet(tmp_path / "songs-videos.parquet")) == 4
    (match,) = read_parquet(tmp_path / "songs-matches.parquet")
    assert (match["music_id"], match["aweme_id"], match["is_confirmed"]) == (LATE, NEW, True)
    rows = dict(read_first_sheet((tmp_path / "songs.xlsx").read_bytes(), name="songs.xlsx"))
    assert [rows[number][2] for number in (1, 2, 3)] == ["label", "Paper <b>Boats</b>", "=1+1"]
    with zipfile.ZipFile(tmp_path / "songs.xlsx") as control_store:
        assert b"<f>" not in control_store.read("xl/worksheets/sheet1.xml")
        assert sum("worksheets/sheet" in name for name in control_store.namelist()) == 5


@pytest.mark.parametrize(
    ("language", "word"), [("en", "Found by scans of other tracks"), ("zh", "用户原声")]
)
def test_the_page_shows_music_ids_videos_estimates_and_failures(
    engine: Engine, tmp_path: Path, language: str, word: str
) -> None:
    (path,) = write_catalog_report(
        tmp_path, engine, status(scanned(), unread()), language=language, formats=["html"]
    )
    page = path.read_text(encoding="utf-8")
    assert "Paper &lt;b&gt;Boats&lt;/b&gt;" in page
    assert "4 [3–8]" in page
    assert "2026-03-03" in page
    assert all(one in page for one in (word, COPY, LATE, VARIANT, "nothing came"))
    assert 'class="new"' in page
    assert "<script" not in page


def test_the_report_has_the_error_sheet_of_the_newest_scan(
    small_store: Any, tmp_path: Path
) -> None:
    name, row = result("new")
    store(small_store, [(name, {**row, "document": pack_document(scanned_document())})])
    with closing(Engine(small_store.lake)) as engine:
        write_catalog_report(tmp_path, engine, status(scanned(), unread()))
    assert "What the data can and cannot say" in (tmp_path / "songs.html").read_text("utf-8")
    with zipfile.ZipFile(tmp_path / "songs.xlsx") as control_store:
        assert 'name="Limits of this data"' in control_store.read("xl/workbook.xml").decode()


def test_a_catalogue_that_was_never_read_has_empty_tables(engine: Engine, tmp_path: Path) -> None:
    write_catalog_report(tmp_path, engine, status(unread()))
    assert len(read_parquet(tmp_path / "songs-tracks.parquet")) == 1
    assert read_parquet(tmp_path / "songs-videos.parquet") == []
