"""The typed client against the service: its requests, its errors, and that nothing is missing.

How it waits for a job is in `test_client_waits.py`.
"""

import inspect
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest

import api.client
from api.client import (
    AccessError,
    ApiRequest,
    BadRequestError,
    Client,
    Connection,
    ConnectionFailedError,
    MissingError,
    PlatformError,
    TooManyRequestsError,
    UnavailableError,
    UnsupportedError,
    answers,
)
from api.client.operations import OPERATIONS, Operations
from api.generate import client as client_generation
from api.generate.files import derived_files, read_description
from api.openapi.reference import INTERFACE, build_reference
from api.settings import ApiSettings
from tests.contract.conftest import HERE, answering, answering_twin, client_of, good, refusal
from tests.fake_clock import FakeClock
from tests.stored_results import MUSIC_ID


def test_client_error_has_type_hint_and_request_id(
    caller: Client,
) -> None:
    with pytest.raises(MissingError) as met:
        caller.job("none")
    error = met.value
    assert (error.status, error.type) == (404, "job_not_found")
    assert error.hint
    assert error.message_zh == "任务不存在"
    assert len(error.request_id) == 36
    with pytest.raises(BadRequestError, match="invalid_parameter"):
        caller.create_job(MUSIC_ID, count=501)
    with pytest.raises(UnsupportedError, match="platform_verification_required"):
        caller.music_search("Paper Boats")
    with pytest.raises(UnsupportedError, match="platform_verification_required"):
        caller.video_search("Paper Boats")


def test_the_token_travels_in_a_header_and_is_never_shown(service: Any) -> None:
    word = "a-word-nobody-knows"
    stranger = client_of(service.client(own_api_token=word))
    with closing(stranger), pytest.raises(AccessError, match="unauthorized"):
        stranger.jobs()
    with client_of(service.client(own_api_token=word), token=word) as known:
        assert known.jobs().status == 200
        assert word not in repr(known.connection)


def test_certificates_are_loaded_for_an_encrypted_address_alone() -> None:
    """Loading them takes longer than a request; a command that starts pays it each time."""
    assert not Connection(base_url="http://127.0.0.1:8780").is_encrypted
    assert Connection(base_url="https://scans.example").is_encrypted


@pytest.mark.parametrize("again", [429, 502, 503])
def test_a_read_goes_again_after_the_pause_that_the_service_asks_for(again: int) -> None:
    client, asked, pauses = answering(refusal(again, "local_rate_limit", retry_after=2), good({}))
    with closing(client):
        assert client.jobs().status == 200
    assert (len(asked), pauses) == (2, [2])


def timed(
    *steps: tuple[float, httpx2.Response | Exception],
) -> tuple[Client, list[str]]:
    """A client whose service takes so many seconds for each answer; what it said of its time."""
    clock, turn, waits = FakeClock(), iter(steps), list[str]()

    def answer(request: httpx2.Request) -> httpx2.Response:
        waits.append(request.headers["prefer"])
        seconds, found = next(turn)
        clock.advance(seconds)
        if isinstance(found, Exception):
            raise found
        return found

    transport = httpx2.MockTransport(answer)
    return Client(transport=transport, sleep=clock.advance, clock=clock.monotonic), waits


def test_a_request_with_its_retries_has_thirty_seconds() -> None:
    late = refusal(502, "upstream_unreachable", retry_after=5)
    client, waits = timed((30.0, late), (30.0, late))
    with closing(client), pytest.raises(PlatformError):
        client.user_profile("MS4w")
    assert waits == ["wait=30"]


def test_a_retry_tells_the_service_how_much_time_is_left() -> None:
    early = refusal(502, "upstream_unreachable", retry_after=5)
    client, waits = timed((3.0, early), (10.0, early), (0.0, good({})))
    with closing(client):
        assert client.user_profile("MS4w").status == 200
    assert waits == ["wait=30", "wait=22", "wait=7"]


def test_no_retry_begins_that_could_only_end_too_late() -> None:
    early = refusal(502, "upstream_unreachable", retry_after=20)
    client, waits = timed((12.0, early))
    with closing(client), pytest.raises(PlatformError):
        client.user_profile("MS4w")
    assert len(waits) == 1


def test_a_service_that_hangs_is_named_with_what_was_measured() -> None:
    silent = httpx2.ReadTimeout("", request=httpx2.Request("GET", HERE))
    client, waits = timed((35.0, silent))
    with closing(client), pytest.raises(ConnectionFailedError) as met:
        client.user_profile("MS4w")
    assert "did not answer (ReadTimeout, 1 attempt in 35.0 s)" in str(met.value)
    assert len(waits) == 1


