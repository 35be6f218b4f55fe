"""Difficulty of a world, measured; a world that is too easy is refused.

What belongs here: the measures and their limits, and the similarity of sounds. A result on an easy
world would prove nothing, so the check runs whenever a world is served.
"""

from dataclasses import asdict, dataclass

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from sandbox.world.content.tables import (
    LAST_CARRYING,
    LAST_COVER,
    LAST_VARIANT,
    Alteration,
    Flags,
    SandboxSound,
    SoundKind,
    VideoState,
    VideoTable,
)
from sandbox.world.ground_truth import GroundTruth
from sandbox.world.random_streams import Ints, stream
from sandbox.world.sound.instruments import RATE, Samples
from sandbox.world.sound.recordings import play_base, play_cover
from sandbox.world.world import SandboxWorld
from warehouse.records.errors import WorldTooEasyError

MIN_VIDEOS = 150
"""With fewer videos at normal speed, shares are not meaningful and not checked."""
_SAMPLED_TRACKS = 48
_SAMPLED_SOUNDS = 4
_HEARD_S = 12.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardness:
    """Difficulty measures. Shares are of public videos at normal speed unless stated otherwise.

    Attributes:
        normal_speed_works: Public videos that carry a track at normal speed.
        median_per_track: The same, per track.
        other_id_share: Under another music id than the track's own.
        voice_over_share: With a voice over the music.
        unhinted_share: Whose caption does not name the track.
        detour_share: Reachable only by a longer path: neither under the own id nor on the screens
            of its authors (sampled tracks).
        unreachable_share: That no guest can reach (sampled tracks).
        variant_ratio: Videos at another speed or pitch, against those at normal speed.
        cover_ratio: Videos with a cover, against those at normal speed.
        same_title_ratio: Videos with another song of the same title, against the same.
        wrong_hint_share: Of all videos that name a track: those that do not play it.
        hidden_share: Of all videos: deleted, private or under review.
        misnamed_share: That do not play the track of their music id: muted, replaced, live, or
            with the silent placeholder.
        nearest_cover: Chroma correlation of the nearest cover in the sample, 1 for equal.
        typical_cover: The median over the sample.
        nearest_stranger: The same between different tracks, the nearest pair.
    """

    normal_speed_works: int
    median_per_track: float
    other_id_share: float
    voice_over_share: float
    unhinted_share: float
    detour_share: float
    unreachable_share: float
    variant_ratio: float
    cover_ratio: float
    same_title_ratio: float
    wrong_hint_share: float
    hidden_share: float
    misnamed_share: float
    nearest_cover: float
    typical_cover: float
    nearest_stranger: float

    def to_document(self) -> dict[str, object]:
        """Plain JSON values, with the limits that hold."""
        return {**asdict(self), "floors": dict(FLOORS), "ceilings": dict(CEILINGS)}


FLOORS = {
    "other_id_share": 0.40, "voice_over_share": 0.02, "unhinted_share": 0.08,
    "variant_ratio": 0.12, "cover_ratio": 0.08, "same_title_ratio": 0.06,
    "wrong_hint_share": 0.08, "hidden_share": 0.03, "nearest_cover": 0.40,
}  # fmt: skip
"""Minimum values; a world below one of them is refused."""
CEILINGS = {"unreachable_share": 0.10, "nearest_stranger": 0.5}
"""Maximum values: above them a complete result would be impossible, or tracks are too similar.
They do not apply to a crowded world: its first screens cannot show all videos of a track."""


def check_hardness(world: SandboxWorld) -> Hardness:
    """Measure a world and check its limits.

    Raises:
        WorldTooEasyError: A measure is below its floor or above its ceiling.
    """
    measured = measure_hardness(world)
    wrong = _broken_limits(measured, is_crowded=world.is_crowded)
    if wrong and measured.normal_speed_works >= MIN_VIDEOS:
        raise WorldTooEasyError(f"seed {world.seed}, size {world.size:g}: {'; '.join(wrong)}")
    return measured


def _broken_limits(measured: Hardness, *, is_crowded: bool) -> list[str]:
    low = [
        f"{name} is {getattr(measured, name):.3f}, not {floor:g} or more"
        for name, floor in FLOORS.items()
        if getattr(measured, name) < floor
    ]
    high = [
        f"{name} is {getattr(measured, name):.3f}, not {ceiling:g} or less"
        for name, ceiling in CEILINGS.items()
        if getattr(measured, name) > ceiling and not (is_crowded and name == "unreachable_share")
    ]
    return low + high


