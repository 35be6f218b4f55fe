"""The typed client against the running service, in process; both ways of waiting."""

import inspect
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from inspect import Signature
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

import api.client
from api.client import (
    AccessError,
    ApiRequest,
    AsyncClient,
    BadRequestError,
    Client,
    Connection,
    ConnectionFailedError,
    JobCancelledError,
    JobFailedError,
    MissingError,
    TooManyRequestsError,
    UnavailableError,
    UnsupportedError,
    WaitTimeoutError,
    operations,
)
from api.client.operations import OPERATIONS, Operations
from api.generate.files import derived_files, read_description
from api.openapi.reference import INTERFACE, build_reference
from api.settings import ApiSettings
from tests.documents import MUSIC_ID, result

HERE = "http://127.0.0.1"


@pytest.fixture
def caller(service: Any) -> Iterator[Client]:
    with client_of(service.client()) as found:
        yield found


@pytest.fixture
async def awaiting(service: Any) -> AsyncIterator[AsyncClient]:
    transport = httpx2.ASGITransport(service.app(), raise_app_exceptions=False)
    async with AsyncClient(Connection(base_url=HERE), transport=transport) as found:
        yield found


def client_of(test_client: TestClient, **connection: Any) -> Client:
    return Client(Connection(base_url=HERE, **connection), transport=test_client._transport)


def in_turn(
    responses: tuple[httpx2.Response | Exception, ...],
) -> tuple[httpx2.MockTransport, list[str]]:
    """A service that gives these answers in turn, and what it was asked."""
    asked: list[str] = []
    turn = iter(responses)

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(f"{request.method} {request.url.path}")
        found = next(turn)
        if isinstance(found, Exception):
            raise found
        return found

    return httpx2.MockTransport(answer), asked


def answering(*responses: httpx2.Response | Exception) -> tuple[Client, list[str], list[float]]:
    """A client whose service gives these answers in turn; what was asked, and the pauses."""
    transport, asked = in_turn(responses)
    pauses: list[float] = []
    return Client(transport=transport, sleep=pauses.append), asked, pauses


def answering_twin(
    *responses: httpx2.Response | Exception,
) -> tuple[AsyncClient, list[str], list[float]]:
    """The same for the client that is awaited."""
    transport, asked = in_turn(responses)
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    return AsyncClient(transport=transport, sleep=pause), asked, pauses


def refusal(status: int, kind: str, *, retry_after: float | None = None) -> httpx2.Response:
    error = {
        "type": kind,
        "detail": "why",
        "hint": "what to do",
        "retry_after": retry_after,
        "upstream": None,
    }
    envelope = {
        "code": status,
        "request_id": "r-1",
        "message": "m",
        "message_zh": "消息",
        "data": {"error": error},
    }
    return httpx2.Response(status, json=envelope)


def good(data: object) -> httpx2.Response:
    envelope = {"code": 200, "request_id": "r-2", "message": "", "message_zh": ""}
    return httpx2.Response(200, json={**envelope, "params": {}, "time_stamp": 1, "data": data})


def test_a_scan_is_started_watched_and_cancelled(caller: Client) -> None:
    started = caller.create_job(MUSIC_ID, count=5, keywords=["Paper Boats"])
    assert (started.status, started.retry_after) == (202, 1.0)
    assert started.params["search_keywords"] == ["Paper Boats"]
    job_id = started.data["job_id"]
    assert caller.job(job_id).data["status"] == "queued"
    assert [job["job_id"] for job in caller.jobs(limit=5).data["jobs"]] == [job_id]
    assert caller.cancel_job(job_id).data["status"] == "cancelled"
    with pytest.raises(JobCancelledError):
        caller.wait(job_id)


def test_a_stored_result_is_waited_for_no_longer(caller: Client, service: Any) -> None:
    job = service.stored()
    seen: list[str] = []
    found = caller.wait(job.job_id, on_change=lambda job: seen.append(job["status"]))
    assert (found["status"], seen) == ("completed", ["completed"])
    assert found["result"] is not None
    answer = caller.hot_videos(MUSIC_ID, count=3)
    assert (answer.status, len(answer.data["aweme_list"])) == (200, 3)  # type: ignore[typeddict-item]  # 200: the ranking


async def test_the_awaiting_twin_does_the_same(awaiting: AsyncClient, service: Any) -> None:
    job = service.stored()
    assert (await awaiting.wait(job.job_id))["status"] == "completed"
    started = await awaiting.create_search_job("Paper Boats")
    cancelled = await awaiting.cancel_job(started.data["job_id"])
    assert cancelled.data["status"] == "cancelled"
    with pytest.raises(JobCancelledError):
        await awaiting.wait(started.data["job_id"])


def test_a_job_that_failed_is_raised_with_its_reason(caller: Client, service: Any) -> None:
    job_id = caller.create_job(MUSIC_ID).data["job_id"]
    service.control.claim("worker")
    error = {"type": "upstream_forbidden", "detail": "no", "hint": None, "retry_after": None}
    service.control.finish(job_id, "failed", error={**error, "upstream": None})
    with pytest.raises(JobFailedError, match="upstream_forbidden: no"):
        caller.wait(job_id)


def test_polling_goes_on_where_no_stream_is_to_be_had() -> None:
    queued = {"job_id": "j", "status": "queued"}
    client, asked, pauses = answering(
        refusal(503, "capacity_exhausted"), good(queued), good({**queued, "status": "completed"})
    )
    with closing(client):
        assert client.wait("j")["status"] == "completed"
    assert asked[0].endswith("/j/events")
    assert len(asked) == 3
    assert pauses == [1.0]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85"])
