"""Every example of README and docs: run as it stands where this machine can, else held to the
definitions of the command line, the Makefile and the API.

`docs/analysis.md` has a test of its own, which runs it over a warehouse with the rows it names.
"""

import ast
import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
import structlog
import uvicorn
import yaml
from dagster import JobDefinition, validate_run_config
from typer.core import TyperGroup
from typer.main import get_command as build_command
from typer.testing import CliRunner

from api.cli.main import app as command_line
from api.process import build_app_from_settings
from api.services.job_feed import JobBroadcaster
from api.services.watchlists.files import read_watchlist_file
from api.settings import ApiSettings
from pipelines.orchestration.definitions import build_definitions
from tests.deployment import LOCAL, wait_for
from tests.house.page_examples import (
    PAGES,
    ROOT,
    Example,
    Request,
    blocks,
    commands,
    has_placeholder,
    mentioned,
    read_curl,
    words_of,
)
from tests.stored_results import result
from warehouse.control import ControlStore, jobs, open_control
from warehouse.control import jobs as job_claims
from warehouse.home import open_home
from warehouse.lake.record_rows import pack_document
from warehouse.lake.store import open_lake
from warehouse.records.evidence import ALGORITHM

pytestmark = pytest.mark.full

PRINTED = re.compile(r"(?:`|\[bold\])(sametrack [a-z][^`\[]*)(?:`|\[/)")
LINE: Any = build_command(command_line)
ALL = commands()
SPOKEN_OF = [one for one in mentioned() if not has_placeholder(words_of(one.text)[:1])]
OURS = [one for one in (*ALL, *SPOKEN_OF) if one.kind == "sametrack"]
CURLS = [one for one in ALL if one.kind == "curl"]
WITH_TESTS_OF_THEIR_OWN = {"docs/analysis.md", "docs/api.md", "docs/api.zh.md"}
"""Run by `test_analysis_page` and `test_described_examples`."""
RUN_PAGES = {"README.md", "docs/api-guide.md", "docs/watchlists.md"}
"""Chart, reports and orchestrator have tests of their own that run what their pages tell."""
RUN_HERE = {"user", "videos", "music", "chart", "jobs", "watchlist", "sql", "openapi"}
"""Commands that end by themselves. Others start processes, listen to files or write a setting; the
tests of those parts run them."""


@dataclass
class Guides:
    """A service over the demo world that pages speak of, with somebody who does its scans."""

    base: str
    home: Path


def _work(control: ControlStore, lake: Any, stop: threading.Event) -> None:
    """What a worker does, without listening: every scan ends with an invented result."""
    while not stop.wait(0.05):
        job = job_claims.claim(control, "worker")
        if job is not None:
            row = {
                "job_id": job.job_id,
                "music_id": job.music_id,
                "document": pack_document({**result(12), "music_id": job.music_id}),
                "confirmed_count": 12,
                "algorithm": ALGORITHM,
            }
            lake.append("marts.job_results", [row])
            jobs.finish(control, job.job_id, "completed")


