"""Which music id of a recording copies which, in plain Python: what `genealogy.sql` must equal."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from warehouse.records.times import REPORTED_DIFFERENCE_S

MusicIdKind = Literal["own_id", "original_sound", "library"]
RecordingEvidence = Literal["own_id", "audio", "name"]
"""How a music id is linked to the recording: it is the track's own, audio of a video under it was
confirmed, or it names the same song by the same artist and was not compared."""
CopyEvidence = Literal["compared", "audio", "name"]
"""What a copy rests on: the two ids were compared with each other, both were confirmed to carry
the recording, or at least one is linked by its name alone."""


@dataclass(frozen=True, slots=True)
class LinkedMusicId:
    """A music id of a recording. `created_at` is its birth, None if unknown."""

    music_id: str
    created_at: datetime | None
    evidence: RecordingEvidence


@dataclass(frozen=True, slots=True)
class CopyLink:
    """The music id that another one copies."""

    copy_of_music_id: str
    evidence: CopyEvidence


def find_copies(
    linked: Iterable[LinkedMusicId], compared: Iterable[tuple[str, str]]
) -> dict[str, CopyLink]:
    """Return what each music id of one recording copies: the earliest older one.

    Older ids with audio evidence come before those linked by name, whatever their age. An id
    without an older one, or without a known birth, copies nothing that is known. Ids of the same
    second do not copy each other: the second is all that an id tells.

    Args:
        linked: The music ids of the recording.
        compared: Pairs of music ids with a confirmed comparison, in either order.
    """
    known = [
        (one.evidence == "name", one.created_at, one.music_id)
        for one in linked
        if one.created_at is not None
    ]
    pairs = {frozenset(pair) for pair in compared}
    copies = {}
    for is_named, born_at, music_id in known:
        older = min((one for one in known if one[1] < born_at), default=None)
        if older is not None:
            is_by_name = is_named or older[0]
            is_compared = frozenset((music_id, older[2])) in pairs
            evidence: CopyEvidence = (
                "name" if is_by_name else "compared" if is_compared else "audio"
            )
            copies[music_id] = CopyLink(older[2], evidence)
    return copies


def kind_of(*, is_own: bool, is_original_sound: bool | None) -> MusicIdKind | None:
    """Return the kind of a music id; None if it is not the track's and nothing says what it is."""
    if is_own:
        return "own_id"
    if is_original_sound is None:
        return None
    return "original_sound" if is_original_sound else "library"


def is_contradicted(created_at: datetime, *, first_stated_at: datetime) -> bool:
    """Return whether the time in a music id lies over a day after the first stated publication.

    A video cannot use a sound that does not exist yet. The stated time stands, so the birth is
    unknown then.
    """
    return (created_at - first_stated_at).total_seconds() > REPORTED_DIFFERENCE_S
