"""Sounds and videos of a world: the record of each, and the tables that hold all of them.

One music id has one sound. A table is a set of arrays (a large world has 200,000 videos); a record
is one row of it. Fields that differ by nothing but that stand once, in `_SoundFields` and
`_VideoFields`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from math import isnan
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sandbox.world.random_streams import Ints

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class SoundKind(IntEnum):
    """How a sound was made."""

    MAIN = 0
    REUPLOAD = 1
    LOFI = 2
    VOICE_OVER = 3
    MEDLEY = 4
    SHORT = 5
    LATE = 6
    SPEED = 10
    PITCH = 11
    TEMPO = 12
    COVER_SYNC = 20
    COVER_OTHER = 21
    SPEECH = 30
    SILENT = 31


LAST_CARRYING = SoundKind.LATE
LAST_VARIANT = SoundKind.TEMPO
LAST_COVER = SoundKind.COVER_OTHER


class VideoState(IntEnum):
    """Visibility of a video."""

    PUBLIC = 0
    DELETED = 1
    PRIVATE = 2
    REVIEWING = 3


HIDDEN_REASONS = {
    VideoState.DELETED: "status_deleted",
    VideoState.PRIVATE: "status_self_see",
    VideoState.REVIEWING: "status_reviewing",
}
"""The platform's word for each state that guests do not see."""


class Alteration(IntEnum):
    """What a video plays instead of the sound of its music id."""

    NONE = 0
    MUTED = 1
    REPLACED = 2
    LIVE = 3
    VOICED_OVER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayTable:
    """Arrays of equal length, one per field."""

    def __len__(self) -> int:
        return int(next(getattr(self, name).size for name in self.__dataclass_fields__))

    def values(self, index: int) -> dict[str, Any]:
        """Return one row as plain numbers, by name."""
        return {name: getattr(self, name).item(index) for name in self.__dataclass_fields__}

    def rows(self, chosen: Ints | slice) -> Self:
        """Return some rows, in this order."""
        return type(self)(**{
            name: getattr(self, name)[chosen] for name in self.__dataclass_fields__
        })  # fmt: skip

    def joined(self, other: Self) -> Self:
        """Return the rows of both tables, those of the other one last."""
        return type(self)(**{
            name: np.concatenate([getattr(self, name), getattr(other, name)])
            for name in self.__dataclass_fields__
        })  # fmt: skip


def column_of(records: Iterable[object], name: str, kind: type = np.int64) -> np.ndarray:
    """Return a field of records as a column."""
    return np.asarray([getattr(record, name) for record in records], dtype=kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class _SoundFields[Id, Kind, Whole, Real, Level, Flag]:
    """What is known of a sound.

    Attributes:
        music_id: Its public id.
        kind: How it was made.
        score: The composition in it, -1 for speech and silence.
        start_s: Where in the composition it begins.
        duration_s: Its length, as heard.
        speed: Tempo ratio to the composition's own.
        semitones: Pitch shift.
        voice_db: Level of the voice against the music; without a voice None in a record, and NaN in
            a table.
        carried_s: How long the composition is heard.
        lead_s: Silence or speech before the composition begins.
        stereo: True for two channels.
        owner: Account that uploaded it, -1 for a published song.
    """

    music_id: Id
    kind: Kind
    score: Whole
    start_s: Real
    duration_s: Real
    speed: Real
    semitones: Real
    voice_db: Level
    carried_s: Real
    lead_s: Real
    stereo: Flag
    owner: Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSound(_SoundFields[str, SoundKind, int, float, float | None, bool]):
    """The sound of one music id; `index` is its row in the table of sounds."""

    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundTable(_SoundFields[Ints, Ints, Ints, Floats, Floats, Flags], ArrayTable):
    """All sounds of a world; names and units as in `SandboxSound`."""

    def row(self, index: int) -> SandboxSound:
        """One sound as a record."""
        values = self.values(index)
        values["music_id"] = str(values["music_id"])
        values["kind"] = SoundKind(values["kind"])
        if isnan(values["voice_db"]):
            values["voice_db"] = None
        return SandboxSound(index=index, **values)


@dataclass(frozen=True, slots=True, kw_only=True)
class _VideoFields[Id, State, Change, Whole, Flag]:
    """What is known of a video or photo post.

    Attributes:
        aweme_id: Its public id.
        sound: Row of its sound.
        account: Row of its author.
        create_time: Unix seconds.
        digg_count: Likes; the other three counts likewise.
        comment_count: Comments.
        collect_count: Bookmarks.
        share_count: Shares.
        state: Its visibility.
        is_listed: True if list surfaces show it; some hidden videos are still listed.
        is_pinned: Pinned by its author.
        is_photo: A photo post; its sound comes as MP3.
        is_silent: Its sound is the platform's silent placeholder.
        named_score: Composition whose title the caption names, -1 for none.
        is_tagged: The title is named as a hashtag.
        alteration: How its own sound differs from that of its music id.
        replacement: Composition that is heard where its sound was replaced, else -1.
    """

    aweme_id: Id
    sound: Whole
    account: Whole
    create_time: Whole
    digg_count: Whole
    comment_count: Whole
    collect_count: Whole
    share_count: Whole
    state: State
    is_listed: Flag
    is_pinned: Flag
    is_photo: Flag
    is_silent: Flag
    named_score: Whole
    is_tagged: Flag
    alteration: Change
    replacement: Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxVideo(_VideoFields[str, VideoState, Alteration, int, bool]):
    """One video or photo post; `index` is its row in the table of videos."""

    index: int

    @property
    def is_public(self) -> bool:
        """True if a guest can open it."""
        return self.state is VideoState.PUBLIC

    @property
    def counts(self) -> dict[str, int]:
        """Its four counts, by their names on the wire."""
        names = ("digg_count", "comment_count", "collect_count", "share_count")
        return {name: getattr(self, name) for name in names}

    @property
    def image_count(self) -> int:
        """Number of its pictures; 0 for a video."""
        return 1 + int(self.aweme_id) % 5 if self.is_photo else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoTable(_VideoFields[Ints, Ints, Ints, Ints, Flags], ArrayTable):
    """All videos of a world; names as in `SandboxVideo`."""

    def row(self, index: int) -> SandboxVideo:
        """One video as a record."""
        values = self.values(index)
        values["aweme_id"] = str(values["aweme_id"])
        values["state"] = VideoState(values["state"])
        values["alteration"] = Alteration(values["alteration"])
        return SandboxVideo(index=index, **values)
