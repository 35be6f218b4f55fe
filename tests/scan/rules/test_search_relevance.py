"""Which terms a job searches for, and how what it finds relates to the song by its words."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.scan.rules.search import relevance_of, scene_terms, search_terms
from warehouse.records.videos import Hashtag, Music, Video

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def work(
    desc: str = "", *, music: str | None = None, mapped: str | None = None, tag: str = ""
) -> Video:
    sound = Music(music_id="77777", title=music, mapped_title=mapped) if music else None
    tags = (Hashtag(ch_id="5", name=tag),) if tag else ()
    return Video(
        aweme_id="1", surface="search", observed_at=NOW, desc=desc, music=sound, hashtags=tags
    )


def test_the_title_with_and_without_its_artist_is_searched() -> None:
    assert search_terms("晴天", "周某", ()) == ("晴天", "晴天 周某")


def test_given_keywords_replace_the_title() -> None:
    assert search_terms("晴天", "周某", ("rain", " Rain ", "sun")) == ("rain", "sun")


@pytest.mark.parametrize(("author", "terms"), [("陈某", ("鱼 陈某",)), (None, ("鱼",))])
def test_a_title_of_one_letter_is_searched_with_its_artist(
    author: str | None, terms: tuple[str, ...]
) -> None:
    assert search_terms("鱼", author, ()) == terms


def test_a_title_without_a_letter_is_no_term() -> None:
    assert search_terms("♪", "陈某", ()) == ()


def test_the_name_of_an_uploader_is_no_term() -> None:
    assert search_terms("@小明创作的原声", "小明", ()) == ()
    assert search_terms(None, None, ()) == ()


@given(st.text(min_size=1, max_size=40).filter(lambda text: text.strip()))
def test_every_scene_term_keeps_the_full_title(keyword: str) -> None:
    terms = scene_terms(keyword)
    assert 1 <= len(terms) <= 8
    assert all(keyword.strip() in term for term in terms)


@pytest.mark.parametrize(
    ("video", "level"),
    [
        (work("听一首晴天!"), "exact_title"),
        (work(tag="晴天"), "exact_title"),
        (work(music="晴天 (Live)"), "exact_title"),
        (work("晴天", music="@小红创作的原声"), "exact_title"),
        (work("晴天", music="@小红创作的原声", mapped="晴天"), "exact_title"),
        (work("晴天", music="雨天"), "conflicting_music_title"),
        (work("晴天", music="@小红创作的原声", mapped="雨天"), "conflicting_music_title"),
        (work("今天天气好", music="雨天"), "expanded_candidate"),
        (work("今天天气好"), "expanded_candidate"),
    ],
)
def test_search_relevance_level_follows_from_words(video: Video, level: str) -> None:
    assert relevance_of(video, title="晴天", verified=()) == level


def test_a_verified_music_id_corroborates_whatever_the_words_say() -> None:
    assert relevance_of(work("x", music="雨天"), title="晴天", verified={"77777"}) == (
        "music_id_corroborated"
    )
