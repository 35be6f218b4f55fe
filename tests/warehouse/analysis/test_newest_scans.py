"""What counts as the newest scan of a track: no copied result, no discovery, no search by name."""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pipelines.reports.figures.subjects import read_tracks
from warehouse import open_warehouse
from warehouse.engine.duckdb_engine import Engine
from warehouse.exports import method_sheet
from warehouse.exports.extracts import ExportScope
from warehouse.exports.method_sheet import read_newest_scans
from warehouse.lake.record_rows import pack_document
from warehouse.queries.catalogs import read_reference_sounds
from warehouse.records.jobs import keyword_subject

pytestmark = pytest.mark.full

START = datetime(2026, 11, 2, 9, tzinfo=UTC)
TRACK = "7348759830572834348"
OTHER_TRACK = "7361729694329545669"
VIDEOS = ("7400000000000000001", "7400000000000000002", "7400000000000000003")
ACCOUNT = "MS4wLjABAAAAnewest_account"
SCAN_RESULT: dict[str, Any] = {"candidate_pool_size": 3, "coverage": []}


class Jobs:
    """Jobs of a lake, each an hour after the one before."""

    def __init__(self, small_store: Any) -> None:
        self.lake = small_store.lake
        self.root = small_store.home.root
        self._at = START

    def add(self, table: str, **row: object) -> None:
        found = next(one for one in self.lake.tables if one.name == table)
        whole: dict[str, object] = dict.fromkeys(column.name for column in found.columns)
        self.lake.append(table, [whole | {"committed_at": self._at} | row])

    def scan(self, job: str) -> None:
        """A scan that confirms all videos."""
        self._at += timedelta(hours=1)
        for rank, aweme_id in enumerate(VIDEOS, 1):
            self.confirm(job, aweme_id)
            self.add(
                "marts.rankings", job_id=job, rank=rank, aweme_id=aweme_id, music_id=TRACK,
                link_type="exact_music_id", statistics_complete=False,
            )  # fmt: skip
        self.add(
            "marts.account_summaries", job_id=job, music_id=TRACK, sec_uid=ACCOUNT,
            linked_video_count=3, profile_complete=False,
            top_aweme_id=VIDEOS[0],
        )  # fmt: skip
        self.add(
            "marts.coverage", job_id=job, surface="music_list", requests=1, pages=1, items=3,
            new_items=3, stop_reason="exhausted",
        )  # fmt: skip
        self.conclude(job, confirmed=3, document=SCAN_RESULT)

    def copy(self, job: str) -> None:
        """A job that a stored result served."""
        self._at += timedelta(hours=1)
        self.conclude(job, confirmed=3, document=SCAN_RESULT)

    def discover(self, job: str, *, of: str = TRACK) -> None:
        """A discovery that confirms one of the videos."""
        self._at += timedelta(hours=1)
        self.confirm(job, VIDEOS[0], of=of)
        self.add(
            "marts.discovered_videos", job_id=job, track_music_id=of, aweme_id=VIDEOS[0],
            title_relation="exact", verdict="confirmed",
        )  # fmt: skip
        self.conclude(job, confirmed=1, document={"kind": "discovery"}, subject=of)

    def search(self, job: str, name: str) -> None:
        """A search by name, which is about no track."""
        self._at += timedelta(hours=1)
        self.conclude(job, confirmed=0, document=SCAN_RESULT, subject=keyword_subject(name))

    def compare(self, job: str, reference_sha256: str, *, of: str = TRACK) -> None:
        """A pair that a job compared."""
        self._at += timedelta(hours=1)
        self.add(
            "marts.audio_comparisons", comparison_id=f"pair of {job}", job_id=job,
            track_music_id=of, reference_aweme_id=VIDEOS[0], candidate_aweme_id=VIDEOS[1],
            reference_music_id=of, candidate_music_id=of, reference_sha256=reference_sha256,
            verdict="confirmed", reason="r", limits="{}", algorithm="a", feature_version="f",
            library_version="l",
        )  # fmt: skip

    def confirm(self, job: str, aweme_id: str, *, of: str = TRACK) -> None:
        self.add(
            "marts.confirmed_videos", music_id=of, aweme_id=aweme_id, job_id=job,
            link_type="exact_music_id", source_music_id=of, expansion_round=0, algorithm="a",
        )  # fmt: skip

    def conclude(
        self, job: str, *, confirmed: int, document: dict[str, Any], subject: str = TRACK
    ) -> None:
        self.add(
            "marts.job_results", job_id=job, music_id=subject, confirmed_count=confirmed,
            document=pack_document(document), algorithm="a",
        )  # fmt: skip


