"""A line that names a list of songs becomes its songs, or a problem with its number."""

from dataclasses import dataclass

from pipelines.catalog.rules import ImportLine
from pipelines.catalog.sources.song_lists import ExpandedLines, expand_song_lists
from warehouse.records.errors import EmptyAnswerError, UnreachableError
from warehouse.records.videos import ListedSong, ServiceSongList


@dataclass(frozen=True)
class Target:
    kind: str
    id: str
    url: str | None = None


SONGS = (
    ListedSong(track_id="11111", title="Paper Boats", artist="Someone"),
    ListedSong(track_id="22222"),
)


def read_songs(kind: str, list_id: str) -> ServiceSongList:
    if list_id == "70000":
        raise UnreachableError("too late", surface="song", reason="deadline")
    if list_id == "90000":
        raise EmptyAnswerError("nothing came", surface="song")
    assert kind == "service_playlist"
    songs = () if list_id == "80000" else SONGS
    return ServiceSongList(list_id=list_id, title="Mix", songs=songs, stated_count=3)


def find_target(text: str) -> Target | None:
    kind, _, number = text.partition(" ")
    return Target(f"service_{kind}", number) if kind in {"playlist", "track"} else None


def expanded(*texts: str) -> ExpandedLines:
    lines = [
        ImportLine(number=number, values={"link": text, "owner": "me"})
        for number, text in enumerate(texts, 1)
    ]
    return expand_song_lists(
        lines, find_target=find_target, read_songs=read_songs, song_link=lambda i: f"track {i}"
    )


def test_songs_take_the_place_of_their_list_and_keep_its_columns() -> None:
    found = expanded("12345", "playlist 50000", "track 33333")
    assert [(one.number, one.values.get("track")) for one in found.lines] == [
        (1, None),
        (2, "track 11111"),
        (2, "track 22222"),
        (3, None),
    ]
    assert found.lines[1].values == {
        "link": "playlist 50000", "list": "playlist 50000", "owner": "me",
        "title": "Paper Boats", "artist": "Someone", "track": "track 11111",
    }  # fmt: skip
    assert [(one.line, one.song_count, one.stated_count) for one in found.lists] == [(2, 2, 3)]


def test_a_list_that_cannot_be_read_or_is_empty_is_a_problem_of_its_line() -> None:
    found = expanded("playlist 90000", "playlist 80000")
    assert found.lines == ()
    assert [(one.line, one.reason) for one in found.problems] == [
        (1, "unreadable"),
        (2, "unreadable"),
    ]


def test_once_the_time_is_over_no_further_list_is_read() -> None:
    found = expanded("playlist 50000", "playlist 70000", "12345", "playlist 50000")
    assert [one.number for one in found.lines] == [1, 1, 3]
    assert [(one.line, "import this line again" in one.message) for one in found.problems] == [
        (2, True),
        (4, True),
    ]
