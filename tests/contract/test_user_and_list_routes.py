"""Endpoints 1 to 4, 12 and 13 over HTTP: statuses, the shape of each answer, what is refused."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, override

import pytest
from pydantic import SecretStr
from starlette.testclient import TestClient

from api.responses.documents import Envelope, ErrorData
from api.schemas.lists import CreatorMetrics, CursorList, PostList, ResolvedUser, UserProfile
from api.services.reads.lists import hashtag_list_source, music_list_source
from api.services.reads.sources import Sources
from pipelines.platform.providers.provider import Provider
from sandbox.mock.provider import open_world
from tests.scripted_reads import ReadService, ScriptedSources, open_reads
from warehouse.records.errors import (
    EmptyAnswerError,
    ForbiddenError,
    InvalidMusicInputError,
    InvalidParameterError,
    LoginRequiredError,
    ProviderUnsupportedError,
    RateLimitedError,
    RefusedLatelyError,
    RegionBlockedError,
    StructureChangedError,
    SubstitutionError,
    UnreachableError,
    UpstreamError,
    VerificationDemandedError,
)
from warehouse.records.videos import Video

VIDPLAT = "/api/v1/vidplat"
RESOLVE = f"{VIDPLAT}/web/get_sec_user_id"
APP = f"{VIDPLAT}/app/v3"
PROFILE, POSTS, METRICS = (
    f"{APP}/{name}"
    for name in ("handler_user_profile", "fetch_user_post_videos", "fetch_user_metrics")
)
MUSIC, HASHTAG = f"{APP}/fetch_music_video_list", f"{APP}/fetch_hashtag_video_list"
WORLD = open_world(11, 0.1)
SEC, OTHER = WORLD.sec_uid(3), WORLD.sec_uid(4)
TRACK = WORLD.tracks[0].music_id
UNKNOWN = "MS4wLjABAAAAnobody"

GOOD: dict[str, tuple[dict[str, str], Any]] = {
    RESOLVE: ({"url": SEC}, ResolvedUser),
    PROFILE: ({"sec_user_id": SEC}, UserProfile),
    POSTS: ({"sec_user_id": SEC}, PostList),
    METRICS: ({"sec_user_id": SEC}, CreatorMetrics),
    MUSIC: ({"music_id": TRACK}, CursorList),
}
DEFAULTS: dict[str, dict[str, Any]] = {
    RESOLVE: {},
    PROFILE: {},
    POSTS: {"max_cursor": 0, "count": 20, "sort_type": 0},
    METRICS: {"days": 10, "count": 20},
    MUSIC: {"cursor": 0, "count": 10, "refresh": False},
}


@pytest.fixture(scope="module")
def open_client(stored_reads: ReadService) -> TestClient:
    return stored_reads.client()


@pytest.fixture
def client(open_client: TestClient, reads: ReadService) -> TestClient:
    return open_client


@pytest.fixture(scope="module")
def ch_id(stored_reads: ReadService) -> str:
    """A hashtag of the invented world, as a work of it names it."""

    async def find() -> str:
        async with stored_reads.sources.open("users") as captures:
            for row in range(len(WORLD.works)):
                found: Any = await captures.video(WORLD.works.row(row).aweme_id)
                if isinstance(found, Video) and found.hashtags:
                    return str(found.hashtags[0].ch_id)
        raise AssertionError("no work has a hashtag")

    return asyncio.run(find())


def error_of(answer: Any) -> Any:
    return Envelope[ErrorData].model_validate(answer.json()).data["error"]


@pytest.mark.parametrize("path", GOOD)
def test_an_answer_has_exactly_its_fields_and_tells_what_was_understood(
    client: TestClient, path: str
) -> None:
    given, shape = GOOD[path]
    answer = client.get(path, params=given)
    envelope: Any = Envelope
    found = envelope[shape].model_validate(answer.json())
    assert answer.status_code == 200
    assert found.params == given | DEFAULTS[path]
    assert (found.data["data_provider"], found.data["is_demo_data"]) == ("mock", True)


def test_a_hashtag_is_listed_in_three_orders(client: TestClient, ch_id: str) -> None:
    shown = []
    for sort_type in (0, 1, 2):
        answer = client.get(HASHTAG, params={"ch_id": ch_id, "sort_type": sort_type, "count": 15})
        found = Envelope[CursorList].model_validate(answer.json())
        assert found.params["sort_type"] == sort_type
        shown.append({video["aweme_id"] for video in found.data["aweme_list"]})
    assert shown[0]
    assert shown[0] == shown[1] == shown[2]


@pytest.mark.parametrize("path", [RESOLVE, PROFILE, POSTS, MUSIC])
def test_matching_etag_of_a_list_gets_304(client: TestClient, path: str) -> None:
    given = GOOD[path][0]
    tag = client.get(path, params=given).headers["etag"]
    again = client.get(path, params=given, headers={"If-None-Match": tag})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)


@pytest.mark.parametrize("path", [*GOOD, HASHTAG])
def test_missing_parameter_is_400(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, error_of(answer)["type"]) == (400, "missing_parameter")


@pytest.mark.parametrize(
    ("path", "given"),
    [
        (RESOLVE, {"url": ""}), (RESOLVE, {"url": "x" * 3000}),
        (PROFILE, {"sec_user_id": "a b"}), (PROFILE, {"sec_user_id": "x" * 300}),
        (POSTS, {"sec_user_id": SEC, "count": "0"}), (POSTS, {"sec_user_id": SEC, "count": "21"}),
        (POSTS, {"sec_user_id": SEC, "count": "+3"}),
        (POSTS, {"sec_user_id": SEC, "max_cursor": "-1"}),
        (POSTS, {"sec_user_id": SEC, "sort_type": "2"}),
        (METRICS, {"sec_user_id": SEC, "days": "0"}),
        (METRICS, {"sec_user_id": SEC, "days": "366"}),
        (METRICS, {"sec_user_id": SEC, "count": "21"}),
        (MUSIC, {"music_id": "1234"}), (MUSIC, {"music_id": "1" * 31}),
        (MUSIC, {"music_id": "12345a"}), (MUSIC, {"music_id": TRACK, "count": "21"}),
        (MUSIC, {"music_id": TRACK, "cursor": "1.5"}),
        (MUSIC, {"music_id": TRACK, "refresh": "yes"}),
        (MUSIC, {"music_id": TRACK, "cursor": str(999 << 20)}),
        (POSTS, {"sec_user_id": SEC, "max_cursor": str(999 << 20)}),
        (HASHTAG, {"ch_id": "\uff11\uff12\uff13\uff14\uff15"}),
        (HASHTAG, {"ch_id": "12345", "count": "16"}),
        (HASHTAG, {"ch_id": "12345", "sort_type": "3"}),
        (HASHTAG, {"ch_id": "99999"}),
    ],
)  # fmt: skip
def test_invalid_parameter_is_400_with_a_hint(
    client: TestClient, path: str, given: dict[str, str]
) -> None:
    answer = client.get(path, params=given)
    found = error_of(answer)
    assert (answer.status_code, found["type"]) == (400, "invalid_parameter")
    assert found["hint"]


@pytest.mark.parametrize("path", [*GOOD, HASHTAG])
def test_a_misspelt_parameter_is_named(client: TestClient, path: str) -> None:
    answer = client.get(path, params={"cuont": "3"})
    assert (answer.status_code, error_of(answer)["type"]) == (400, "unknown_parameter")


def test_a_music_id_that_is_none_is_400_and_not_asked_for_again(
    client: TestClient, reads: ReadService
) -> None:
    for _ in range(2):
        answer = client.get(MUSIC, params={"music_id": "7777777"})
        assert (answer.status_code, error_of(answer)["type"]) == (400, "invalid_music_input")
    assert [entry[0] for entry in reads.script.asked] == ["fetch_music_page", "fetch_track"]


@pytest.mark.parametrize(
    ("path", "name", "listing", "error"),
    [
        (MUSIC, "music_id", music_list_source, InvalidMusicInputError),
        (HASHTAG, "ch_id", hashtag_list_source, InvalidParameterError),
    ],
    ids=["music", "hashtag"],
)
async def test_unknown_id_is_refused_until_its_negative_ttl_expires(
    client: TestClient,
    reads: ReadService,
    path: str,
    name: str,
    listing: Any,
    error: type[Exception],
) -> None:
    entity_id = "8888888"
    await listing(reads.sources, entity_id, now=datetime.now(UTC)).raise_if_unknown()
    assert reads.script.asked == [], "nothing is known of it, and nobody is asked"
    assert client.get(path, params={name: entity_id}).status_code == 400
    reads.engine.refresh()
    now = datetime.now(UTC)
    with pytest.raises(error, match=f"{entity_id} was not found on the platform"):
        await listing(reads.sources, entity_id, now=now).raise_if_unknown()
    later = now + timedelta(seconds=reads.sources.settings.negative_ttl + 60)
    await listing(reads.sources, entity_id, now=later).raise_if_unknown()


@pytest.mark.parametrize("path", [PROFILE, POSTS, METRICS])
def test_an_account_that_is_none_is_400_and_not_asked_for_again(
    client: TestClient, reads: ReadService, path: str
) -> None:
    nobody = f"{UNKNOWN}-{path[-5:]}"
    for _ in range(2):
        answer = client.get(path, params={"sec_user_id": nobody})
        assert (answer.status_code, error_of(answer)["type"]) == (400, "unresolvable_sec_user_id")
    assert [entry[0] for entry in reads.script.asked].count("fetch_account") == 1


@pytest.mark.parametrize("text", ["nothing at all", "https://example.com/x", "12345678"])
def test_text_that_leads_to_nobody_is_400(client: TestClient, text: str) -> None:
    answer = client.get(RESOLVE, params={"url": text})
    assert (answer.status_code, error_of(answer)["type"]) == (400, "unresolvable_sec_user_id")


REFUSALS: list[tuple[type[UpstreamError], str]] = [
    (EmptyAnswerError, "upstream_empty"),
    (VerificationDemandedError, "upstream_verification"),
    (LoginRequiredError, "upstream_login_required"),
    (ForbiddenError, "upstream_forbidden"),
    (RateLimitedError, "upstream_rate_limited"),
    (RegionBlockedError, "upstream_region_blocked"),
    (SubstitutionError, "upstream_substitution"),
    (StructureChangedError, "upstream_structure_changed"),
    (UnreachableError, "upstream_unreachable"),
    (RefusedLatelyError, "upstream_refused_lately"),
]
ASKED = {
    PROFILE: ("fetch_account", {"sec_user_id": OTHER}, "user_info"),
    POSTS: ("fetch_author_page", {"sec_user_id": OTHER}, "user_posts"),
    METRICS: ("fetch_account", {"sec_user_id": OTHER}, "user_info"),
    MUSIC: ("fetch_music_page", {"music_id": TRACK, "refresh": "true"}, "music_list"),
    HASHTAG: ("fetch_hashtag_page", {"ch_id": "55555"}, "hashtag_list"),
}


@pytest.mark.parametrize("path", ASKED)
@pytest.mark.parametrize(("error", "word"), REFUSALS)
def test_upstream_refusal_is_502_with_its_type(
    client: TestClient, reads: ReadService, path: str, error: type[UpstreamError], word: str
) -> None:
    question, given, surface = ASKED[path]
    reads.script.errors[question] = error("no", surface=surface, reason="said so", status=200)
    answer = client.get(path, params=given)
    found = error_of(answer)
    assert (answer.status_code, found["type"]) == (502, word)
    assert found["upstream"] == {"surface": surface, "reason": "said so", "status": 200}
    assert answer.json()["message_zh"]


@pytest.mark.parametrize("path", ASKED)
def test_a_source_that_cannot_answer_is_501(
    client: TestClient, reads: ReadService, path: str
) -> None:
    question, given, _ = ASKED[path]
    reads.script.errors[question] = ProviderUnsupportedError("not from here")
    answer = client.get(path, params=given)
    assert (answer.status_code, error_of(answer)["type"]) == (501, "provider_unsupported")


@pytest.mark.parametrize("path", ASKED)
def test_list_past_the_deadline_is_502_with_retry_after(reads: ReadService, path: str) -> None:
    question, given, _ = ASKED[path]
    reads.script.stalled.add(question)
    settings = reads.sources.settings
    reads.sources.settings = settings.model_copy(update={"sync_request_timeout": 0.2})
    try:
        answer = reads.client().get(path, params=given)
    finally:
        reads.sources.settings = settings
    assert (answer.status_code, error_of(answer)["upstream"]["reason"]) == (502, "deadline")
    assert int(answer.headers["retry-after"]) > 0


def test_a_client_that_has_less_time_is_answered_by_then(reads: ReadService) -> None:
    """The service has 30 s by default; `Prefer: wait` says what is left of the client's."""
    question, given, _ = ASKED[PROFILE]
    reads.script.stalled.add(question)
    answer = reads.client().get(PROFILE, params=given, headers={"Prefer": "wait=0"})
    assert (answer.status_code, error_of(answer)["upstream"]["reason"]) == (502, "deadline")


