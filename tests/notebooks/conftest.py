"""A small lake of three tracks as scans leave it, and the reports that are made of it, once."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipelines.reports.build import RenderedReport, ReportProgress, ReportRequest, build_report
from pipelines.reports.catalogue import Notebook, find_report, read_catalogue
from pipelines.settings import Settings
from tests.notebooks.kernels import Kernel, open_kernel
from tests.stored_results import result
from tests.warehouse.lake_rows import to_row
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import Home, open_home
from warehouse.lake.record_rows import pack_document
from warehouse.lake.store import Lake, open_lake

TRACKS = ("7400000000000000001", "7400000000000000002", "7400000000000000003")
ACCOUNT = "MS4wLjABAAAAaccount1"
START = datetime(2026, 10, 1, 12, tzinfo=UTC)
MOMENT = "2026-10-20"
HOSTILE = '<script src=http://evil.example/x.js>alert(1)</script><img src=x onerror=alert(2)>"&'


@dataclass
class Workshop:
    """A home with a small lake, and where its reports go."""

    home: Home
    lake: Lake
    settings: Settings
    output: Path

    def engine(self, *, as_of: datetime | None = None) -> Any:
        return closing(Engine(self.lake, as_of=as_of))

    def make(
        self,
        name: str,
        *,
        to: str | None = None,
        as_of: str = "",
        language: str = "en",
        **given: object,
    ) -> RenderedReport:
        asked = ReportRequest(
            report=find_report(name),
            parameters=given,
            as_of=as_of,
            language=language,
            output=self.output / f"{to or name}.html",
        )
        return build_report(self.settings, asked, progress=lambda _: None)

    def add_scan(self, music_id: str, *, day: int, likes: int, works: int = 4) -> None:
        """A scan of a track: works, one account each two works, pairs, ledger, result."""
        at, job_id = START + timedelta(days=day), f"job-{music_id[-1]}-{day}"
        ids = [f"75{music_id[-1]}000000000000{number:04}" for number in range(works)]
        add = self._adder(at)
        add("raw.tracks", {"music_id": music_id, "title": f"Song {music_id[-1]}", "duration_s": 60})
        add(
            "raw.videos",
            *(
                {
                    "aweme_id": aweme_id,
                    "surface": "video_page",
                    "desc": HOSTILE if number == 0 else f"work {number}",
                    "create_time": 1_735_689_600 + number * 40 * 86_400,
                    "sec_uid": f"{ACCOUNT[:-1]}{1 + number // 2}",
                    "nickname": f"{HOSTILE[:30]} {number // 2}",
                    "music_id": music_id if number < 2 else f"{music_id[:-1]}9",
                    "digg_count": None if number == 3 else likes * (number + 1),
                    "comment_count": 5,
                    "collect_count": 3,
                    "share_count": 2,
                    "statistics_complete": number != 3,
                    "capture_id": None,
                }
                for number, aweme_id in enumerate(ids)
            ),
        )
        add(
            "marts.confirmed_videos",
            *(
                {
                    "music_id": music_id,
                    "aweme_id": aweme_id,
                    "job_id": job_id,
                    "link_type": "exact_music_id" if number < 2 else "audio_fingerprint_match",
                    "source_music_id": music_id if number < 2 else f"{music_id[:-1]}9",
                    "sec_uid": f"{ACCOUNT[:-1]}{1 + number // 2}",
                }
                for number, aweme_id in enumerate(ids)
            ),
        )
        add(
            "marts.candidates",
            *({"job_id": job_id, "aweme_id": one, "outcome": "confirmed"} for one in ids),
        )
        self._add_pairs(add, music_id, job_id, ids)
        add(
            "marts.coverage",
            {"job_id": job_id, "surface": "music_list", "stop_reason": "exhausted", "requests": 2},
        )
        add(
            "marts.coverage_estimates",
            {"job_id": job_id, "unit": "video", "not_estimated_reason": "too_few"},
        )
        add(
            "marts.random_audits",
            {"job_id": job_id, "population_count": 40, "not_audited_reason": "switched_off"},
        )
        add(
            "marts.job_results",
            {"job_id": job_id, "music_id": music_id, "document": pack_document(result(3))},
        )

    def rename_author(self, music_id: str, *, day: int, nickname: str) -> None:
        """The first video of a track, observed again with another name of its account."""
        video = {
            "aweme_id": f"75{music_id[-1]}0000000000000000", "surface": "video_page",
            "sec_uid": ACCOUNT, "nickname": nickname, "digg_count": 4_000,
            "statistics_complete": False, "capture_id": None,
        }  # fmt: skip
        self._adder(START + timedelta(days=day))("raw.videos", video)

    def add_search(self, *, day: int) -> None:
        """The result of a search by name, which is about no track."""
        row = {
            "job_id": f"search-{day}", "music_id": "keyword:0f3a",
            "document": pack_document(result(3)),
        }  # fmt: skip
        self._adder(START + timedelta(days=day))("marts.job_results", row)

    def add_surroundings(self) -> None:
        """An account, captures with a gap between, and a chart of three issues."""
        for day, followers in ((0, 100), (3, None), (6, 180)):
            add = self._adder(START + timedelta(days=day))
            add(
                "raw.accounts",
                {"sec_uid": ACCOUNT, "follower_count": followers, "total_favorited": 9},
            )
            add(
                "raw.captures",
                {"capture_id": f"c-{day}", "surface": "video_page", "outcome": "ok"},
                {"capture_id": f"u-{day}", "outcome": "unavailable", "reason": "status_deleted"},
            )
            issue = {"volid": f"v{day}", "chart_date": date(2026, 9, 1 + day)}
            add("raw.chart_issues", issue)
            add(
                "raw.chart_songs",
                *(
                    issue
                    | {"capture_id": f"c-{day}", "rank": rank, "title": f"Song {rank + day % 2}"}
                    for rank in (1, 2, 3)
                ),
            )

    def add_mapping(self) -> None:
        """What a later evaluation said of a song and a track."""
        row = {
            "song_key": "s", "music_id": TRACKS[0], "relation": "same", "title": "Song 1",
            "first_chart_date": date(2026, 9, 1), "last_chart_date": date(2026, 9, 7),
            "observation_count": 6,
        }  # fmt: skip
        self._adder(START + timedelta(days=25))("marts.chart_platform", row)

    def _add_pairs(self, add: Any, music_id: str, job_id: str, ids: list[str]) -> None:
        about = {
            "job_id": job_id, "track_music_id": music_id, "segment": "local", "overlap_s": 6.0,
            "speed": 1.0, "semitones": 0.0, "limits": "{}",
            "algorithm": "v3",
        }  # fmt: skip
        pairs = (
            ("confirmed", "local_rule_met", 0.30, 0.40, 0.90, ids[2], f"{music_id[:-1]}9"),
            ("rejected", "score_below_threshold", 0.60, 0.70, 0.30, "76", "74999"),
            ("rejected", "distances_above_limits", 0.80, 0.85, 0.05, "77", "74998"),
        )
        add(
            "marts.audio_comparisons",
            *(
                about
                | {
                    "comparison_id": f"{job_id}-{number}", "verdict": verdict, "reason": reason,
                    "chroma_distance": chroma, "mfcc_distance": mfcc, "score": score,
                    "candidate_aweme_id": aweme_id, "candidate_music_id": candidate,
                }
                for number, (verdict, reason, chroma, mfcc, score, aweme_id, candidate)
                in enumerate(pairs)
            ),
        )  # fmt: skip
        add(
            "marts.variants",
            {"music_id": music_id, "aweme_id": "78", "job_id": job_id, "kind": "speed"},
        )

    def _adder(self, at: datetime) -> Callable[..., None]:
        def add(table: str, *rows: dict[str, Any]) -> None:
            self.lake.append(table, [to_row(table, at, **row) for row in rows])

        return add


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    root = tmp_path_factory.mktemp("reports")
    home = open_home(root / "data", "sandbox")
    settings = Settings(_env_file=None, profile="sandbox", data_home=root / "data")
    lake = open_lake(home.lake_url, world="sandbox")
    made = Workshop(home, lake, settings, root / "out")
    for number, music_id in enumerate(TRACKS):
        for day, likes in ((number, 4_000), (number + 7, 6_000)):
            made.add_scan(music_id, day=day, likes=likes)
    made.add_surroundings()
    made.add_mapping()
    return made


@pytest.fixture(scope="session")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with open_kernel(tmp_path_factory.mktemp("kernel")) as opened:
        yield opened


@contextmanager
def one_kernel_for_reports(kernel: Kernel) -> Iterator[None]:
    """Reports are made by this kernel in turn, not each by one of its own."""

    def run_here(report: Notebook, given: Mapping[str, object], *, progress: ReportProgress) -> Any:
        progress(report.name)
        return kernel.run(report.path, given)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("pipelines.reports.build.run_notebook", run_here)
        yield


@pytest.fixture(scope="session")
def all_made(workshop: Workshop, kernel: Kernel) -> dict[str, RenderedReport]:
    """Every report as of the moment.

    First that of a track: what draws numbers parts of its pictures, and goes on with the next one.
    """
    names = sorted((one.name for one in read_catalogue()), key=lambda name: name != "track")
    with one_kernel_for_reports(kernel):
        return {name: workshop.make(name, as_of=MOMENT) for name in names}
