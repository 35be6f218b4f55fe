"""What is compared with what, and what is true of it: labelled pairs and groups.

Pure, and inside one part only: no pair has one track in the choosing and one in the reported part.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from numpy.random import Generator

from benchmarks.accuracy.real.library import have_same_music
from benchmarks.accuracy.sounds.clips import Clip, Relation, clips_of
from benchmarks.accuracy.sounds.tracks import Part, Track
from sandbox.world.random_streams import stream

Truth = Literal["same", "variant", "different"]
NARRATION = "NEG same narration, other music"
LOUD_CROWD = "NEG same crowd, as loud as the music"
ARGUABLE = frozenset({NARRATION, LOUD_CROWD})
"""Both clips carry one recording, only not one of music: a label that can be argued."""
_LIKENESS = {
    "shared voice": NARRATION,
    "shared crowd +0 dB": LOUD_CROWD,
    "shared crowd +5 dB": "NEG same crowd, 5 dB under the music",
    "shared crowd +10 dB": "NEG same crowd, 10 dB under the music",
}
COVER_SYNC = "NEG cover, same key and tempo, synchronous"
_COVERS = {
    "cover sync": COVER_SYNC,
    "cover tempo": "NEG cover, other tempo",
    "cover key": "NEG cover, other key",
    "cover performer": "NEG cover, other performer",
}
COVERS = frozenset(_COVERS.values())
SHARED = frozenset(_LIKENESS.values())
"""A narration or a crowd is the same in both clips, whatever its level."""
_STRANGE = {
    "speech": "NEG speech",
    "noise": "NEG noise",
    "silence": "NEG silence",
    "reversed": "NEG reversed",
    "other piece": "NEG same synthesiser",
}
_ELSEWHERE = (
    ("NEG other track", "clean 64k", "clean 128k"),
    ("NEG other track, sped", "speed off the grid", "speed 1.25"),
    ("NEG other track, short", "short 6-8 s", "clean 64k"),
    ("NEG other track, medley", "medley", "clean 128k"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two files, by their place below the clips.

    `family` is the row of the tables, `group` the row that sums up, `kind` what made the track.
    `speed` is what was done to the candidate, None where nothing was.
    """

    reference: str
    candidate: str
    family: str
    group: str
    truth: Truth
    part: Part
    kind: str
    tracks: tuple[str, str]
    speed: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Up to three references of a track against two sounds of one candidate."""

    references: tuple[str, ...]
    candidates: tuple[str, ...]
    truth: Truth
    family: str
    part: Part


class Shelf:
    """The clips of some tracks of one part, by name."""

    def __init__(self, tracks: list[Track]) -> None:
        self.tracks = tracks
        self.clips = {track.name: {clip.name: clip for clip in clips_of(track)} for track in tracks}

    def partner(self, track: Track, step: int) -> Track:
        """Another track: with growing `step` they all get their turn."""
        others = [other for other in self.tracks if other != track]
        place = (self.tracks.index(track) * 7 + 3 * step) % len(others)
        return others[place]


def list_pairs(tracks: list[Track]) -> list[Pair]:
    """All labelled pairs of the tracks, which are of one part."""
    sound_cache = Shelf(tracks)
    return [
        pair
        for track in tracks
        for pair in (
            *_alike(sound_cache, track),
            *_covers_and_strangers(sound_cache, track),
            *_elsewhere(sound_cache, track),
            *_unwanted_likeness(sound_cache, track),
        )
    ]


def _pair(
    track: Track, reference: Clip, candidate: Clip, *, family: str, group: str, truth: Truth
) -> Pair:
    speeds = [value for name, value in candidate.steps if name == "speed"]
    return Pair(
        reference=reference.file, candidate=candidate.file, family=family, group=group,
        truth=truth, part=track.part, kind=track.kind, tracks=(reference.track, candidate.track),
        speed=speeds[0] if speeds and truth == "variant" else None,
    )  # fmt: skip


def _alike(sound_cache: Shelf, track: Track) -> Iterator[Pair]:
    clips = sound_cache.clips[track.name]
    truths: dict[Relation, Truth] = {"same": "same", "variant": "variant"}
    for clip in clips.values():
        if clip.relation != "material":
            yield _pair(
                track, clips["reference"], clip, family=clip.family, group=clip.group,
                truth=truths[clip.relation],
            )  # fmt: skip


def _covers_and_strangers(sound_cache: Shelf, track: Track) -> Iterator[Pair]:
    clips = sound_cache.clips[track.name]
    for name, family in (_COVERS | _STRANGE).items():
        if name in clips:
            yield _different(track, clips["reference"], clips[name], family)


def _elsewhere(sound_cache: Shelf, track: Track) -> Iterator[Pair]:
    for step, (family, *wanted) in enumerate(_ELSEWHERE):
        other = sound_cache.clips[sound_cache.partner(track, step).name]
        name = next((name for name in wanted if name in other), None)
        if name is not None and (name == wanted[0] or step == 0):
            reference = sound_cache.clips[track.name]["reference"]
            yield _different(track, reference, other[name], family)


def _unwanted_likeness(sound_cache: Shelf, track: Track) -> Iterator[Pair]:
    """The same crowd or the same narration over two tracks' music."""
    place = sound_cache.tracks.index(track)
    for mine in sound_cache.clips[track.name].values():
        if not mine.name.startswith("shared"):
            continue
        for other in sound_cache.tracks[place + 1 :]:
            theirs = sound_cache.clips[other.name].get(mine.name)
            if theirs is not None and theirs.steps == mine.steps:
                yield _different(track, mine, theirs, _LIKENESS[mine.name])
                break


