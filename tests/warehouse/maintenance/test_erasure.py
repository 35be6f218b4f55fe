"""An erased account is in no file afterwards, others stay, and it does not come back."""

import asyncio
import json
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from dagster import job, op

from pipelines.captures.capture import CaptureRequest
from pipelines.captures.erased_accounts import ErasureMarksCache, refuse_erased, without_erased
from pipelines.erasure import forget_runs, open_erasure
from pipelines.orchestration.runs.open_instance import open_instance
from pipelines.settings import Settings
from warehouse.control import ControlStore, captures, jobs, leases, links, open_control
from warehouse.control.jobs import NewJob
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.record_rows import pack_bytes, pack_document
from warehouse.lake.video_index import FILE
from warehouse.maintenance.compaction import maintain_lake
from warehouse.maintenance.erasure import AccountNames, check_idle, search_files, to_pattern
from warehouse.queries.erasure import read_erasure_marks
from warehouse.queries.videos import read_listed_videos
from warehouse.records.errors import UnresolvedIdError, WarehouseUnavailableError
from warehouse.records.videos import Account, Author, Track, Unavailability, Video, VideoPage
from warehouse.tables import BY_NAME

pytestmark = pytest.mark.full

OPTIONAL = [column.name for column in BY_NAME["raw.tracks"].columns if not column.required]
GONE = "MS4wLjABAAAAgone_account-0001"
STAYS = "MS4wLjABAAAAstays_account-0002"
NICKNAME = "一个名字"
GONE_IDS = (GONE, "99887766551", "7410000000000000001", "7410000000000000002")
HANDLES = {GONE: "@handle_1", STAYS: "@handle_12"}
JOB = "0a000000-0000-4000-8000-000000000001"
OTHER_JOB = "0a000000-0000-4000-8000-000000000002"


@op
def nothing() -> None:
    """Do nothing."""


@job(name="scan")
def empty_scan() -> None:
    """Stand in for the scan: only its run record matters here."""
    nothing()


@dataclass
class Full:
    """A home in which the account is everywhere."""

    small_store: Any
    control: ControlStore

    def engine(self, **options: Any) -> Any:
        return closing(Engine(self.small_store.lake, **options))


@pytest.fixture(scope="module")
def full_home(
    tmp_path_factory: pytest.TempPathFactory, small_store_at: Callable[[Path], Any]
) -> Path:
    """A data home in which the account is everywhere; each test gets a copy."""
    root = tmp_path_factory.mktemp("full") / "data"
    small_store = small_store_at(root)
    small_store.add_works(GONE, nickname=NICKNAME, desc="one")
    small_store.add_works(STAYS, nickname="another name", desc="two", first=5)
    small_store.add_ranking()
    add_marts(small_store.lake)
    add_files(small_store.home.root)
    with closing(open_control(small_store.home.control_url, world="sandbox")) as control:
        for name in (GONE, STAYS):
            links.save(control, f"https://short.example/{name}", "user", name, ttl_s=1000)
            links.save(control, f"user {HANDLES[name]}", "user", name, ttl_s=1000)
            captures.next_numbers(control, [("user_by_handle", HANDLES[name])])
            captures.next_numbers(control, [("user_posts", name)])[0]
            jobs.create_or_join(control, new_job(name))
    return root


@contextmanager
def opened(small_store: Any) -> Iterator[Full]:
    with closing(open_control(small_store.home.control_url, world="sandbox")) as control:
        yield Full(small_store, control)


