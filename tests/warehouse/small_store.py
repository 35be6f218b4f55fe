"""A small warehouse as a scan leaves it, and the command line over it."""

import hashlib
import io
import json
import sys
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from api.cli import terminal
from api.cli.main import main
from warehouse.home import Home, open_home
from warehouse.lake.record_rows import pack_bytes, video_row
from warehouse.lake.store import Lake, open_lake
from warehouse.records.videos import Author, Video

START = datetime(2026, 11, 1, 12, tzinfo=UTC)
FIRST_RELEASE = Path(__file__).parents[1] / "data" / "first_release" / "store.tar.xz"
JOB = "0a000000-0000-4000-8000-000000000001"


@dataclass
class SmallStore:
    """A home with a lake of a few rows."""

    home: Home
    lake: Lake

    def add_ranking(self, *, job_id: str = JOB, hour: int = 0, works: int = 3) -> None:
        rows = [
            {
                "job_id": job_id, "rank": rank, "aweme_id": f"740000000000000{rank:04}",
                "music_id": "7348759830572834348", "link_type": "exact_music_id",
                "digg_count": 100 - rank, "comment_count": None, "collect_count": 3,
                "share_count": 4, "hot_score": None, "statistics_complete": False,
                "create_time": 1_760_000_000 + rank,
                "committed_at": START + timedelta(hours=hour),
            }
            for rank in range(1, works + 1)
        ]  # fmt: skip
        self.lake.append("marts.rankings", rows)

    def add_coverage(self) -> None:
        row: dict[str, object] = {
            "job_id": JOB, "surface": "music_list", "requests": 2, "pages": 2, "items": 20,
            "new_items": 18, "stop_reason": "exhausted", "foreign_rows": 0, "committed_at": START,
        }  # fmt: skip
        self.lake.append("marts.coverage", [row])

    def add_works(self, sec_uid: str, *, nickname: str, desc: str, first: int = 1) -> None:
        """Two works of an account on its page, as a capture leaves them."""
        origin = {"capture_id": f"c-{first}", "job_id": JOB, "data_provider": "mock"}
        videos = [
            video_row(
                Video(
                    aweme_id=f"741000000000000{number:04}",
                    surface="user_posts",
                    observed_at=START,
                    desc=desc,
                    author=Author(
                        sec_uid=sec_uid, uid=f"9988776655{first}", unique_id=f"handle_{first}",
                        nickname=nickname, avatar_url="https://pictures.example/a.jpeg",
                    ),
                ),
                **origin,
            )
            for number in (first, first + 1)
        ]  # fmt: skip
        body = json.dumps({"author": {"sec_uid": sec_uid, "nickname": nickname}}).encode()
        sha256 = hashlib.sha256(body).hexdigest()
        payload = {
            "sha256": sha256, "body": pack_bytes(body), "size_bytes": len(body),
            "content_type": "application/json",
        }  # fmt: skip
        capture = {
            "surface": "user_posts", "entity_id": sec_uid, "sequence": 1, "outcome": "ok",
            "reason": None, "notice": None, "detail_msg": None,
            "http_status": 200, "request_count": 1, "item_count": 2,
            "cursor_in": 0, "cursor_out": 2, "has_more": False, "payload_sha256": sha256,
            "source_path": f"/user/{sec_uid}", "parser_version": "1", "observed_at": START,
            **origin,
        }  # fmt: skip
        items = [
            {
                "capture_id": f"c-{first}", "position": position, "surface": "user_posts",
                "entity_id": sec_uid, "sequence": 1, "aweme_id": video["aweme_id"],
            }
            for position, video in enumerate(videos)
        ]  # fmt: skip
        stamp: dict[str, object] = {"committed_at": START}
        for name, rows in (
            ("raw.payloads", [payload]),
            ("raw.capture_items", items),
            ("raw.videos", videos),
            ("raw.captures", [capture]),
        ):
            self.lake.append(name, [{**row, **stamp} for row in rows])


@pytest.fixture(scope="session")
def small_store_at() -> Callable[[Path], SmallStore]:
    """The warehouse in a data home."""

    def open_small(root: Path) -> SmallStore:
        home = open_home(root, "sandbox")
        return SmallStore(home, open_lake(home.lake_url, world="sandbox"))

    return open_small


@pytest.fixture
def small_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallStore:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path / "data"))
    home = open_home(tmp_path / "data", "sandbox")
    return SmallStore(home, open_lake(home.lake_url, world="sandbox"))


@pytest.fixture(scope="session")
def first_release_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data home that real scans of the first release left; for reading alone."""
    folder = tmp_path_factory.mktemp("store")
    with tarfile.open(FIRST_RELEASE) as archive:
        archive.extractall(folder, filter="data")
    return folder / "home"


@dataclass
class CommandResult:
    """What a command left: its exit status, its output, its remarks."""

    status: int
    body: bytes
    remarks: str

    @property
    def document(self) -> Any:
        assert self.status == 0, self.remarks
        return json.loads(self.body)


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Callable[..., CommandResult]:
    """The command as a shell runs it: errors are one line and an exit status."""

    def run(*arguments: str, given: str = "") -> CommandResult:
        monkeypatch.setattr(sys, "argv", ["sametrack", *arguments])
        # the same tables whatever terminal the module was imported in
        monkeypatch.setattr(terminal.out, "_width", terminal.PIPED_WIDTH)
        monkeypatch.setattr(sys, "stdin", io.StringIO(given))
        capfdbinary.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        sys.stdout.flush()
        written = capfdbinary.readouterr()
        return CommandResult(int(ended.value.code or 0), written.out, written.err.decode())

    return run