@pytest.fixture
def jobs(small_store: Any) -> Jobs:
    return Jobs(small_store)


@pytest.fixture
def later(jobs: Jobs) -> Jobs:
    """A scan, then a copy of its result and a discovery of the same track."""
    jobs.scan("scan")
    jobs.copy("copy")
    jobs.discover("discovery")
    return jobs


def test_the_newest_result_of_a_track_is_that_of_its_newest_scan(later: Jobs) -> None:
    with open_warehouse(later.root) as wh:
        (track,) = wh.marts.tracks.rows()
        assert (track["newest_job_id"], track["result_count"]) == ("scan", 1)
        assert track["confirmed_video_count"] == 3
        assert track["first_result_at"] == track["last_result_at"] == START + timedelta(hours=1)
        videos = wh.marts.track_videos.order("aweme_id").rows()
        assert [row["aweme_id"] for row in videos] == list(VIDEOS)
        # of a discovery, too: its video is in the result of the scan
        assert [row["is_in_newest_result"] for row in videos] == [True, True, True]


def test_named_queries_show_the_newest_scan(later: Jobs) -> None:
    with open_warehouse(later.root) as wh:
        assert [row["aweme_id"] for row in wh.query("top-videos").rows()] == list(VIDEOS)
        assert [row["sec_uid"] for row in wh.query("top-accounts").rows()] == [ACCOUNT]
        (track,) = wh.query("scanned-tracks").rows()
        assert (track["scans"], track["confirmed"]) == (1, 3)


def test_references_are_those_of_the_newest_scan_and_of_a_discovery_without_one(
    later: Jobs,
) -> None:
    later.compare("scan", "of the scan")
    later.compare("discovery", "of the discovery")
    later.discover("another", of=OTHER_TRACK)
    later.compare("another", "of another", of=OTHER_TRACK)
    with closing(Engine(later.lake)) as engine:
        rows = read_reference_sounds(engine, [TRACK, OTHER_TRACK])
    assert {row["track_music_id"]: row["reference_sha256"] for row in rows} == {
        TRACK: "of the scan", OTHER_TRACK: "of another",
    }  # fmt: skip


def test_a_search_by_name_is_no_track_and_no_music_id(jobs: Jobs) -> None:
    jobs.search("search", "晴天")
    with open_warehouse(jobs.root) as wh:
        for view in (wh.marts.tracks, wh.marts.music_ids, wh.marts.genealogy):
            assert view.rows() == []
        assert wh.query("scanned-tracks").rows() == []
    with closing(Engine(jobs.lake)) as engine:
        assert read_tracks(engine) == []


def test_an_export_has_the_error_sheet_of_the_newest_scan(later: Jobs) -> None:
    with closing(Engine(later.lake)) as engine:
        of_track = read_newest_scans(engine, ExportScope(track=TRACK))
        assert list(of_track) == [("scan", SCAN_RESULT)]
        of_copy = read_newest_scans(engine, ExportScope(job_id="copy"))
        assert list(of_copy) == [("copy", SCAN_RESULT)]


@pytest.mark.parametrize("then", ["search", "discover"])
def test_neither_searches_nor_discoveries_take_the_place_of_a_sheet(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch, then: str
) -> None:
    monkeypatch.setattr(method_sheet, "MOST_SHEETS", 1)
    jobs.scan("scan")
    if then == "search":
        jobs.search("search", "a name")
    else:
        jobs.discover("discovery", of=OTHER_TRACK)
    with closing(Engine(jobs.lake)) as engine:
        assert list(read_newest_scans(engine, ExportScope())) == [("scan", SCAN_RESULT)]