@pytest.fixture
def full(
    tmp_path: Path,
    full_home: Path,
    small_store_at: Callable[[Path], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Full]:
    shutil.copytree(full_home, tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("API_PORT", "1")
    with opened(small_store_at(tmp_path / "data")) as found:
        yield found


@pytest.fixture(scope="module")
def erased(
    tmp_path_factory: pytest.TempPathFactory, full_home: Path, small_store_at: Callable[[Path], Any]
) -> Iterator[Full]:
    """The same home after the erasure, for tests that only look."""
    root = tmp_path_factory.mktemp("erased") / "data"
    shutil.copytree(full_home, root)
    settings = Settings(_env_file=None, profile="sandbox", data_home=root)
    with ExitStack() as stack:
        assert open_erasure(settings, GONE, stack).carry_out().proof.is_clean
    with opened(small_store_at(root)) as found:
        yield found


def new_job(name: str) -> NewJob:
    return NewJob(
        kind="scan", input=f"text {name}", target=name, music_id=None, parameters={},
        fingerprint=name, scan_key=None, origin="api", priority=100,
    )  # fmt: skip


def add_marts(lake: Any) -> None:
    comparison: dict[str, object] = {
        "comparison_id": "pair", "job_id": JOB, "track_music_id": "1",
        "reference_aweme_id": "7410000000000000005", "candidate_aweme_id": GONE_IDS[2],
        "reference_music_id": "1", "candidate_music_id": "2", "reference_sha256": "b" * 64,
        "candidate_sha256": "a" * 64, "verdict": "confirmed", "reason": "same", "segment": "whole",
        "chroma_distance": 0.1, "mfcc_distance": 0.1, "overlap_s": 9.0, "reference_start_s": 0.0,
        "candidate_start_s": 0.0, "peak_agreement": 0.9, "score": 0.9, "speed": 1.0,
        "semitones": 0.0, "limits": "{}", "algorithm": "a", "feature_version": "f",
        "library_version": "l", "observation": None, "searched": None,
        "shared_part": None, "version_score": None,
        "reference_source": "platform",
    }  # fmt: skip
    lake.append("marts.audio_comparisons", [comparison])
    annotation: dict[str, object] = {
        "annotation_id": "said", "comparison_id": "pair", "said": "same", "note": NICKNAME,
        "origin": "cli", "annotated_at": datetime.now(UTC),
    }  # fmt: skip
    lake.append("marts.annotations", [annotation])
    results: list[dict[str, object]] = [
        {
            "job_id": job_id, "music_id": "1", "document": pack_document({"accounts": [name]}),
            "confirmed_count": 1, "algorithm": "a",
        }
        for job_id, name in ((JOB, GONE), (OTHER_JOB, STAYS))
    ]  # fmt: skip
    lake.append("marts.job_results", results)
    track: dict[str, object] = {
        **dict.fromkeys(OPTIONAL),
        "music_id": "2", "surface": "music_info", "observed_at": datetime.now(UTC),
        "title": f"@{NICKNAME} made this sound", "author": NICKNAME, "owner_nickname": NICKNAME,
        "duration_s": 9, "is_original_sound": True, "data_provider": "mock",
    }  # fmt: skip
    lake.append("raw.tracks", [track])


def add_refused_handles(lake: Any, *handles: str) -> None:
    """Refused attempts, which know nothing but the handle that was asked for."""
    optional = [column.name for column in BY_NAME["raw.captures"].columns if not column.required]
    rows: list[dict[str, object]] = [
        {
            **dict.fromkeys(optional),
            "capture_id": f"refused {handle}", "surface": "user_by_handle", "entity_id": handle,
            "observed_at": datetime.now(UTC), "outcome": "upstream_empty", "request_count": 1,
            "sequence": number, "data_provider": "mock", "item_count": 0, "parser_version": "1",
        }
        for number, handle in enumerate(handles)
    ]  # fmt: skip
    lake.append("raw.captures", rows)


def handles_asked(full: Full) -> list[str]:
    sql = "select entity_id from raw.captures where surface = 'user_by_handle' order by 1"
    with full.engine() as engine:
        return [str(row["entity_id"]) for row in engine.rows(sql)]


def add_files(root: Path) -> None:
    for name, text in (
        ("reports/gone.html", f"<p>{NICKNAME}</p>"),
        ("reports/plot.pdf", "packed"),
        ("reports/stays.html", STAYS),
        ("digests/gone.json", json.dumps({"works": [GONE_IDS[3]]})),
        ("dagster/storage/run-1/compute_logs/gone.err", f"no profile of {GONE}"),
        ("dagster/storage/run-1/compute_logs/stays.err", STAYS),
        ("published/sametrack.duckdb", "packed"),
        (f"cache/excerpts/{'a' * 64}-0-9000.mp3", "sound"),
        (f"cache/excerpts/{'b' * 64}-0-9000.mp3", "sound"),
        (f"sounds/.kept-job-{GONE_IDS[2]}.mp4", "left by a killed scan"),
        (f"sounds/{'a' * 64}-7.mp4", "as well"),
    ):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def places(root: Path, *names: str) -> tuple[str, ...]:
    return search_files(root, to_pattern(names)).places


def test_erased_account_is_in_no_file_and_others_are_unchanged(
    full: Full, command: Callable[..., Any]
) -> None:
    root = full.small_store.home.root
    assert len(places(root, *GONE_IDS)) > 10
    said = command("erase", GONE, "--yes", "--json").document
    assert said["is_clean"]
    assert said["proof"]["file_count"] > 50
    assert places(root, *GONE_IDS, GONE.replace("_", r"\u005f")) == ()
    assert [name for name in places(root, NICKNAME) if "lake" in name] == []
    assert said["rows"] == {
        "raw.payloads": 1, "raw.captures": 1, "raw.capture_items": 2, "raw.videos": 2,
        "marts.audio_comparisons": 1, "marts.annotations": 1, "marts.job_results": 1,
    }  # fmt: skip
    with full.engine() as engine:
        [left] = engine.rows("select count(*) as n from seen.videos")
        [sound] = engine.rows("select title, author, owner_nickname from raw.tracks")
        kept = engine.rows("select job_id from marts.job_results")
    assert left == {"n": 2}
    assert set(sound.values()) == {None}
    assert kept == [{"job_id": OTHER_JOB}]


def test_erasure_deletes_the_video_index_and_maintenance_rebuilds_it(
    full: Full, command: Callable[..., Any]
) -> None:
    root, lake = full.small_store.home.root, full.small_store.lake
    assert maintain_lake(lake, now=datetime.now(UTC) + timedelta(days=1)).works_indexed == 4
    assert FILE in "".join(places(root, GONE))
    assert command("erase", GONE, "--yes", "--json").document["is_clean"]
    assert not list(Path(lake.url).glob(f"{FILE}*"))
    assert maintain_lake(lake, now=datetime.now(UTC) + timedelta(days=2)).works_indexed == 2
    assert places(root, *GONE_IDS) == ()
    with full.engine() as engine:
        assert set(read_listed_videos(engine, [*GONE_IDS, "7410000000000000005"])) == {
            "7410000000000000005"
        }


def test_files_and_answers_that_name_it_go_and_no_others(erased: Full) -> None:
    root = erased.small_store.home.root
    left = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    assert {"reports/stays.html", "dagster/storage/run-1/compute_logs/stays.err"} <= left
    assert f"cache/excerpts/{'b' * 64}-0-9000.mp3" in left
    assert not left & {
        "reports/gone.html", "reports/plot.pdf", "digests/gone.json", "published/sametrack.duckdb",
        f"cache/excerpts/{'a' * 64}-0-9000.mp3", "dagster/storage/run-1/compute_logs/gone.err",
    }  # fmt: skip
    assert not [name for name in left if name.startswith("sounds/")]
    assert [one.target for one in jobs.newest(erased.control, limit=9)] == [STAYS]
    assert links.read(erased.control, f"https://short.example/{STAYS}") is not None
    assert links.read(erased.control, f"https://short.example/{GONE}") is None


def test_runs_of_the_orchestrator_that_name_it_go_with_their_events(full: Full) -> None:
    home = full.small_store.home
    with open_instance(home) as instance:
        for name in (GONE, STAYS):
            run = instance.create_run_for_job(empty_scan, tags={"about": name})
            instance.report_engine_event(f"about {name}", run)
    assert forget_runs(home, AccountNames(sec_uid=GONE)) == 1
    assert places(home.dagster_dir, GONE) == ("storage/run-1/compute_logs/gone.err",)  # a file
    with open_instance(home) as instance:
        [left] = instance.get_runs()
        assert left.tags["about"] == STAYS
        assert len(instance.all_logs(left.run_id)) == 1


def test_an_open_reader_sees_the_rest_and_an_older_moment_says_that_history_was_rewritten(
    full: Full, command: Callable[..., Any]
) -> None:
    ask = ("sql", "select count(*) as n from raw.videos", "--json", "--as-of", "2026-11-02")
    before = command(*ask).document
    assert (before["rows"], "history_rewritten" in before["method"]) == ([{"n": 4}], False)
    with full.engine() as engine:
        assert engine.rows("select count(*) as n from raw.videos") == [{"n": 4}]
        command("erase", GONE, "--yes")
        engine.refresh()
        assert engine.rows("select count(*) as n from raw.videos") == [{"n": 2}]
    after = command(*ask).document
    assert after["rows"] == [{"n": 2}]
    assert after["method"]["history_rewritten"] == "true"
    reported = command("export", "videos", "--as-of", "2026-11-02", "--json").document
    assert reported["method"]["history_rewritten"] == "true"
    full.small_store.add_ranking(job_id="later", hour=2)


def test_erase_command_finds_a_handle_and_asks_for_confirmation(
    full: Full, command: Callable[..., Any]
) -> None:
    said = command("erase", "handle_1", given="n\n")
    assert said.status == 2
    assert "2 posts" in said.remarks
    assert places(full.small_store.home.root, GONE) != ()
    assert command("erase", "handle_1", given="y\n").status == 0
    assert places(full.small_store.home.root, GONE) == ()


@pytest.mark.parametrize(
    "given", [pytest.param("1004293889", marks=pytest.mark.soak), "@1004293889"]
)
def test_erase_command_finds_an_account_by_its_short_id(
    full: Full, command: Callable[..., Any], given: str
) -> None:
    unknown = (one.name for one in BY_NAME["raw.accounts"].columns if not one.required)
    account: dict[str, object] = {
        **dict.fromkeys(unknown),
        "sec_uid": GONE, "short_id": "1004293889", "surface": "user_info",
        "observed_at": datetime.now(UTC), "data_provider": "mock",
    }  # fmt: skip
    full.small_store.lake.append("raw.accounts", [account])
    assert command("erase", given, "--yes", "--json").document["is_clean"]
    assert places(full.small_store.home.root, GONE) == ()


def test_a_page_that_shows_it_percent_encoded_goes(full: Full, command: Callable[..., Any]) -> None:
    page = quote(json.dumps({"nickname": NICKNAME}, ensure_ascii=False)).encode()
    payload: dict[str, object] = {
        "sha256": "c" * 64, "body": pack_bytes(page), "size_bytes": len(page), "content_type": None,
    }  # fmt: skip
    full.small_store.lake.append("raw.payloads", [payload])
    said = command("erase", GONE, "--yes", "--json").document
    assert (said["is_clean"], said["rows"]["raw.payloads"]) == (True, 2)


def test_erasure_by_handle_keeps_longer_handles(full: Full, command: Callable[..., Any]) -> None:
    add_refused_handles(full.small_store.lake, "@handle_1", "@handle_12")
    assert command("erase", "@Handle_1", "--yes").status == 0
    assert places(full.small_store.home.root, GONE, "@handle_1") == ()
    assert handles_asked(full) == ["@handle_12"]
    assert links.read(full.control, "user @handle_1") is None
    assert links.read(full.control, "user @handle_12") is not None


def test_a_handle_that_led_to_nobody_is_erased_and_not_asked_again(
    full: Full, command: Callable[..., Any]
) -> None:
    add_refused_handles(full.small_store.lake, "@unknown_one", "@unknown_one_too")
    said = command("erase", "@unknown_one", "--yes", "--json").document
    assert (said["is_clean"], said["rows"]) == (True, {"raw.captures": 1})
    assert handles_asked(full) == ["@unknown_one_too"]
    with full.engine() as engine:
        assert read_erasure_marks(engine).hold("@unknown_one")
        assert not read_erasure_marks(engine).hold("@unknown_one_too")


def test_the_pattern_of_a_handle_finds_requests_and_not_mentions() -> None:
    pattern = to_pattern({"@mia_00"})
    for text in ("@mia_00", "user @Mia_00", "x\n@mia_00\ny", '{"input": "@mia_00"}', "a\0@mia_00"):
        assert pattern.search(text.encode()), text
    assert pattern.search(b"/user/info/?unique_id=mia_00&aid=1")
    for text in ("with @mia_00 again", "@mia_001", "@mia_00.x", "unique_id=mia_001", "mia_00"):
        assert not pattern.search(text.encode()), text


@pytest.mark.parametrize("account", ["nobody", "", "12345"])
def test_erase_command_refuses_unknown_accounts(
    small_store: Any, command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, account: str
) -> None:
    monkeypatch.setenv("API_PORT", "1")
    said = command("erase", account, "--yes")
    assert said.status == 2
    assert "no observed account" in said.remarks


def test_a_worker_at_work_is_told_to_be_stopped_first(
    full: Full, command: Callable[..., Any]
) -> None:
    jobs.beat(full.control, "a worker", [])
    said = command("erase", GONE, "--yes")
    assert said.status == 1
    assert "stop it" in said.remarks
    assert places(full.small_store.home.root, GONE) != ()


def test_a_job_that_a_killed_worker_left_running_does_not_prevent_it(full: Full) -> None:
    jobs.claim(full.control, "a worker")
    with pytest.raises(WarehouseUnavailableError, match="is running"):
        check_idle(full.control, within_s=60)
    url, later = full.small_store.home.control_url, time.time() + 3600
    with closing(open_control(url, world="sandbox", clock=lambda: later)) as control:
        check_idle(control, within_s=60)


def test_a_service_that_listens_is_told_to_be_stopped_first(
    full: Full, command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as service:
        monkeypatch.setenv("API_PORT", str(service.getsockname()[1]))
        said = command("erase", GONE, "--yes")
    assert said.status == 1
    assert "stop it" in said.remarks


def test_second_erasure_is_refused_while_one_is_under_way(
    full: Full, command: Callable[..., Any]
) -> None:
    assert leases.acquire(full.control, "erasing", "another", 60)
    said = command("erase", GONE, "--yes")
    assert said.status == 1
    assert "under way" in said.remarks


def test_erased_account_is_neither_requested_nor_stored(erased: Full) -> None:
    with erased.engine() as engine:
        marks = read_erasure_marks(engine)
        assert asyncio.run(ErasureMarksCache(engine).marks()) == marks
    work = CaptureRequest(kind="work", surface="video_page", entity_id=GONE_IDS[2])
    assert isinstance(refuse_erased(work, marks), Unavailability)
    assert (
        refuse_erased(CaptureRequest(kind="list", surface="user_posts", entity_id=STAYS), marks)
        is None
    )
    with pytest.raises(UnresolvedIdError, match="erased"):
        refuse_erased(CaptureRequest(kind="list", surface="user_posts", entity_id=GONE), marks)


def video(aweme_id: str, sec_uid: str) -> Video:
    author = Author(sec_uid=sec_uid)
    now = datetime.now(UTC)
    return Video(aweme_id=aweme_id, surface="music_list", observed_at=now, author=author)


def test_new_records_lose_only_the_videos_of_an_erased_account(erased: Full) -> None:
    with erased.engine() as engine:
        marks = read_erasure_marks(engine)
    new, other = video("7499999999999999999", GONE), video("7488888888888888888", STAYS)
    page = VideoPage(videos=(new, other), cursor=2, has_more=False)
    assert without_erased(page, marks).videos == (other,)
    assert without_erased(replaced := other, marks) is replaced
    shown: Any = without_erased(new, marks)
    assert isinstance(shown, Unavailability)
    now = datetime.now(UTC)
    track = Track(
        music_id="2", surface="music_info", observed_at=now, title="t", author="a",
        owner_nickname=NICKNAME, source_aweme_id=GONE_IDS[2],
    )  # fmt: skip
    assert without_erased(track, marks).owner_nickname is None
    with pytest.raises(UnresolvedIdError):
        without_erased(Account(sec_uid=GONE, surface="user_info", observed_at=now), marks)


def test_erasure_marks_are_hashes_without_ids(erased: Full) -> None:
    with erased.engine(as_of=datetime.now(UTC) - timedelta(days=1)) as engine:
        [row] = engine.rows("select * from raw.erasures")
    assert len(row["marks"]) == len(GONE_IDS) + 3  # and the handle, and the titles of its sounds
    assert all(len(mark) == 64 for mark in row["marks"])
    assert GONE not in json.dumps(row, default=str)