@pytest.fixture(scope="module")
def guides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guides]:
    root = tmp_path_factory.mktemp("guides")
    settings = ApiSettings(_env_file=None, data_home=root, data_provider="mock", rate_limit_per_s=0)
    stop = threading.Event()
    with ExitStack() as stack:
        app = stack.enter_context(build_app_from_settings(settings, feed=JobBroadcaster(limit=5)))
        home = open_home(root, "mock")
        control = stack.enter_context(closing(open_control(home.control_url, world="mock")))
        lake = open_lake(home.lake_url, world="mock")
        server = uvicorn.Server(
            uvicorn.Config(app, port=0, log_level="error", timeout_graceful_shutdown=1)
        )
        threads = [
            threading.Thread(target=server.run),
            threading.Thread(target=_work, args=(control, lake, stop)),
        ]
        for thread in threads:
            thread.start()
        wait_for(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            yield Guides(f"http://127.0.0.1:{port}", root)
        finally:
            server.should_exit = True
            stop.set()
            for thread in threads:
                thread.join()


@pytest.fixture
def run(guides: Guides, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Runs a command beside the service of the guides."""
    logging_before = structlog.get_config()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_HOME", str(guides.home))
    monkeypatch.setenv("DATA_PROVIDER", "mock")
    monkeypatch.setenv("API_PORT", guides.base.rpartition(":")[2])
    yield lambda words: CliRunner().invoke(command_line, words)
    structlog.configure(**logging_before)


def test_pages_have_examples_of_commands_and_requests() -> None:
    assert len(OURS) > 60
    assert len(CURLS) > 30
    assert {one.page for one in OURS} >= {"README.md", "docs/api-guide.md", "docs/watchlists.md"}


def test_every_command_is_one_of_ours_with_options_that_it_has() -> None:
    wrong = {str(one): words for one in OURS if (words := _misused(one))}
    assert wrong == {}


def _misused(example: Example) -> str:
    """What is wrong with a command of a page; nothing, where it can be run as it stands."""
    try:
        unknown = _unknown_options(example)
    except Exception as error:  # noqa: BLE001 - the test names it with its place
        return repr(error)
    return ", ".join(sorted(unknown))


def _unknown_options(example: Example) -> set[str]:
    command: Any = LINE
    words = words_of(example.text)
    context = command.context_class(command, info_name="sametrack")
    while isinstance(command, TyperGroup) and words and not words[0].startswith("-"):
        _, command, words = command.resolve_command(context, words)
        context = command.context_class(command, info_name=command.name, parent=context)
    known = {text for one in command.params for text in (*one.opts, *one.secondary_opts)}
    given = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    if example in ALL:
        command.parse_args(context, words)
    return given - known - {"--help"}


def printed_commands() -> list[Example]:
    """Return the commands that the product names in its messages, values of theirs as `1`."""
    found = []
    for path in (
        path
        for name in ("api", "pipelines", "sandbox", "warehouse")
        for path in (ROOT / name).rglob("*.py")
    ):
        program = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(program)) if "sametrack " in program else ():
            if isinstance(node, ast.JoinedStr):
                text = "".join(
                    str(getattr(part, "value", "1")) if isinstance(part, ast.Constant) else "1"
                    for part in node.values
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
            else:
                continue
            found += [
                Example(
                    str(path.relative_to(ROOT)), node.lineno, "sametrack", " ".join(command.split())
                )
                for command in PRINTED.findall(text)
            ]
    return found


def test_every_command_that_the_product_prints_is_one_of_ours_with_options_that_it_has() -> None:
    printed = printed_commands()
    assert len(printed) > 30
    wrong = {f"{one} {one.text}": words for one in printed if (words := _misused(one))}
    assert wrong == {}


def test_a_command_that_is_not_ours_is_named() -> None:
    assert "--tracs" in _misused(Example("p", 1, "sametrack", "sametrack demo --tracs 3"))
    assert "dmo" in _misused(Example("p", 1, "sametrack", "sametrack dmo"))


@pytest.mark.parametrize(
    "example",
    [
        one
        for one in ALL
        if one.kind == "sametrack" and one.page in RUN_PAGES
        and words_of(one.text)[0] in RUN_HERE and not has_placeholder(words_of(one.text))
        and "link" not in one.text and "--wait" not in one.text
    ],
    ids=str,
)  # fmt: skip
def test_commands_that_end_by_themselves_end_well(example: Example, run: Any) -> None:
    if "watchlist" in example.text:
        run(["watchlist", "add", "songs", "--track", "7348759830572834348"])
        run(["watchlist", "remove", "songs"] if " add " in example.text else ["jobs"])
    done = run(words_of(example.text))
    assert done.exit_code == 0 or _has_no_digest_yet(done), done.output


def _has_no_digest_yet(done: Any) -> bool:
    return "no digest" in done.output


def test_every_target_of_make_is_there() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    asked = {
        (word, str(one))
        for one in ALL
        if one.kind == "make"
        for word in words_of(one.text)
        if "=" not in word
    }
    assert asked
    assert {(word, where) for word, where in asked if word not in targets} == set()


@pytest.mark.parametrize("example", [one for one in ALL if one.kind == "python"], ids=str)
def test_every_module_that_is_run_is_there(example: Example) -> None:
    words = words_of(example.text)
    assert words[0] == "-m"
    assert find_spec(words[1]) is not None


def test_no_command_of_a_page_is_left_out() -> None:
    known = {"sametrack", "curl", "make", "python"}
    assert [f"{one} {one.text}" for one in ALL if one.kind not in known] == []


def test_every_request_is_one_that_the_description_knows(guides: Guides) -> None:
    paths = LOCAL.get(f"{guides.base}/openapi.json").json()["paths"]
    requests = {str(one): read_curl(one.text) for one in CURLS}
    unknown = {where: one.target for where, one in requests.items() if not _is_in(paths, one)}
    assert unknown == {}


def _is_in(paths: Any, request: Request) -> bool:
    described = _operation(paths, request)
    known = {one["name"] for one in described.get("parameters", [])}
    has_body = request.body is not None
    is_known = {name for name, _ in parse_qsl(request.query)} <= known
    return is_known and has_body == ("requestBody" in described)


def _operation(paths: Any, request: Request) -> Any:
    for path, methods in paths.items():
        pattern = re.sub(r"\\{[a-z_]+\\}", "[^/]+", re.escape(path))
        if re.fullmatch(pattern, request.path):
            return methods[request.method.lower()]
    raise AssertionError(f"no operation at {request.path}")


@pytest.mark.parametrize(
    "example", [one for one in CURLS if one.page not in WITH_TESTS_OF_THEIR_OWN], ids=str
)
def test_every_request_of_a_guide_is_answered(example: Example, guides: Guides) -> None:
    request = read_curl(example.text)
    answer = LOCAL.request(request.method, guides.base + request.target, json=request.body)
    assert answer.status_code in {200, 202}, answer.text


@pytest.mark.parametrize(
    "example", [one for one in blocks("python") if one.page not in WITH_TESTS_OF_THEIR_OWN], ids=str
)
def test_every_program_runs(
    example: Example, guides: Guides, capsys: pytest.CaptureFixture[str]
) -> None:
    LOCAL.delete(f"{guides.base}/api/v1/sametrack/watchlists/songs")
    text = example.text.replace("http://127.0.0.1:8780", guides.base)
    asks_the_service = "http" in example.text
    assert (text != example.text) is asks_the_service
    exec(compile(text, str(example), "exec"), {})  # the page's own program
    assert capsys.readouterr().out


FILES = blocks("yaml")
LISTS = [one for one in FILES if one.text.startswith("watchlists:")]


@pytest.mark.parametrize("example", LISTS, ids=str)
def test_every_file_of_watchlists_can_be_applied(example: Example) -> None:
    assert read_watchlist_file(example.text)


@pytest.mark.parametrize("example", [one for one in FILES if one not in LISTS], ids=str)
def test_every_configuration_fits_a_job_of_the_orchestrator(example: Example) -> None:
    config = yaml.safe_load(example.text)
    (name,) = config["ops"]
    jobs = [job for job in build_definitions().jobs or () if isinstance(job, JobDefinition)]
    (job,) = [job for job in jobs if name in {node.name for node in job.nodes}]
    assert validate_run_config(job, config)["ops"].keys() == {name}


LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def test_every_link_between_the_pages_leads_somewhere() -> None:
    places = [ROOT / page for page in PAGES]
    links = [
        (place, link)
        for place in places
        for link in LINK.findall(place.read_text(encoding="utf-8"))
    ]
    assert links
    assert [(str(page), to) for page, to in links if not (page.parent / to).exists()] == []
