"""Reading the archive again shows what changed, and writes nothing unless it is told to."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from api.cli.main import app
from pipelines.captures.capture import Capture, CaptureRequest, capture_tables
from pipelines.captures.replay import Replay, SurfaceReplay
from pipelines.platform.profiles import load_profile
from pipelines.platform.reparse import ArchivedBody, BodyParser
from warehouse.control import captures
from warehouse.home import open_home
from warehouse.lake.video_index import VideoIndex
from warehouse.queries.captures import count_archive, read_archive
from warehouse.queries.results import read_latest_track
from warehouse.records.errors import StructureChangedError
from warehouse.records.times import observed_now
from warehouse.records.videos import Unavailability

pytestmark = pytest.mark.full

SEEN_AT = datetime(2026, 11, 20, 8, tzinfo=UTC)
MUSIC = "7361234567890123456"
INFO = {
    "status_code": 0,
    "music_info": {"id_str": MUSIC, "mid": MUSIC, "title": "a song", "author": "x", "duration": 60},
}
GONE = Unavailability(reason="not shown")
PROFILE = load_profile("sandbox", sandbox_port=8790)


def body(**changes: object) -> bytes:
    return json.dumps(INFO | changes).encode()


def read(payload: bytes) -> Any:
    kept = ArchivedBody(
        surface="music_info", entity_id=MUSIC, observed_at=SEEN_AT, body=payload, status=200,
        content_type=None, path="/x",
    )  # fmt: skip
    return BodyParser(PROFILE).read(kept)


@pytest.fixture
def keep(stores: Any) -> Callable[..., str]:
    """Keep a capture of a track as an earlier parser would have."""

    def keep(
        payload: bytes,
        *,
        title: str | None = None,
        outcome: str = "ok",
        entity_id: str = MUSIC,
        **over: Any,
    ) -> str:
        value = read(body()) if outcome == "ok" else GONE
        if title is not None:
            value = _titled(title)
        values: dict[str, Any] = {
            "surface": "music_info", "observed_at": SEEN_AT, "http_status": 200,
        }  # fmt: skip
        capture: Capture[Any] = Capture(
            **values | over,
            outcome=outcome,
            request_count=1,
            request=CaptureRequest(kind="track", surface="music_info", entity_id=entity_id),
            payload=payload,
            source_path="/x",
            parser_version="an-earlier-one",
            value=value,
        )
        numbers = captures.next_numbers(stores.control, [(capture.surface, entity_id)])
        tables = capture_tables(
            [capture],
            numbers,
            data_provider="vidplat-public",
            job_id=None,
            stored={row["sha256"] for row in stores.rows("select sha256 from raw.payloads")},
        )
        for name, rows in tables.items():
            stores.lake.append(name, rows)
        stores.engine.refresh()
        assert capture.capture_id is not None
        return capture.capture_id

    return keep


def _titled(title: str) -> Any:
    return replace(read(body()), title=title)


@pytest.fixture
def replay(stores: Any) -> Callable[..., list[SurfaceReplay]]:
    def replay(**options: Any) -> list[SurfaceReplay]:
        again = Replay(lake=stores.lake, engine=stores.engine, profile=PROFILE)
        found = again.run(**options)
        stores.engine.refresh()
        return found

    return replay


def kinds(found: list[SurfaceReplay]) -> dict[str, int]:
    return {str(kind): count for kind, count in found[0].kinds.items()}


def test_replay_reports_unchanged_captures_as_same(keep: Any, replay: Any) -> None:
    keep(body())
    keep(body())
    assert kinds(replay()) == {"same": 2}


def test_record_that_differs_names_its_field(keep: Any, replay: Any) -> None:
    capture_id = keep(body(), title="what an older parser read")
    found = replay()
    assert (kinds(found), dict(found[0].fields)) == ({"changed": 1}, {"title": 1})
    assert [example.capture_id for example in found[0].examples] == [capture_id]


def test_body_that_the_platform_said_is_unchanged_is_read_again_as_one_that_it_sent(
    keep: Any, replay: Any
) -> None:
    keep(body(), title="older", http_status=304)
    keep(body(), title="older", http_status=302)
    assert kinds(replay()) == {"changed": 1, "not_read": 1}


def test_body_that_is_no_longer_understood_is_a_new_error(keep: Any, replay: Any) -> None:
    keep(b'{"status_code": 0, "music": {}}')
    found = replay()
    assert kinds(found) == {"new_error": 1}
    assert set(found[0].errors) == {StructureChangedError.type}


def test_refusal_that_is_read_now_is_told(keep: Any, replay: Any) -> None:
    keep(body(), outcome="upstream_structure_changed")
    keep(b'{"status_code": 2483}', outcome="upstream_login_required")
    keep(b'{"status_code": 2483}', outcome="upstream_structure_changed")
    assert kinds(replay()) == {"now_parsed": 1, "still_refused": 1, "other_refusal": 1}


def test_replay_writes_nothing_by_default(keep: Any, replay: Any, stores: Any) -> None:
    keep(body(), title="older")
    replay()
    assert stores.rows("select count(*) as n from raw.captures") == [{"n": 1}]


def test_written_replay_stands_beside_what_was_and_is_read_first(
    keep: Any, replay: Any, stores: Any
) -> None:
    capture_id = keep(body(), title="older")
    replay(is_written=True)
    rows = stores.rows("select * from raw.captures order by committed_at")
    assert [(row["reason"], row["sequence"], row["request_count"]) for row in rows] == [
        (None, 1, 1),
        (f"replay of {capture_id}", 1, 0),
    ]
    assert rows[0]["parser_version"] != rows[1]["parser_version"]
    assert rows[0]["payload_sha256"] == rows[1]["payload_sha256"]
    assert stores.rows("select count(*) as n from raw.payloads") == [{"n": 1}]
    track = read_latest_track(stores.engine, MUSIC)
    assert track is not None
    assert (track.title, track.observed_at) == ("a song", SEEN_AT)
    assert kinds(replay()) == {"same": 1}


def test_written_replay_drops_the_index_of_what_counted_before(
    keep: Any, replay: Any, stores: Any
) -> None:
    keep(body())
    index = VideoIndex(stores.lake).path
    index.touch()
    replay(is_written=True)
    assert index.exists()
    keep(body(), title="older")
    replay()
    assert index.exists()
    replay(is_written=True)
    assert not index.exists()


def test_replay_does_not_read_captures_committed_after_its_start(keep: Any, stores: Any) -> None:
    before = keep(body())
    began = observed_now()
    keep(body(), title="written by the replay")
    ids = [one["capture_id"] for batch in read_archive(stores.engine, until=began) for one in batch]
    assert ids == [before]
    assert count_archive(stores.engine, until=began) == 1
    assert count_archive(stores.engine, until=observed_now()) == 2


def test_archive_can_be_narrowed_by_time_and_surface(keep: Any, replay: Any) -> None:
    keep(body())
    keep(body(), observed_at=SEEN_AT + timedelta(days=1))
    keep(b"<html></html>", surface="hashtag_page", outcome="upstream_page_without_data")
    steps: list[tuple[int, int]] = []
    found = replay(since=SEEN_AT + timedelta(hours=1), on_step=lambda *step: steps.append(step))
    assert [one.surface for one in found] == ["music_info"]
    assert steps == [(1, 1)]
    assert [one.kinds.total() for one in replay(surfaces=("music_info",))] == [2]
    assert kinds(replay(surfaces=("hashtag_page",))) == {"not_read": 1}


def test_command_shows_the_counts_as_a_table_and_as_json(
    keep: Any, stores: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(body(), title="older [bold]")
    home = open_home(tmp_path / "home", "sandbox")
    (home.root / "lake").symlink_to(stores.root / "lake")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PROFILE", "sandbox")
    runner = CliRunner()
    shown = runner.invoke(app, ["replay"], catch_exceptions=False)
    assert shown.exit_code == 0
    assert "music_info" in shown.stdout
    assert "title" in shown.stdout
    document = json.loads(
        runner.invoke(app, ["replay", "--json", "--surface", "music_info"]).stdout
    )
    assert document["surfaces"][0]["changed"] == 1
    assert document["surfaces"][0]["fields"] == {"title": 1}


@pytest.mark.parametrize("arguments", [["--since", "yesterday"], ["--surface", "no_such_surface"]])
def test_command_refuses_what_means_nothing(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(app, ["replay", *arguments])
    assert found.exit_code == 2
