"""The commands that ask for one thing: answered in this process, over an invented world."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from typer.testing import CliRunner

from api.cli import api_access as caller
from api.cli.main import app
from api.client import AsyncClient, ConnectionFailedError
from api.generate.files import read_description
from api.openapi.reference import INTERFACE
from api.responses.errors import NotFoundError
from sandbox.world.world import SandboxWorld
from warehouse.records.errors import InvalidParameterError

pytestmark = pytest.mark.full


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Runs a command where no service is; its exit code, stdout and stderr."""
    logging_before = structlog.get_config()
    monkeypatch.chdir(tmp_path)  # no .env there
    monkeypatch.setenv("DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("DATA_PROVIDER", "mock")
    monkeypatch.setenv("MOCK_SIZE", "0.2")
    monkeypatch.setenv("API_PORT", "1")  # nothing listens there
    monkeypatch.setenv("COLUMNS", "140")

    def command(*arguments: str) -> Any:
        return CliRunner().invoke(app, arguments)

    yield command
    structlog.configure(**logging_before)


def test_an_answer_is_a_table_or_json(run: Any) -> None:
    shown = run("chart", "history", "2025-09-20", "2025-09-30")
    assert shown.exit_code == 0, shown.output
    assert "demo data" in shown.stderr
    assert "issue" in shown.stdout
    data = json.loads(run("chart", "history", "2025-09-20", "2025-09-30", "--json").stdout)
    assert [len(node["songs"]) for node in data["snapshots"]] == [20, 20]
    assert data["snapshots"][0]["songs"][0]["title"] in shown.stdout


def test_search_commands_exit_with_status_1_for_verification(run: Any) -> None:
    for kind in ("music", "video"):
        refused = run("search", kind, "Paper Boats")
        assert refused.exit_code == 1
        assert "platform_verification_required" in refused.stderr
        assert "Start a scan" in refused.stderr
        assert refused.stdout == ""


def test_link_commands_say_what_is_not_there(run: Any) -> None:
    empty = run("link", "list")
    assert (empty.exit_code, json.loads(run("link", "list", "--json").stdout)["links"]) == (0, [])
    assert "link create ID" in empty.stderr
    unknown = run("link", "create", "3f1c9a52-6d0e-4b7a-9c54-0a7d3f2b8e61")
    assert (unknown.exit_code, "job_not_found" in unknown.stderr) == (2, True)
    track = run("link", "create", "--track", "7399999999999999999")
    assert (track.exit_code, "Nothing is stored" in track.stderr) == (2, True)
    gone = run("link", "revoke", "a" * 32)
    assert (gone.exit_code, "not_found" in gone.stderr) == (2, True)


def test_read_commands_exit_with_status_2_for_invalid_input(run: Any) -> None:
    for arguments in (
        ("chart", "history", "x", "y"),
        ("videos", "12"),
        ("music", "hot", "no id and no link"),
        ("music", "hot"),
        ("music", "hot", "12345", "--count", "0"),
    ):
        assert run(*arguments).exit_code == 2, arguments


def test_an_address_where_nobody_answers_is_told_with_status_one(run: Any) -> None:
    refused = run("videos", "7300000000000000001", "--api", "http://127.0.0.1:1")
    assert refused.exit_code == 1
    assert "service_unreachable" in refused.stderr
    assert "omit --api" in refused.stderr


def test_missing_videos_are_named(run: Any) -> None:
    shown = run("videos", "7300000000000000001", "7300000000000000002")
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.count("the platform no longer shows it") == 2


def test_an_account_is_told_by_its_id_and_turned_page_by_page(run: Any) -> None:
    listed = json.loads(run("chart", "history", "2025-09-20", "2025-09-20", "--json").stdout)
    assert listed["is_demo_data"] is True
    whom = SandboxWorld(7, 0.2).sec_uid(0)
    assert run("user", "id", f"text with {whom}").stdout == f"{whom}\n"
    assert "followers" in run("user", "profile", whom).stdout
    assert "average likes" in run("user", "metrics", whom, "--days", "365").stdout
    first = run("user", "posts", whom, "--count", "1")
    assert first.exit_code == 0, first.output
    unknown = run("user", "profile", "nobody")
    assert unknown.exit_code == 2
    assert "unresolvable_sec_user_id" in unknown.stderr


def test_an_account_is_found_by_any_text_that_leads_to_it(run: Any) -> None:
    whom = SandboxWorld(7, 0.2).sec_uid(0)
    by_text = json.loads(run("user", "profile", f"look at {whom}", "--json").stdout)
    assert by_text["user"]["sec_uid"] == whom


def test_search_words_are_told_apart_by_commas(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    async def send(_client: Any, request: Any) -> Any:
        asked.append(request)
        raise ConnectionFailedError("nobody is asked")

    monkeypatch.setattr(AsyncClient, "send", send)
    words = ("--search-keywords", "Paper Boats, 纸船\uff0cboats")
    assert run("music", "batch", "7300000000000000001", *words).exit_code == 1
    (request,) = asked
    assert request.body["search_keywords"] == ["Paper Boats", "纸船", "boats"]
    assert request.body["inputs"] == ["7300000000000000001"]


def test_a_list_says_how_much_was_ever_seen_and_where_it_goes_on(run: Any) -> None:
    music_id = SandboxWorld(7, 0.2).tracks[0].music_id
    page = run("music", "list", music_id, "--count", "1")
    assert page.exit_code == 0, page.output
    assert "1 shown of" in page.stdout
    (cursor,) = re.findall(r"--cursor ([0-9]+)", page.stdout)
    after = run("music", "list", music_id, "--count", "1", "--cursor", cursor)
    assert after.exit_code == 0
    assert after.stdout != page.stdout
    assert run("hashtag", "list", "12").exit_code == 2


def test_the_page_of_a_stored_track_is_written_and_linked(run: Any, tmp_path: Path) -> None:
    track = SandboxWorld(7, 0.2).tracks[0]
    file = tmp_path / "track.html"
    unknown = run("report", track.music_id, "--output", str(file))
    assert isinstance(unknown.exception, NotFoundError)
    assert not file.exists()
    listed = json.loads(run("music", "list", track.music_id, "--count", "1", "--json").stdout)
    assert run("videos", listed["aweme_list"][0]["aweme_id"]).exit_code == 0
    written = run("report", track.music_id, "--output", str(file), "--language", "zh")
    assert written.exit_code == 0, written.output
    page = file.read_text()
    assert track.music_id in page
    assert '<html lang="zh-Hans">' in page
    link = json.loads(run("link", "create", "--track", track.music_id, "--json").stdout)
    assert (link["kind"], link["id"]) == ("track", track.music_id)


def test_a_ranking_is_a_job_to_follow_and_a_batch_judges_each(run: Any) -> None:
    started = run("music", "hot", "7300000000000000001")
    assert (started.exit_code, "queued" in started.stdout) == (0, True)
    batch = run("music", "batch", "7300000000000000001", "neither", "--count", "3")
    assert batch.exit_code == 0
    assert "link of the platform" in " ".join(batch.stdout.split())


def test_the_description_is_printed_or_written_without_any_store(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DATA_PROVIDER")
    printed = json.loads(run("openapi").stdout)
    assert run("openapi", "--out", str(tmp_path / "described.json")).exit_code == 0
    refused = run("openapi", "--out", str(tmp_path))
    assert isinstance(refused.exception, InvalidParameterError)
    written = json.loads((tmp_path / "described.json").read_text(encoding="utf-8"))
    assert printed == written == read_description()
    assert (printed["openapi"], printed["info"]["version"]) == ("3.1.0", "2.0.0")
    assert not (tmp_path / "data").exists()
    assert caller.LOCALHOST_URL.startswith("http://127.0.0.1")


def test_the_description_is_valid_openapi() -> None:
    from openapi_spec_validator import OpenAPIV31SpecValidator  # noqa: PLC0415 -- seconds to load

    document = json.loads(json.dumps(read_description()))
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []
    assert len(INTERFACE) == 17
