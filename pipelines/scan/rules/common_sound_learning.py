"""Learn common sounds: a short piece that excerpts of unrelated tracks have in common.

False learning is worse than none, because excerpts of a song would be rejected. So the piece must
begin and end at the same places in the references of four tracks, with other music on both sides:
a jingle or a meme is used as it is, while excerpts of a song are cut anywhere. And apart from it,
no two of these references may have anything in common: uploads of one song are no unrelated tracks.
Not here: which excerpts are tried.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, cached_property
from itertools import combinations, starmap

import numpy as np

from pipelines.audio.features.sound_features import FINE_HOP_S, HOP_S, Features, Peaks
from pipelines.audio.features.sounds import MeasuredSound
from pipelines.audio.matching.agreement import common_stretches
from pipelines.audio.matching.common_sounds import cut_peaks
from pipelines.audio.matching.judging import SURE_EXCESS
from pipelines.audio.matching.shared_parts import common_piece
from pipelines.audio.matching.verify import compare_pair
from warehouse.records.evidence import MatchThresholds

LEAST_TRACKS = 4
"""Unrelated tracks that teach a common sound. If up to seven tracks of real recordings quote one
song, cut at random around its hook, three of them teach it in 14 of 46 trials, four in none of 40;
of 41 jingles and sentences in four to six tracks, four teach 30; of 53 in three to six, three teach
47."""
_REACH = round(1.5 / FINE_HOP_S)
_BESIDE = round(1.0 / FINE_HOP_S)
"""Other music on each side of the piece is at least so long."""
_LEAST, _MOST = round(1.5 / FINE_HOP_S), round(6.0 / FINE_HOP_S)
"""An excerpt of 2 s may end in silence; longer pieces than 6 s are confirmed, and no excerpts."""
_SAME_END = round(0.15 / FINE_HOP_S)
"""What the first and the last peak of a piece leave open."""
_MOST_OF = 0.75
"""Of the tracks that share a piece, so many share the same one. With half of them, quotes of a song
are learnt in 1 of the 40 trials; with ends that are 0.2 s apart, in 2."""
_MOST_TRACKS = 12  # of 66 pairs, each takes 40 ms to compare
_MARGIN = round(0.3 / HOP_S)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrackExcerpt:
    """A stretch of a track's reference that was accepted as an excerpt in some video.

    `comparison_id` and `stored_at` are of the pair; None if it is not stored yet.
    """

    track_music_id: str
    sound: MeasuredSound
    start_s: float
    overlap_s: float
    comparison_id: str | None = None
    stored_at: datetime | None = None

    @property
    def frames(self) -> tuple[int, int]:
        """The first fine frame of the stretch, and the one after its last."""
        first = round(self.start_s / FINE_HOP_S)
        return first, first + round(self.overlap_s / FINE_HOP_S)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LearntSound:
    """A new common sound, cut from the own excerpt's sound, and the others that share it."""

    features: Features
    start_s: float
    others: tuple[TrackExcerpt, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Shared:
    """A piece that the own sound shares with another excerpt's, in fine frames of the own one.

    `lag` is own minus other time.
    """

    other: TrackExcerpt
    first: int
    last: int
    lag: int

    @cached_property
    def rest(self) -> MeasuredSound:
        """The other sound without the piece."""
        return _without(self.other.sound, self.first - self.lag, self.last - self.lag)


def learn_common_sound(
    own: TrackExcerpt, others: Sequence[TrackExcerpt], *, limits: MatchThresholds
) -> LearntSound | None:
    """Return the common sound that an excerpt is, by excerpts of other tracks; None if it is none.

    Args:
        own: An excerpt that has just been accepted.
        others: Excerpts of other tracks, the preferred ones first.
        limits: Limits of the verdict.
    """
    shared = _shared_pieces(own, others)

    @cache  # of many pairs that share a piece, each is in several sets
    def are_unrelated(one: _Shared, other: _Shared) -> bool:
        return (
            _is_same(one, other)
            and _share_the_same(one, other)
            and _have_nothing_in_common(one.other.sound, other.rest, limits)
        )

    @cache
    def is_unrelated_to_own(piece: _Shared) -> bool:
        return _have_nothing_in_common(own.sound, piece.rest, limits)

    for pieces in combinations(shared, LEAST_TRACKS - 1):
        same = [piece for piece in shared if _is_same(piece, pieces[0])]
        if (
            len(same) >= _MOST_OF * len(shared)
            and all(starmap(are_unrelated, combinations(pieces, 2)))
            and all(map(is_unrelated_to_own, pieces))
        ):
            first, last = pieces[0].first // 2, -(-pieces[0].last // 2)
            return LearntSound(
                features=cut_features(own.sound.features, first, last),
                start_s=first * HOP_S,
                others=tuple(piece.other for piece in pieces),
            )
    return None


def _shared_pieces(own: TrackExcerpt, others: Sequence[TrackExcerpt]) -> list[_Shared]:
    """Return a shared piece of each other track, of the first tracks that have one."""
    shared: dict[str, _Shared] = {}
    for other in others:
        if other.track_music_id in {own.track_music_id, *shared}:
            continue
        piece = _shared_piece(own, other)
        if piece is not None:
            shared[other.track_music_id] = piece
        if len(shared) == _MOST_TRACKS:
            break
    return list(shared.values())


def _is_same(one: _Shared, other: _Shared) -> bool:
    """Whether two pieces of the own sound begin and end at the same places."""
    return abs(one.first - other.first) <= _SAME_END and abs(one.last - other.last) <= _SAME_END


def _shared_piece(own: TrackExcerpt, other: TrackExcerpt) -> _Shared | None:
    """Return the piece that both excerpts are, if it is short and inside other music in both."""
    peaks, other_peaks = own.sound.features.peaks, other.sound.features.peaks
    (first, last), (other_first, other_last) = own.frames, other.frames
    start, other_start = max(0, first - _REACH), max(0, other_first - _REACH)
    stretches = common_stretches(
        cut_peaks(peaks, start, last + _REACH),
        cut_peaks(other_peaks, other_start, other_last + _REACH),
    )
    if not stretches or stretches[0].excess < SURE_EXCESS:
        return None
    best = stretches[0]
    lag = best.lag + start - other_start
    piece = common_piece(
        peaks,
        other_peaks,
        lag=lag,
        first_frame=other_start + best.first_frame,
        last_frame=other_start + best.last_frame,
    )
    if piece is None or not _LEAST <= piece.last_frame - piece.first_frame <= _MOST:
        return None
    shared = _Shared(
        other=other, first=piece.first_frame + lag, last=piece.last_frame + lag, lag=lag
    )
    places = (
        (peaks, shared.first, shared.last),
        (other_peaks, piece.first_frame, piece.last_frame),
    )
    is_inside = all(
        start - int(sound.frames[0]) >= _BESIDE and int(sound.frames[-1]) - end >= _BESIDE
        for sound, start, end in places
    )
    return shared if is_inside else None


def _share_the_same(one: _Shared, other: _Shared) -> bool:
    """Whether two sounds share with each other what they share with the own: no more.

    Of three excerpts of a song, the shortest may be all that it shares with the others.
    """
    piece = _shared_piece(one.other, other.other)
    if piece is None:
        return False
    own = replace(piece, first=piece.first + one.lag, last=piece.last + one.lag)
    return _is_same(own, one)


def _have_nothing_in_common(
    reference: MeasuredSound, rest: MeasuredSound, limits: MatchThresholds
) -> bool:
    """Whether a whole comparison finds no relation; what is too short to be compared is none."""
    evidence = compare_pair(reference, rest, limits=limits)
    return (
        evidence.verdict == "rejected"
        and evidence.relation is None
        and evidence.version_score is not None
    )


def _without(sound: MeasuredSound, first: int, last: int) -> MeasuredSound:
    """Return a sound without its fine frames first..last, and a little more."""
    features = sound.features
    start, end = max(0, first // 2 - _MARGIN), min(features.frames, last // 2 + _MARGIN)
    before = cut_features(features, 0, start)
    after = cut_features(features, end, features.frames)
    peaks = Peaks(
        np.concatenate([before.peaks.frames, after.peaks.frames + np.int32(2 * start)]),
        np.concatenate([before.peaks.hertz, after.peaks.hertz]),
        np.concatenate([before.peaks.phases, after.peaks.phases]),
    )
    joined = Features(
        np.concatenate([before.chroma, after.chroma]),
        np.concatenate([before.mel_db, after.mel_db]),
        peaks,
    )
    return replace(sound, features=joined, duration_s=joined.duration_s)


def cut_features(features: Features, first: int, last: int) -> Features:
    """Return the features of the frames first..last, counted from the first one."""
    return Features(
        features.chroma[first:last],
        features.mel_db[first:last],
        cut_peaks(features.peaks, 2 * first, 2 * last),
    )
