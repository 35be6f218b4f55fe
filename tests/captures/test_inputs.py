"""What may be given for a track, judged by its form."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.captures.inputs import MusicInput, read_handle, read_music_input
from warehouse.records.errors import InvalidMusicInputError
from warehouse.records.values import is_platform_id


@dataclass(frozen=True)
class Named:
    kind: str
    id: str = ""
    url: str | None = None


def read(text: str, target: Named | None = None) -> MusicInput:
    return read_music_input(text, find_target=lambda _text: target)


def test_bare_digits_are_a_music_id() -> None:
    assert read("  7300000000000000001\n") == MusicInput("music", "7300000000000000001")


@pytest.mark.parametrize(
    ("target", "found"),
    [
        (Named("music", "12345"), MusicInput("music", "12345")),
        (Named("video", "12345"), MusicInput("video", "12345")),
        (Named("trends", "12345"), MusicInput("trends", "12345")),
        (Named("service_track", "12345"), MusicInput("service_track", "12345")),
        (
            Named("short", "abcd", "https://s.example/abcd/"),
            MusicInput("short", "https://s.example/abcd/"),
        ),
    ],
)
def test_a_link_gives_what_it_names(target: Named, found: MusicInput) -> None:
    assert read("some prose with a link", target) == found


@pytest.mark.parametrize(
    "text",
    ["1234", "1" * 31, "", "   ", "Paper Boats", "https://evil.example/music/12345", "x" * 2049],
)
def test_input_that_names_no_track_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(InvalidMusicInputError) as caught:
        read(text)
    assert caught.value.hint


@pytest.mark.parametrize(
    "target", [Named("user", "MS4w"), Named("hashtag", "12345"), Named("short")]
)
def test_a_link_to_something_else_is_refused(target: Named) -> None:
    with pytest.raises(InvalidMusicInputError):
        read("a link", target)


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("service_playlist", "a playlist"),
        ("service_album", "an album"),
        ("service_artist", "an artist"),
    ],
)
def test_a_list_of_songs_is_refused_with_the_operation_that_takes_it(kind: str, what: str) -> None:
    said = f"leads to {what} of the music service, not to a track"
    with pytest.raises(InvalidMusicInputError, match=said) as why:
        read("a link", Named(kind, "12345"))
    assert "fetch_music_hot_videos_batch" in str(why.value.hint)


@pytest.mark.parametrize("digits", ["12345", "1" * 30])
def test_an_id_has_five_to_thirty_digits(digits: str) -> None:
    assert is_platform_id(digits)
    assert read(digits) == MusicInput("music", digits)
    for wrong in (digits[:4], digits + "1" * 26, digits + "x", "１２３４５"):
        assert not is_platform_id(wrong)


@pytest.mark.parametrize(
    ("text", "target", "said"),
    [
        ("", None, "0 characters; 1 to 2048"),
        ("x" * 2049, None, "2049 characters"),
        ("1234", None, "5 to 30 digits, this one has 4"),
        ("1" * 31, None, "this one has 31"),
        ("https://evil.example/1", None, "not one of the platform's"),
        ("www.evil.example/1", None, "not one of the platform's"),
        ("see www.evil.example", None, "neither an id nor a link"),
        ("Paper Boats", None, "neither an id nor a link"),
        ("a link", Named("user", "MS4w"), "to an account, not"),
        ("a link", Named("hashtag", "12345"), "to a hashtag, not"),
        ("a link", Named("mix", "12345"), "to a collection, not"),
        ("a link", Named("trends", "1234"), "to a trending topic, not"),
        ("a link", Named("article", "12345"), "to an article, not"),
        ("a link", Named("live", "12345"), "to a live room, not"),
        ("a link", Named("search", "words"), "to a page of search results, not"),
        ("a link", Named("chart", "rank"), "to a music chart, not"),
        ("a link", Named("service_track", "1234"), "to a song of the music service, not"),
        ("a link", Named("service_video", "12345"), "to a user's video in the music service, not"),
        ("a link", Named("short"), "something else"),
        ("a link", Named("video", "1234"), "something else"),
        ("a link", Named("music", "1234"), "this one has 4"),
    ],
)
def test_a_refusal_says_what_was_given_and_what_to_give(
    text: str, target: Named | None, said: str
) -> None:
    with pytest.raises(InvalidMusicInputError, match=said) as caught:
        read(text, target)
    assert "music id (5 to 30 digits)" in str(caught.value.hint)


def test_the_longest_prose_is_read_without_the_blanks_around_it() -> None:
    prose = "x" * 2048
    seen: list[str] = []

    def find(text: str) -> Named:
        seen.append(text)
        return Named("music", "12345")

    assert read_music_input(f" {prose}\n", find_target=find) == MusicInput("music", "12345")
    assert seen == [prose]


@given(st.text())
def test_any_input_text_is_a_music_id_or_refused(text: str) -> None:
    """Full-width digits are no digits: an id is ASCII."""
    try:
        found = read(text)
    except InvalidMusicInputError:
        return
    assert found.value.isascii()
    assert found.value.isdigit()


@pytest.mark.parametrize(
    ("text", "handle"),
    [
        ("@mia_00", "@mia_00"),
        (" @Mia.Sings-1\n", "@mia.sings-1"),
        ("mia_00", "@mia_00"),
        ("12345678", None),
        ("two words", None),
        ("look @mia_00", None),
        ("@mia_00 and more", None),
        ("@", None),
        ("@a", None),
        ("@小满", None),
        ("@@mia", None),
        ("https://p.example/@mia_00", None),
    ],
)
def test_a_handle_is_a_name_alone_with_or_without_at(text: str, handle: str | None) -> None:
    assert read_handle(text) == handle


@given(st.text(max_size=80))
def test_no_other_text_is_a_handle(text: str) -> None:
    handle = read_handle(text)
    assert handle is None or handle == f"@{text.strip().removeprefix('@').lower()}"
    assert handle is None or read_handle(handle) == handle
