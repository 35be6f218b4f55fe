"""Replace links to lists of songs by their songs, read from the music service."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pipelines.captures.inputs import SONG_LIST_KINDS, InputTarget
from pipelines.catalog.rules.importing import INPUT_COLUMNS, ImportLine, ImportProblem
from warehouse.records.errors import (
    InputError,
    ProviderUnsupportedError,
    UnreachableError,
    UpstreamError,
)
from warehouse.records.values import is_platform_id
from warehouse.records.videos import ListedSong, ServiceSongList

_DEADLINE = "deadline"
_LATE = "there was no time to read the list: import this line again"

type ReadSongList = Callable[[str, str], ServiceSongList]
"""Reads a list of songs by kind and id. An `UnreachableError` with the reason `deadline` says that
the time for all lists is over.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpandedLines:
    """The lines with songs in place of lists, the lists, and those that could not be read."""

    lines: tuple[ImportLine, ...]
    lists: tuple["ImportedSongList", ...] = ()
    problems: tuple[ImportProblem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSongList:
    """A list of songs that a line named. The page may show fewer songs than it states."""

    line: int
    input: str
    title: str | None
    song_count: int
    stated_count: int | None


def expand_song_lists(
    lines: Sequence[ImportLine],
    *,
    find_target: Callable[[str], InputTarget | None],
    read_songs: ReadSongList,
    song_link: Callable[[str], str],
) -> ExpandedLines:
    """Return the lines with each list replaced by its songs, which keep the columns of its line.

    Once the time is over, no further list is read.
    """
    expanded: list[ImportLine] = []
    lists: list[ImportedSongList] = []
    problems: list[ImportProblem] = []
    is_late = False
    for line in lines:
        text = line.first_of(INPUT_COLUMNS) or ""
        target = find_target(text)
        if target is None or target.kind not in SONG_LIST_KINDS or not is_platform_id(target.id):
            expanded.append(line)
            continue
        if is_late:
            problems.append(_problem(line, text, _LATE))
            continue
        try:
            found = read_songs(target.kind, target.id)
        except (InputError, UpstreamError, ProviderUnsupportedError) as error:
            is_late = isinstance(error, UnreachableError) and error.reason == _DEADLINE
            message = _LATE if is_late else f"the list could not be read: {error}"
            problems.append(_problem(line, text, message))
            continue
        if not found.songs:
            problems.append(_problem(line, text, "the list shows no songs"))
        expanded += [_song_line(line, text, song, song_link) for song in found.songs]
        lists.append(
            ImportedSongList(
                line=line.number,
                input=text,
                title=found.title,
                song_count=len(found.songs),
                stated_count=found.stated_count,
            )
        )
    return ExpandedLines(lines=tuple(expanded), lists=tuple(lists), problems=tuple(problems))


def _song_line(
    line: ImportLine, text: str, song: ListedSong, song_link: Callable[[str], str]
) -> ImportLine:
    names = {"title": song.title or "", "artist": song.artist or ""}
    values = {**line.values, "list": text, **names, INPUT_COLUMNS[0]: song_link(song.track_id)}
    return replace(line, values={name: value for name, value in values.items() if value})


def _problem(line: ImportLine, text: str, message: str) -> ImportProblem:
    return ImportProblem(line=line.number, input=text, reason="unreadable", message=message)