def _different(track: Track, reference: Clip, candidate: Clip, family: str) -> Pair:
    return _pair(track, reference, candidate, family=family, group=family, truth="different")


def list_groups(tracks: list[Track]) -> list[Group]:
    """For each track: one group heard as it is, one changed, one of strangers, one of likes.

    The first reference is the track's own sound, the two others are drawn from what people did to
    it; a group of the same track draws its candidates from the rest.
    """
    sound_cache = Shelf(tracks)
    return [group for track in tracks for group in _groups_of(sound_cache, track)]


def _groups_of(sound_cache: Shelf, track: Track) -> Iterator[Group]:
    rng = stream(track.seed, "bench group", track.score)
    clips = list(sound_cache.clips[track.name].values())
    same = _shuffled(rng, [clip for clip in clips if clip.relation == "same"])
    changed = _shuffled(rng, [clip for clip in clips if clip.relation == "variant"])
    other = sound_cache.clips[sound_cache.partner(track, 1 + track.number % 5).name]
    strangers = _shuffled(rng, [one for one in other.values() if one.relation != "material"])
    likes = [clip for clip in clips if clip.name.startswith(("cover", "other piece"))]
    families: tuple[tuple[Truth, str, list[Clip]], ...] = (
        ("same", "as heard", same[2:4]),
        ("variant", "changed", changed[:2]),
        ("different", "other track", strangers[:2]),
        ("different", "cover or same synthesiser", likes[:2]),
    )
    references = (clips[0].file, *(clip.file for clip in same[:2]))
    for truth, family, candidates in families:
        files = tuple(clip.file for clip in candidates)
        yield Group(
            references=references, candidates=files, truth=truth, family=family, part=track.part
        )


def _shuffled(rng: Generator, clips: list[Clip]) -> list[Clip]:
    return [clips[int(place)] for place in rng.permutation(len(clips))]


def draw_unrelated(tracks: list[Track], count: int) -> list[tuple[str, str]]:
    """Pairs of clips of two different tracks, every pair of tracks in turn, no pair twice.

    At least one of the two is of the reported part, if any track is. Sound without a track's music
    in it, and what two tracks share on purpose, is left out; so are two clips under voices, or
    under crowds: there are a few of these only, and the two may be under the same.
    """
    clips = {
        track.name: [clip for clip in clips_of(track) if _is_own_music(track, clip)]
        for track in tracks
    }
    wanted: Part = "reported" if any(track.part == "reported" for track in tracks) else "choosing"
    track_pairs = [
        (one.name, two.name)
        for one, two in combinations(tracks, 2)
        if wanted in (one.part, two.part) and not _have_same_music(one, two)
    ]
    rng = stream(len(tracks), "bench unrelated", count)
    drawn: dict[tuple[str, str], None] = {}
    for turn in range(3 * count):
        left, right = track_pairs[turn % len(track_pairs)]
        if rng.random() < 0.5:
            left, right = right, left
        one, two = _any(rng, clips[left]), _any(rng, clips[right])
        if not _voice_and_crowd(one) & _voice_and_crowd(two):
            drawn[one.file, two.file] = None
        if len(drawn) == count:
            break
    return sorted(drawn)  # equal references together: what depends on them is computed once


def _have_same_music(one: Track, two: Track) -> bool:
    """Whether the list says so of two real recordings."""
    are_real = one.kind == two.kind == "real"
    return are_real and have_same_music(one.recording, two.recording)


def _any(rng: Generator, clips: list[Clip]) -> Clip:
    return clips[int(rng.integers(len(clips)))]


def _voice_and_crowd(clip: Clip) -> set[str]:
    """Return which of a voice and a crowd the clip has."""
    names = {"voice" if name.startswith("late") and value else name for name, value in clip.steps}
    return {sound for sound in ("voice", "crowd") if any(sound in name for name in names)}


def _is_own_music(track: Track, clip: Clip) -> bool:
    """Whether the track's music is in it; the band of a real recording is a track of the list."""
    if track.kind == "real" and clip.work == "band":
        return False
    return clip.work is not None and not clip.name.startswith("shared")
