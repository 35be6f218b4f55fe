"""Users and works from two files: what they answer, and complaints with line and field."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.platform.providers import build_provider, choose_profile
from pipelines.platform.providers.file.records import find_line
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.settings import Settings
from warehouse.home import is_demo_world
from warehouse.records.errors import (
    AudioUnavailableError,
    InvalidMusicInputError,
    InvalidParameterError,
    ProviderUnsupportedError,
    UnresolvedIdError,
)
from warehouse.records.search import SearchPosition
from warehouse.records.videos import Unavailability, Video

GUIDE = (Path(__file__).parents[3] / "docs" / "files.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```json\n(.*?)```", GUIDE, re.DOTALL)


BOOK: Any = object()  # nothing is asked of it


@pytest.fixture
def source(tmp_path: Path) -> Any:
    """A source over two texts; None leaves the setting empty."""

    def make(users: str | None = EXAMPLES[0], videos: str | None = EXAMPLES[1]) -> Any:
        paths = {}
        for name, text in (("users_file", users), ("videos_file", videos)):
            if text is not None:
                paths[name] = tmp_path / f"{name}.json"
                paths[name].write_text(text, encoding="utf-8")
        settings = Settings(_env_file=None, data_provider="file", data_home=tmp_path, **paths)  # type: ignore[arg-type]  # paths
        return build_provider(
            settings.data_provider,
            ProviderDependencies(settings=settings, profile=choose_profile(settings), control=BOOK),
        )

    return make


async def test_the_examples_of_the_guide_answer_what_files_can(source: Any) -> None:
    users, videos = map(json.loads, EXAMPLES)
    provider = source()
    sec_uid, aweme_id = users[0]["sec_uid"], videos[0]["aweme_id"]
    account = (await provider.fetch_account(sec_uid)).value
    posts = (await provider.fetch_author_page(sec_uid, 0)).value
    detail = (await provider.fetch_video(aweme_id)).value
    music_id, ch_id = videos[0]["music"]["id_str"], videos[0]["hashtags"][0]["ch_id"]
    assert account.follower_count == users[0]["follower_count"]
    assert aweme_id in [video.aweme_id for video in posts.videos]
    assert isinstance(detail, Video)
    assert detail.statistics_complete
    assert (await provider.fetch_track(music_id)).value.title == videos[0]["music"]["title"]
    assert (await provider.fetch_music_page(music_id, 0)).value.videos
    assert (await provider.fetch_hashtag(ch_id)).value.name
    assert (await provider.fetch_hashtag_page(ch_id, 0)).value.videos
    assert not is_demo_world("file")


async def test_a_count_that_is_not_in_the_file_is_unknown(source: Any) -> None:
    work = {"aweme_id": "12345", "author": {"sec_uid": "a"}, "statistics": {"digg_count": 0}}
    provider = source(None, json.dumps([work]))
    video = (await provider.fetch_video("12345")).value
    assert tuple(video.statistics.counts().values()) == (0, None, None, None)
    assert not video.statistics_complete


async def test_a_record_of_id_and_author_alone_says_nothing_else(source: Any) -> None:
    work = {"aweme_id": "12345", "author": {"sec_uid": "a"}}
    video = (await source(None, json.dumps([work])).fetch_video("12345")).value
    assert (video.media_type, video.is_top, video.hashtags) == (None, None, None)
    assert (video.images_count, video.duration_ms, video.statistics_source) == (None, None, None)


async def test_a_record_says_what_it_states(source: Any) -> None:
    work = {
        "aweme_id": "12345", "author": {"sec_uid": "a"}, "hashtags": [], "is_top": False,
        "media_type": "photo", "statistics": {"digg_count": 0},
    }  # fmt: skip
    video = (await source(None, json.dumps([work])).fetch_video("12345")).value
    assert (video.media_type, video.is_top, video.hashtags) == ("photo", False, ())
    assert video.statistics_source == "file"


async def test_a_list_has_the_counts_that_the_file_states(source: Any) -> None:
    counts = dict.fromkeys(("digg_count", "comment_count", "collect_count", "share_count"), 0)
    works = [
        {"aweme_id": "12345", "author": {"sec_uid": "a"}, "statistics": counts},
        {"aweme_id": "12346", "author": {"sec_uid": "a"}, "statistics": {"digg_count": 1}},
    ]
    posts = (await source(None, json.dumps(works)).fetch_author_page("a", 0)).value.videos
    assert {video.aweme_id: video.statistics_complete for video in posts} == {
        "12345": True, "12346": False,
    }  # fmt: skip


async def test_posts_are_pinned_first_then_newest_in_pages(source: Any) -> None:
    works = [
        {
            "aweme_id": f"{10_000 + n}",
            "author": {"sec_uid": "a"},
            "create_time": n,
            "is_top": n == 3,
        }
        for n in range(25)
    ]
    provider = source(None, json.dumps(works))
    first = (await provider.fetch_author_page("a", 0)).value
    second = (await provider.fetch_author_page("a", first.cursor)).value
    ids = [int(video.aweme_id) - 10_000 for video in (*first.videos, *second.videos)]
    assert ids == [3, *(n for n in range(24, -1, -1) if n != 3)]
    assert (first.has_more, second.has_more, second.cursor) == (True, False, 25)


async def test_file_provider_names_its_operations_when_one_is_unsupported(
    source: Any, tmp_path: Path
) -> None:
    provider = source()
    for call in (
        provider.fetch_search_page("term", SearchPosition()),
        provider.resolve_link("https://short.example/x/"),
    ):
        with pytest.raises(ProviderUnsupportedError) as caught:
            await call
        assert "videos by account, music id or hashtag" in str(caught.value.hint)
    with pytest.raises(InvalidMusicInputError):
        await provider.fetch_track("99999")
    with pytest.raises(UnresolvedIdError):
        await provider.fetch_account("nobody")
    assert isinstance((await provider.fetch_video("99999")).value, Unavailability)
    detail = (await provider.fetch_video(json.loads(EXAMPLES[1])[0]["aweme_id"])).value
    with pytest.raises(AudioUnavailableError):
        await provider.download_sound(detail, tmp_path)


GOOD = '{"aweme_id": "12345", "author": {"sec_uid": "a"}}'
BAD_VIDEOS = {
    "VIDEOS_FILE, line 3, field [1].aweme_id: ": f"[{GOOD},\n\n {GOOD.replace('12345', 'x')}]",
    "VIDEOS_FILE, line 4, field [0].statistics.digg_count": (
        f'[{GOOD[:-1]},\n "is_top": true,\n "statistics": {{\n  "digg_count": -1}}}}]'
    ),
    "VIDEOS_FILE, line 2, field [0].create_time": (  # milliseconds
        f'[{GOOD[:-1]},\n "create_time": 1764000000000}}]'
    ),
    "VIDEOS_FILE, line 2, field [0].statistic": f'[{GOOD[:-1]},\n "statistic": {{}}}}]',
    "VIDEOS_FILE, line 2, field [0].author": '[\n{"aweme_id": "12345"}]',
    "VIDEOS_FILE, line 1, field at the top": '{"videos": []}',
    "VIDEOS_FILE, line 2, field [1].aweme_id: duplicate 12345": f"[{GOOD},\n {GOOD}]",
    "VIDEOS_FILE, line 1, field [0].aweme_id": '[{"aweme_id": 5, "author": {"sec_uid": "a"}}]',
    "VIDEOS_FILE is not JSON: ": '[{"aweme_id": "12345",\n]',
}


@pytest.mark.parametrize(("complaint", "text"), BAD_VIDEOS.items())
def test_file_provider_names_line_and_field_of_a_fault(
    complaint: str, text: str, source: Any, tmp_path: Path
) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        source(None, text)
    assert caught.value.detail.startswith(complaint)
    assert str(tmp_path) not in caught.value.detail + str(caught.value.hint)


def test_a_broken_text_names_its_line(source: Any) -> None:
    with pytest.raises(InvalidParameterError, match="line 3"):
        source('[\n {"sec_uid": "a"},\n oops]', None)


def test_a_file_that_is_not_there_is_said_without_its_place(tmp_path: Path) -> None:
    settings = Settings(_env_file=None, data_provider="file", users_file=tmp_path / "gone.json")
    with pytest.raises(InvalidParameterError, match="USERS_FILE does not exist") as caught:
        build_provider(
            settings.data_provider,
            ProviderDependencies(settings=settings, profile=choose_profile(settings), control=BOOK),
        )
    assert str(tmp_path) not in caught.value.detail


def test_file_provider_needs_a_configured_file(source: Any) -> None:
    with pytest.raises(ProviderUnsupportedError, match="no file is configured"):
        source(None, None)


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_values, st.data())
def test_the_line_of_any_value_is_that_of_its_first_letter(value: Any, data: Any) -> None:
    """With an indent every value but the empty ones begins a line of its own or follows its key."""
    text = json.dumps(value, indent=data.draw(st.sampled_from([0, 2])), ensure_ascii=False)
    path: list[Any] = []
    while isinstance(value, list | dict) and value and data.draw(st.booleans()):
        keys = range(len(value)) if isinstance(value, list) else sorted(value)
        path.append(data.draw(st.sampled_from(list(keys))))
        value = value[path[-1]]
    line = text.split("\n")[find_line(text, path) - 1]
    assert json.dumps(value, ensure_ascii=False)[0] in line


async def test_an_account_is_found_by_its_handle_however_it_is_written(source: Any) -> None:
    users = json.dumps([{"sec_uid": "a", "unique_id": "Some.Name"}, {"sec_uid": "b"}])
    provider = source(users, None)
    for handle in ("@some.name", "Some.Name", "SOME.NAME"):
        assert (await provider.fetch_account_by_handle(handle)).value.sec_uid == "a"
    with pytest.raises(UnresolvedIdError, match="no account with this handle"):
        await provider.fetch_account_by_handle("other")


async def test_file_provider_refuses_ids_that_are_not_in_its_files(source: Any) -> None:
    provider = source()
    with pytest.raises(UnresolvedIdError, match="no such account"):
        await provider.fetch_account("unknown")
    with pytest.raises(UnresolvedIdError, match="carries the hashtag 999"):
        await provider.fetch_hashtag("999")
    with pytest.raises(ProviderUnsupportedError):
        await provider.fetch_trend("12345", 0)
    missing = (await provider.fetch_video("999")).value
    assert isinstance(missing, Unavailability)
    assert missing.filter_reason == "not_in_file"
