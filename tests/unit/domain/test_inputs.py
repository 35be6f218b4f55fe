"""What may be given for a track, judged by its form."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.domain.errors import InvalidMusicInputError
from pipelines.domain.inputs import MusicInput, read_music_input


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
def test_what_leads_to_no_track_is_refused_with_what_to_do(text: str) -> None:
    with pytest.raises(InvalidMusicInputError) as caught:
        read(text)
    assert caught.value.hint


@pytest.mark.parametrize(
    "target", [Named("user", "MS4w"), Named("hashtag", "12345"), Named("short")]
)
def test_a_link_to_something_else_is_refused(target: Named) -> None:
    with pytest.raises(InvalidMusicInputError):
        read("a link", target)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    """Full-width digits are no digits: an id is ASCII."""
    try:
        found = read(text)
    except InvalidMusicInputError:
        return
    assert found.value.isascii()
    assert found.value.isdigit()
