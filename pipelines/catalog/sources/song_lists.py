"""Replace links to lists of songs by their songs, read from the music service."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from pipelines.captures.inputs import SONG_LIST_KINDS, InputTarget
from pipelines.captures.session import Captures
from pipelines.catalog.rules import INPUT_COLUMNS, ImportLine, ImportProblem
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import build_provider, build_song_source, music_provider_name
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.platform.sandbox_clock import follow_sandbox_clock
from pipelines.settings import Settings
from warehouse.control import ControlStore
from warehouse.engine.duckdb_engine import Engine
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


# Read lists of songs from the music service. Loads captures and sources: import it late.

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SongListReader:
    """Reads lists of songs over open stores, one at a time. Blocking.

    `guard` returns a context for the read of a surface; it cancels the read at its deadline.
    """

    settings: Settings
    profile: PlatformProfile
    control: ControlStore
    engine: Engine
    sounds_dir: Path
    guard: Callable[[str], AbstractAsyncContextManager[None]] = lambda _: nullcontext()

    def read(self, kind: str, list_id: str) -> ServiceSongList:
        """Capture a list of songs.

        Raises:
            ProviderUnsupportedError: The source has no music service.
            UpstreamError: The music service refused, or the time is over.
        """
        follow_sandbox_clock(self.profile)
        dependencies = ProviderDependencies(
            settings=self.settings, profile=self.profile, control=self.control, engine=self.engine
        )

        async def capture() -> ServiceSongList:
            async with (
                self.guard(kind),
                Captures(
                    provider=build_provider(music_provider_name(self.settings), dependencies),
                    songs=build_song_source(dependencies),
                    lake=self.engine.lake,
                    engine=self.engine,
                    control=self.control,
                    sounds_dir=self.sounds_dir,
                    link_ttl_s=self.settings.link_ttl_days * _DAY_S,
                ) as captures,
            ):
                return await captures.song_list(kind, list_id)

        return asyncio.run(capture())