def measure_hardness(world: SandboxWorld) -> Hardness:
    """Measure a world without judging it."""
    works, sounds = world.works, world.sounds
    public = works.state == VideoState.PUBLIC
    kind, score = sounds.kind[works.sound], sounds.score[works.sound]
    titled = world.population.title_score[score]
    is_track = (score >= 0) & (score < world.track_count)
    normal = public & is_track & (kind <= LAST_CARRYING)
    namesake = public & (score >= world.track_count) & (titled < world.track_count)
    count = int(normal.sum())
    detour, unreachable = _reach(world)
    covers, strangers = _similarities(world)

    def share(flags: Flags) -> float:
        """Return the number of such videos against those at normal speed."""
        return float(flags.sum()) / max(1, count)

    return Hardness(
        normal_speed_works=count,
        median_per_track=float(np.median(np.bincount(score[normal], minlength=world.track_count))),
        other_id_share=share(normal & (kind != SoundKind.MAIN)),
        voice_over_share=share(normal & (kind == SoundKind.VOICE_OVER)),
        unhinted_share=share(normal & (works.named_score != score)),
        detour_share=detour,
        unreachable_share=unreachable,
        variant_ratio=share(public & is_track & (kind > LAST_CARRYING) & (kind <= LAST_VARIANT)),
        cover_ratio=share(public & is_track & (kind > LAST_VARIANT) & (kind <= LAST_COVER)),
        same_title_ratio=share(namesake),
        wrong_hint_share=_wrong_hints(world, kind, score),
        hidden_share=float((~public).mean()),
        misnamed_share=share(normal & _misnamed(works)),
        nearest_cover=max(covers, default=0.0),
        typical_cover=float(np.median(covers)) if covers else 0.0,
        nearest_stranger=max(strangers, default=0.0),
    )


def _misnamed(works: VideoTable) -> Flags:
    altered = (works.alteration != Alteration.NONE) & (works.alteration != Alteration.VOICED_OVER)
    return np.asarray(altered | works.is_silent, dtype=np.bool_)


def _wrong_hints(world: SandboxWorld, kind: Ints, score: Ints) -> float:
    named = world.works.named_score
    hinted = named >= 0
    is_wrong = hinted & ((named != score) | (kind > LAST_VARIANT))
    return float(is_wrong.sum()) / max(1, int(hinted.sum()))


def _reach(world: SandboxWorld) -> tuple[float, float]:
    """Return the shares of wanted videos with only a longer path, and with none (sampled)."""
    wanted = found = detours = 0
    for sound in _sampled(world):
        truth = GroundTruth(world, sound.music_id)
        reached = truth.reachable_round_by_row()
        wanted += len(truth.wanted_rows())
        found += len(reached)
        detours += sum(number > 1 for number in reached.values())
    return detours / max(1, wanted), 1 - found / max(1, wanted)


def _sampled(world: SandboxWorld) -> list[SandboxSound]:
    rng = stream(world.seed, "hardness")
    chosen = rng.permutation(world.track_count)[:_SAMPLED_TRACKS]
    return [world.tracks[int(index)] for index in sorted(chosen)]


def _similarities(world: SandboxWorld) -> tuple[list[float], list[float]]:
    """Return chroma correlations of some synchronous covers, and of pairs of tracks."""
    rows = np.flatnonzero(world.sounds.kind == SoundKind.COVER_SYNC)
    rng = stream(world.seed, "likeness")
    covers = [world.sounds.row(int(row)) for row in rng.permutation(rows)[:_SAMPLED_SOUNDS]]
    bases = {cover.score: play_base(world.seed, cover.score) for cover in covers}
    near = []
    for cover in covers:
        begin = int(cover.start_s * RATE)
        played = play_cover(world.seed, cover)[: int(_HEARD_S * RATE)]
        near.append(chroma_correlation(bases[cover.score][begin : begin + played.size], played))
    cut = [base[: int(_HEARD_S * RATE)] for base in bases.values()]
    far = [chroma_correlation(cut[0], other) for other in cut[1:]]
    return near, far


_WINDOW = 4096
_HOP = 2048
_LOWEST_HZ, _HIGHEST_HZ = 80.0, 2500.0
_LAGS = 40  # frames of 46 ms


def chroma(x: Samples) -> NDArray[np.float64]:
    """Pitch-class energies over time, centred: shape (frames, 12)."""
    frames = np.lib.stride_tricks.sliding_window_view(x, _WINDOW)[::_HOP]
    spectrum = np.abs(scipy.fft.rfft(frames * np.hanning(_WINDOW).astype(np.float32), axis=1))
    hz = np.fft.rfftfreq(_WINDOW, 1 / RATE)
    kept = (hz >= _LOWEST_HZ) & (hz <= _HIGHEST_HZ)
    classes = np.round(12 * np.log2(hz[kept] / 440.0)).astype(np.int64) % 12
    folded = np.zeros((frames.shape[0], 12))
    for number in range(12):
        folded[:, number] = np.log1p(spectrum[:, kept][:, classes == number]).sum(axis=1)
    folded -= folded.mean(axis=0)
    return folded - folded.mean(axis=1, keepdims=True)


def chroma_correlation(x: Samples, y: Samples) -> float:
    """Return the best correlation of two chroma sequences over small shifts, -1 to 1."""
    a, b = chroma(x), chroma(y)
    return max(_correlation(a, b, lag) for lag in range(-_LAGS, _LAGS + 1))


def _correlation(a: NDArray[np.float64], b: NDArray[np.float64], lag: int) -> float:
    a = a[max(0, lag) :]
    b = b[max(0, -lag) :]
    size = min(len(a), len(b))
    if size < 2 * _LAGS:
        return -1.0
    a, b = a[:size], b[:size]
    norm = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / norm if norm else 0.0