def test_a_write_never_goes_twice_unless_it_was_surely_not_carried_out() -> None:
    writes: tuple[Callable[[Client], object], ...] = (
        lambda client: client.create_job(MUSIC_ID),
        lambda client: client.cancel_job("j"),
        lambda client: client.change_watchlist("tracks", every="1d"),
    )
    request = httpx2.Request("POST", HERE)
    for broken in (
        httpx2.ReadTimeout("lost", request=request),
        refusal(503, "capacity_exhausted", retry_after=1),
    ):
        for write in writes:
            client, asked, _ = answering(broken, good({}))
            with closing(client), pytest.raises((ConnectionFailedError, UnavailableError)):
                write(client)
            assert len(asked) == 1
    for refused in (
        httpx2.ConnectError("no", request=request),
        refusal(429, "local_rate_limit", retry_after=1),
    ):
        client, asked, _ = answering(refused, good({}))
        with closing(client):
            client.create_job(MUSIC_ID)
        assert len(asked) == 2


def test_a_long_pause_and_a_third_failure_are_the_callers_business() -> None:
    client, asked, _ = answering(refusal(429, "local_rate_limit", retry_after=3600))
    with closing(client), pytest.raises(TooManyRequestsError) as met:
        client.jobs()
    assert (len(asked), met.value.retry_after) == (1, 3600)
    lost = [httpx2.ConnectError("no", request=httpx2.Request("GET", HERE)) for _ in range(3)]
    client, asked, pauses = answering(*lost)
    with closing(client), pytest.raises(ConnectionFailedError, match="ConnectError"):
        client.jobs()
    assert (len(asked), pauses) == (3, [0.2, 0.4])


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"code": 200}'])
def test_client_reports_a_server_that_is_not_sametrack(body: bytes) -> None:
    client, _, _ = answering(httpx2.Response(200, content=body))
    with closing(client), pytest.raises(ConnectionFailedError, match="not a Sametrack service"):
        client.jobs()


def page(numbers: range, cursor: int, *, has_more: bool) -> httpx2.Response:
    works = [{"aweme_id": str(number)} for number in numbers]
    return good({"aweme_list": works, "cursor": cursor, "has_more": has_more})


def test_all_pages_of_a_list_are_walked_and_a_standing_cursor_ends_the_walk() -> None:
    client, asked, _ = answering(
        page(range(3), 3, has_more=True), page(range(3, 5), 5, has_more=False)
    )
    with closing(client):
        found = [work["aweme_id"] for work in client.each_music_video(MUSIC_ID, count=3)]
    assert (found, len(asked)) == (["0", "1", "2", "3", "4"], 2)
    client, asked, _ = answering(page(range(2), 2, has_more=True), page(range(2), 2, has_more=True))
    with closing(client):
        assert len(list(client.each_hashtag_video("12345"))) == 4
    assert len(asked) == 2


async def test_the_awaiting_twin_repeats_a_read_and_no_more_often_than_the_other() -> None:
    client, asked, pauses = answering_twin(
        refusal(429, "local_rate_limit", retry_after=2), good({})
    )
    async with client:
        assert (await client.jobs()).status == 200
    assert (len(asked), pauses) == (2, [2])
    lost = [httpx2.ConnectError("no", request=httpx2.Request("GET", HERE)) for _ in range(3)]
    client, asked, pauses = answering_twin(*lost)
    async with client:
        with pytest.raises(ConnectionFailedError, match="ConnectError"):
            await client.jobs()
    assert (len(asked), pauses) == (3, [0.2, 0.4])
    client, asked, _ = answering_twin(refusal(404, "job_not_found"))
    async with client:
        with pytest.raises(MissingError):
            await client.job("none")
    assert len(asked) == 1


async def test_the_awaiting_twin_walks_all_pages() -> None:
    pages = (page(range(2), 2, has_more=True), page(range(2, 3), 3, has_more=False))
    async with answering_twin(*pages, *pages, *pages)[0] as client:
        for videos in (
            client.each_user_post("u"),
            client.each_music_video(MUSIC_ID),
            client.each_hashtag_video("12345"),
        ):
            assert [video["aweme_id"] async for video in videos] == ["0", "1", "2"]


@pytest.mark.parametrize("asked", [Operations.hot_videos, Operations.related_videos])
def test_a_request_for_which_the_service_waits_for_a_job_may_take_longer_than_that(
    asked: Any,
) -> None:
    waited_s = ApiSettings.model_fields["sync_job_timeout"].default
    assert asked.request(MUSIC_ID).timeout_s > waited_s