@pytest.mark.parametrize("path", [*GOOD, HASHTAG])
def test_a_token_is_asked_for_where_one_is_set(reads: ReadService, path: str) -> None:
    client = reads.client(own_api_token=SecretStr("secret"))
    assert client.get(path).status_code == 401


def test_posts_come_each_once_by_the_platforms_cursor(client: TestClient) -> None:
    seen: list[str] = []
    given: dict[str, Any] = {"sec_user_id": SEC, "count": 5, "max_cursor": 0}
    while True:
        data = client.get(POSTS, params=given).json()["data"]
        seen += [video["aweme_id"] for video in data["aweme_list"]]
        assert {video["author"]["sec_uid"] for video in data["aweme_list"]} == {SEC}
        if not data["has_more"]:
            break
        given["max_cursor"] = data["max_cursor"]
    assert data["pagination_mode"] == "platform_cursor"
    assert len(seen) == len(set(seen)) == data["public_observed_union_count"]


def test_the_newest_and_the_hottest_come_first(client: TestClient) -> None:
    answer = client.get(POSTS, params={"sec_user_id": SEC, "sort_type": 1}).json()["data"]
    likes = [video["statistics"]["digg_count"] for video in answer["aweme_list"]]
    known = [count for count in likes if count is not None]
    assert known == sorted(known, reverse=True)
    assert likes[: len(known)] == known


