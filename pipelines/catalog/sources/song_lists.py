"""Replace links to lists of songs by their songs, read from the music service."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pipelines.captures.inputs import SONG_LIST_KINDS, InputTarget
from pipelines.catalog.rules.importing import INPUT_COLUMNS, ImportLine, ImportProblem
from warehouse.records import errors
from warehouse.records.values import is_platform_id
from warehouse.records.videos import ServiceSongList

_DEADLINE = "deadline"
_LATE = "there was no time to read the list: import this line again"

type ReadSongList = Callable[[str, str], ServiceSongList]
"""Reads a list of songs by kind and id. Raises an `UnreachableError` with the reason `deadline`
when the time for all lists is over.
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
    """Return the lines with each list replaced by its songs.

    After the deadline, no further list is read.
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
            song_list = read_songs(target.kind, target.id)
        except (errors.InputError, errors.UpstreamError, errors.ProviderUnsupportedError) as error:
            # The time is for all lists of an import: do not try the remaining ones.
            is_late = isinstance(error, errors.UnreachableError) and error.reason == _DEADLINE
            message = _LATE if is_late else f"the list could not be read: {error}"
            problems.append(_problem(line, text, message))
            continue
        if not song_list.songs:
            problems.append(_problem(line, text, "the list shows no songs"))
        # A song keeps the columns of its line, and overrides those that it states itself.
        for song in song_list.songs:
            values = {
                **line.values,
                "list": text,
                "title": song.title or "",
                "artist": song.artist or "",
                INPUT_COLUMNS[0]: song_link(song.track_id),
            }
            stated = {name: value for name, value in values.items() if value}
            expanded.append(replace(line, values=stated))
        lists.append(
            ImportedSongList(
                line=line.number,
                input=text,
                title=song_list.title,
                song_count=len(song_list.songs),
                stated_count=song_list.stated_count,
            )
        )
    return ExpandedLines(lines=tuple(expanded), lists=tuple(lists), problems=tuple(problems))


def _problem(line: ImportLine, text: str, message: str) -> ImportProblem:
    return ImportProblem(line=line.number, input=text, reason="unreadable", message=message)