def test_each_operation_of_the_interface_has_a_method() -> None:
    """Each method is called; the path and method that come out are those of the description."""
    called: set[tuple[str, str]] = set()

    def answer(request: httpx2.Request) -> httpx2.Response:
        called.add((request.method, request.url.path))
        return good({})

    with Client(transport=httpx2.MockTransport(answer)) as client:
        client.sec_user_id("u")
        client.user_profile("u")
        client.user_posts("u")
        client.user_metrics("u")
        client.hot_videos(MUSIC_ID)
        client.hot_videos_batch([MUSIC_ID])
        client.create_job(MUSIC_ID)
        client.job("{job_id}")
        client.cancel_job("{job_id}")
        client.related_videos(MUSIC_ID, author_limit=2)
        client.videos(["12345"])
        client.videos_v1(["12345"])
        client.music_videos(MUSIC_ID, refresh=True)
        client.hashtag_videos("12345")
        client.music_search("x")
        client.video_search("x")
        client.chart_history("2026-01-01", "2026-01-31")
    assert called == {(one.method, one.path) for one in INTERFACE}


def test_every_parameter_that_is_sent_is_one_of_the_operation() -> None:
    """By every declared argument, so that a misspelt name cannot hide behind a default."""
    described = {
        (one["method"], one["path"]): {parameter["name"] for parameter in one["parameters"]}
        for one in build_reference(read_description())["operations"]
    }
    for one in OPERATIONS:
        ask = one.request(**dict.fromkeys(argument_names(one.declared), "x"))
        body = ask.body if isinstance(ask.body, dict) else {}
        assert {*ask.params, *body} <= described[one.method, one.path], one.path


def argument_names(method: Callable[..., object]) -> list[str]:
    """The names of all arguments but `self`, with the fields of the options."""
    names: list[str] = []
    for one in list(inspect.signature(method).parameters.values())[1:]:
        if one.kind is one.VAR_KEYWORD:
            options = str(one.annotation).removeprefix("Unpack[answers.").removesuffix("]")
            names += getattr(answers, options).__annotations__
        else:
            names.append(one.name)
    return names


@pytest.mark.parametrize(
    ("ask", "sent"),
    [
        (Operations.hot_videos.request("1", keywords=["a", "b"], refresh=True),
         {"music_id": "1", "search_keywords": "a,b", "refresh": "true"}),
        (Operations.create_job.request("1", keywords=["a"]),
         {"input": "1", "search_keywords": ["a"]}),
        (Operations.create_search_job.request("a", keywords=[], count=3),
         {"keyword": "a", "search_only": True, "count": 3}),
        (Operations.videos.request(["1", "2"]), ["1", "2"]),
        (Operations.series.request("track", "1/2"), {}),
        (Operations.change_watchlist.request("songs", entries=[]), {"entries": []}),
    ],
)  # fmt: skip
def test_an_argument_goes_to_the_path_the_query_or_the_body(
    ask: ApiRequest[object], sent: object
) -> None:
    assert (ask.params if ask.body is None else ask.body) == sent
    assert "{" not in ask.path
    assert ask.path.count("/") == ask.path.replace("%2F", "").count("/")


def test_a_method_is_documented_and_declares_its_arguments() -> None:
    with Client() as client:
        assert inspect.signature(client.user_metrics).parameters.keys() == {
            "sec_user_id", "days", "count",
        }  # fmt: skip
        assert (client.jobs.__doc__ or "").startswith("Return the newest jobs")
    with pytest.raises(TypeError, match="sec_user_id"):
        Client().user_profile()  # type: ignore[call-arg]  # the point


def test_the_made_parts_of_the_client_are_those_of_today(tmp_path: Path) -> None:
    client_generation.main(tmp_path)
    made = [path.relative_to(tmp_path) for path in tmp_path.rglob("*.py")]
    assert sorted(map(str, made)) == ["answers.py", "blocking/__init__.py", "blocking/client.py"]
    for name in made:
        stale = (client_generation.CLIENT / name).read_text("utf-8")
        assert stale == (tmp_path / name).read_text("utf-8"), "run `python -m api.generate.client`"


def test_pages_and_pictures_are_as_the_description_says() -> None:
    """`make docs` writes them."""
    stale = [
        path.name
        for path, text in derived_files().items()
        if path.read_text(encoding="utf-8") != text
    ]
    assert stale == []


def test_the_folder_works_when_it_is_copied_out(tmp_path: Path) -> None:
    source = Path(api.client.__file__).parent
    shutil.copytree(source, tmp_path / "elsewhere", ignore=shutil.ignore_patterns("__pycache__"))
    program = (
        "import sys; import elsewhere; elsewhere.Client().close();"
        "print([name for name in sys.modules if name.split('.')[0] in"
        " {'api', 'pipelines', 'warehouse', 'fastapi', 'pydantic', 'starlette'}])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
    assert (source / "py.typed").exists()
