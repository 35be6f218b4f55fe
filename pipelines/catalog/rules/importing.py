"""What the lines of an import mean: tracks, duplicates and problems. Pure.

Every line that is not blank becomes a track, a duplicate of one, or a problem that names its
number: nothing is dropped silently.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from warehouse.records.catalogs import MAX_PRIORITY, MAX_TRACKS, ImportedTrack
from warehouse.records.errors import InputError

INPUT_COLUMNS = ("track", "input", "music_id", "link", "url", "video", "id", "音乐id", "链接")
"""Names of the column that holds the track, the first one that a line fills."""
TITLE_COLUMNS = ("label", "title", "name", "song", "歌名")
ARTIST_COLUMNS = ("artist", "artists", "歌手")
PRIORITY_COLUMNS = ("priority", "优先级")
ROUNDED = re.compile(r"[0-9]+([.,][0-9]+)?[eE]\+?[0-9]+")
"""A long number as a spreadsheet shows it: the last digits are lost."""

ProblemReason = Literal[
    "no_track", "not_a_track", "rounded_number", "bad_priority", "too_many_tracks", "unreadable"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportLine:
    """One line of a source: its number, from 1, and its values by column name."""

    number: int
    values: Mapping[str, str]

    def first_of(self, names: Iterable[str]) -> str | None:
        """Return the first value among these columns that is not blank."""
        values = {
            name.casefold().strip().replace(" ", "_"): value.strip()
            for name, value in self.values.items()
        }
        return next((values[name] for name in names if values.get(name)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportProblem:
    """A line that is not imported, and why."""

    line: int
    input: str | None
    reason: ProblemReason
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateLine:
    """A line that names the track of an earlier one; its columns fill what that one leaves open."""

    line: int
    first_line: int
    input: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOutcome:
    """The tracks of a source in order, with the number of their first line, and the rest."""

    tracks: tuple[ImportedTrack, ...] = ()
    lines: tuple[int, ...] = ()
    duplicates: tuple[DuplicateLine, ...] = ()
    problems: tuple[ImportProblem, ...] = ()


def plan_import(
    lines: Iterable[ImportLine],
    *,
    identify: Callable[[str], str],
    known: Iterable[ImportedTrack] = (),
) -> ImportOutcome:
    """Turn lines into tracks.

    Args:
        lines: The lines of the source.
        identify: Returns the key of an input, or raises an `InputError`.
        known: The tracks that the catalogue has: they count against its limit, and a line that
            names one of them is to update it (`updated_track`).
    """
    known_keys = frozenset(track.key for track in known)
    free = MAX_TRACKS - len(known_keys)
    tracks: dict[str, tuple[ImportedTrack, int]] = {}  # with the number of the first line
    duplicates: list[DuplicateLine] = []
    problems: list[ImportProblem] = []
    for line in lines:
        if not any(value.strip() for value in line.values.values()):
            continue
        track = _to_track(line, identify)
        if isinstance(track, ImportProblem):
            problems.append(track)
        elif track.key in tracks:
            first, number = tracks[track.key]
            tracks[track.key] = _merge(first, track), number
            duplicates.append(DuplicateLine(line=line.number, first_line=number, input=track.input))
        # Updates of known tracks are possible in a full catalogue.
        elif track.key not in known_keys and free <= 0:
            message = f"a catalogue has at most {MAX_TRACKS:,} tracks"
            problems.append(_problem(line, track.input, "too_many_tracks", message))
        else:
            free -= track.key not in known_keys
            tracks[track.key] = track, line.number
    return ImportOutcome(
        tracks=tuple(track for track, _ in tracks.values()),
        lines=tuple(number for _, number in tracks.values()),
        duplicates=tuple(duplicates),
        problems=tuple(problems),
    )


def _to_track(line: ImportLine, identify: Callable[[str], str]) -> ImportedTrack | ImportProblem:
    """Return the track of a line, or why the line is not imported."""
    text = line.first_of(INPUT_COLUMNS)
    if text is None:
        return _problem(line, None, "no_track", "the line names no track")
    if ROUNDED.fullmatch(text):
        message = "a spreadsheet has rounded this number: format the column as text, enter it again"
        return _problem(line, text, "rounded_number", message)
    priority = _read_priority(line.first_of(PRIORITY_COLUMNS))
    if priority is None:
        message = f"the priority is no whole number from -{MAX_PRIORITY} to {MAX_PRIORITY}"
        return _problem(line, text, "bad_priority", message)
    try:
        key = identify(text)
    except InputError as error:
        return _problem(line, text, "not_a_track", str(error))
    names = (line.first_of(TITLE_COLUMNS), line.first_of(ARTIST_COLUMNS))
    return ImportedTrack(
        key=key,
        input=text,
        label=" - ".join(name for name in names if name) or None,
        priority=priority,
        columns=dict(line.values),
    )


def _problem(
    line: ImportLine, text: str | None, reason: ProblemReason, message: str
) -> ImportProblem:
    return ImportProblem(line=line.number, input=text, reason=reason, message=message)


def _read_priority(text: str | None) -> int | None:
    """Return the priority: 0 if the cell is empty, None if it is not a number in the range."""
    if text is None:
        return 0
    if not re.fullmatch(r"[+-]?[0-9]{1,4}(\.0+)?", text):  # a spreadsheet may write 5 as 5.0
        return None
    value = int(float(text))
    return value if abs(value) <= MAX_PRIORITY else None


def _merge(first: ImportedTrack, later: ImportedTrack) -> ImportedTrack:
    """Return the first track; the later line fills its empty columns, the higher priority wins."""
    later_columns = {name: value for name, value in later.columns.items() if value.strip()}
    first_columns = {name: value for name, value in first.columns.items() if value.strip()}
    priorities = [line.priority for line in (first, later) if _states_priority(line.columns)]
    return replace(
        first,
        label=first.label or later.label,
        priority=max(priorities, default=0),
        columns={**first.columns, **later_columns, **first_columns},
    )


def updated_track(known: ImportedTrack, new: ImportedTrack) -> ImportedTrack:
    """Return a track of the catalogue as a new import updates it; columns left empty stay."""
    stated = {name: value for name, value in new.columns.items() if value.strip()}
    return replace(
        new,
        label=new.label or known.label,
        priority=new.priority if _states_priority(stated) else known.priority,
        columns={**known.columns, **stated},
    )


def _states_priority(columns: Mapping[str, str]) -> bool:
    return ImportLine(number=0, values=columns).first_of(PRIORITY_COLUMNS) is not None