class RefusingProvider:
    """A source that answers every question with a refusal."""

    def __init__(self, inner: Provider) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def ask(self, question: Any, _request: Any) -> Any:
        raise EmptyAnswerError("no", surface=question.name)


class RefusedSources(ScriptedSources):
    """The public source refuses before demo data stands in."""

    @override
    def _build(self, build: Callable[..., Any], **options: Any) -> Any:
        built: Any = Sources._build(self, build, **options)
        built._real = RefusingProvider(built._real)
        return built


@pytest.fixture
def refusing(tmp_path: Path) -> Iterator[ReadService]:
    """A public source that refuses everything, with demo data to stand in."""
    settings = {
        "data_provider": "vidplat-public", "profile": "sandbox", "public_fallback_to_mock": True,
    }  # fmt: skip
    with open_reads(tmp_path, **settings) as read_service:
        read_service.sources.__class__ = RefusedSources
        yield read_service


@pytest.mark.parametrize(
    ("path", "given"),
    [
        (PROFILE, {"sec_user_id": SEC}),
        (POSTS, {"sec_user_id": SEC, "count": "4"}),
        (METRICS, {"sec_user_id": SEC}),
        (MUSIC, {"music_id": "7300000000000000001", "count": "4"}),
        (HASHTAG, {"ch_id": "7300000000000000001", "count": "4"}),
    ],
)
def test_demo_data_that_stands_in_says_so_and_is_kept_nowhere(
    refusing: ReadService, path: str, given: dict[str, str]
) -> None:
    answer = refusing.client().get(path, params=given)
    data = answer.json()["data"]
    assert (answer.status_code, data["data_provider"], data["is_demo_data"]) == (200, "mock", True)
    for table in ("accounts", "videos", "capture_items"):
        assert refusing.rows(f"select * from raw.{table}") == []


def test_a_walk_over_demo_data_comes_to_its_end(refusing: ReadService) -> None:
    client, seen, cursor = refusing.client(), list[str](), 0
    while True:
        given: dict[str, Any] = {
            "music_id": "7300000000000000001",
            "count": 3,
            "cursor": cursor,
        }
        data = client.get(MUSIC, params=given).json()["data"]
        seen += [video["aweme_id"] for video in data["aweme_list"]]
        if not data["has_more"]:
            break
        cursor = data["cursor"]
    assert len(seen) == len(set(seen)) == data["public_observed_union_count"] > 0