async def test_a_caption_with_a_line_separator_does_not_end_the_wait(
    separator: str, caller: Client, awaiting: AsyncClient, service: Any
) -> None:
    document, caption = result(3), f"one{separator}two"
    document["ranked"][0]["desc"] = caption
    job_id = service.stored(document).job_id
    for found in (caller.wait(job_id), await awaiting.wait(job_id)):
        assert found["result"] is not None
        assert caption in [video["desc"] for video in found["result"]["aweme_list"]]


async def test_polling_goes_on_where_an_event_cannot_be_read() -> None:
    def torn() -> httpx2.Response:
        return httpx2.Response(200, content=b'data: {"job_id": "j", "sta\n\n')

    completed = {"job_id": "j", "status": "completed"}
    client, asked, _ = answering(torn(), good(completed))
    with closing(client):
        assert client.wait("j")["status"] == "completed"
    twin, asked_by_twin, _ = answering_twin(torn(), good(completed))
    async with twin:
        assert (await twin.wait("j"))["status"] == "completed"
    assert len(asked) == len(asked_by_twin) == 2


async def test_a_wait_goes_on_while_the_service_restarts() -> None:
    def answers() -> list[httpx2.Response | Exception]:
        lost = httpx2.ConnectError("no", request=httpx2.Request("GET", HERE))
        states = [good({"job_id": "j", "status": status}) for status in ("queued", "completed")]
        return [refusal(503, "capacity_exhausted"), states[0], *[lost] * 9, states[1]]

    client, _, _ = answering(*answers())
    with closing(client):
        assert client.wait("j")["status"] == "completed"
    twin, _, _ = answering_twin(*answers())
    async with twin:
        assert (await twin.wait("j"))["status"] == "completed"


async def test_polls_report_a_job_that_has_changed() -> None:
    states = ("queued", "queued", "running", "running", "completed")

    def answers() -> list[httpx2.Response]:
        polls = [good({"job_id": "j", "status": status}) for status in states]
        return [refusal(503, "capacity_exhausted"), *polls]

    client, _, _ = answering(*answers())
    with closing(client):
        assert [job["status"] for job in client.watch("j")] == ["queued", "running", "completed"]
    twin, _, _ = answering_twin(*answers())
    async with twin:
        assert [job["status"] async for job in twin.watch("j")] == [
            "queued", "running", "completed",
        ]  # fmt: skip


def test_a_stream_that_may_be_silent_beyond_the_end_of_a_wait_is_left() -> None:
    def lines() -> Iterator[bytes]:
        yield b": a sign of life\n\n"
        pytest.fail("the next one comes in ten seconds")

    client, asked, _ = answering(
        httpx2.Response(200, content=lines()), good({"job_id": "j", "status": "completed"})
    )
    with closing(client):
        assert client.wait("j", timeout_s=5)["status"] == "completed"
    assert len(asked) == 2


@pytest.mark.parametrize("polls_before", [0, 1])
def test_a_wait_ends_where_the_service_is_not_there_or_stays_away(polls_before: int) -> None:
    lost = httpx2.ConnectError("no", request=httpx2.Request("GET", HERE))
    seen = [good({"job_id": "j", "status": "queued"})] * polls_before
    client, _, pauses = answering(lost, *seen, *[lost] * 1_000)
    with closing(client), pytest.raises(ConnectionFailedError):
        client.wait("j")
    assert (sum(pauses) > 60) == bool(polls_before)


def test_a_wait_has_an_end_when_one_is_given() -> None:
    client, _, _ = answering(refusal(503, "capacity_exhausted"), good({"status": "queued"}))
    with (
        closing(client),
        pytest.raises(WaitTimeoutError, match="did not end within") as met,
    ):
        client.wait("j", timeout_s=0.5)
    assert met.value.job is not None
    assert met.value.job["status"] == "queued"


def test_what_the_service_refuses_is_an_error_with_name_advice_and_request_id(
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
def test_what_is_no_service_of_ours_is_said(body: bytes) -> None:
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


async def test_the_awaiting_twin_polls_where_no_stream_is_to_be_had() -> None:
    queued = {"job_id": "j", "status": "queued"}
    lost = httpx2.ReadError("lost", request=httpx2.Request("GET", HERE))
    client, asked, pauses = answering_twin(
        lost, good(queued), good({**queued, "status": "completed"})
    )
    async with client:
        assert (await client.wait("j"))["status"] == "completed"
    assert asked[0].endswith("/j/events")
    assert (len(asked), pauses) == (3, [1.0])


async def test_the_awaiting_twin_gives_up_waiting_when_it_was_told_to() -> None:
    queued = good({"job_id": "j", "status": "queued"})
    client, _, _ = answering_twin(refusal(503, "capacity_exhausted"), queued)
    async with client:
        with pytest.raises(WaitTimeoutError, match="did not end within"):
            await client.wait("j", timeout_s=0.5)


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
        ask = one.request(**dict.fromkeys(argument_names(one.signature), "x"))
        body = ask.body if isinstance(ask.body, dict) else {}
        assert {*ask.params, *body} <= described[one.method, one.path], one.path


def argument_names(signature: Signature) -> list[str]:
    """The names of all arguments, with the fields of the options."""
    names: list[str] = []
    for one in signature.parameters.values():
        if one.kind is one.VAR_KEYWORD:
            options = str(one.annotation).removeprefix("Unpack[").removesuffix("]")
            names += getattr(operations, options).__annotations__
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


def test_types_twins_and_tables_are_as_the_description_says() -> None:
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
