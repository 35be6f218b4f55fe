"""Makes the files: plays recordings, does to them what their clips say, encodes them.

One process makes all clips of a track, because they share its recordings. A file that is there is
not made again. Not here: which clips there are (`clips.py`).
"""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import av
import numpy as np

from benchmarks.accuracy.sounds.clips import Clip, clips_of
from benchmarks.accuracy.sounds.studio import Work, play_work
from benchmarks.accuracy.sounds.tracks import Sources, Track
from benchmarks.accuracy.sounds.transforms import apply, spoken
from benchmarks.speed.running import counted
from sandbox.world.random_streams import stream
from sandbox.world.sound.instruments import RATE, Samples
from tests.data.audio.synthesis import normal

ROUND = "1"
"""Raised when the same clip would sound otherwise: files of other rounds are left alone."""
_PEAK = 0.97
_MAKING = "making the clips of tracks"


type Plan = Callable[[Track], list[Clip]]
"""All clips of a track; a function of a module, because other processes are sent its name."""


def make_clips(
    tracks: list[Track],
    sources: Sources,
    folder: Path,
    *,
    processes: int,
    plan: Plan = clips_of,
    name: str = f"clips-{ROUND}",
) -> Path:
    """Make what is missing.

    Returns:
        The folder that `Clip.file` is below.
    """
    clips = folder / f"{name}-{sources.label}"
    todo = [track for track in tracks if _missing(plan(track), clips)]
    jobs = [(track, sources, clips, plan) for track in todo]
    if processes <= 1 or len(jobs) <= 1:
        for job in counted(jobs, what=_MAKING, total=len(jobs)):
            make_track(*job)
        return clips
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        made = pool.map(make_track, *zip(*jobs, strict=True))
        list(counted(made, what=_MAKING, total=len(jobs)))
    return clips


def make_track(track: Track, sources: Sources, folder: Path, plan: Plan) -> None:
    """All clips of one track that are not there yet."""
    works: dict[Work, Samples] = {}
    for clip in _missing(plan(track), folder):
        if clip.work is not None and clip.work not in works:
            works[clip.work] = play_work(track, clip.work, sources)
        samples = _sound(track, clip, works, sources)
        path = folder / clip.file
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_stem(f"{path.stem}.{os.getpid()}")
        write_clip(half, samples, kbit_s=clip.kbit_s, is_stereo=clip.is_stereo)
        half.replace(path)


_FORMATS = {
    ".m4a": ("mp4", "aac", RATE, {"aac_coder": "fast"}),  # else encoding costs most of all
    ".mp3": ("mp3", "libmp3lame", RATE, {}),
    ".ogg": ("ogg", "libopus", 48_000, {}),
}


def write_clip(path: Path, samples: Samples, *, kbit_s: int, is_stereo: bool) -> None:
    """AAC in MP4, MP3 or Opus, by the ending. Samples of shape (2, n) are left and right."""
    layout = "stereo" if is_stereo or samples.ndim > 1 else "mono"
    form, codec, rate, options = _FORMATS[path.suffix]
    with av.open(str(path), "w", format=form) as file:
        stream = file.add_stream(codec, rate=rate, layout=layout, options=options)
        assert isinstance(stream, av.AudioStream)
        stream.bit_rate = 1000 * kbit_s
        planes = np.asarray(samples, dtype=np.float32)
        if samples.ndim == 1:
            planes = np.tile(planes, (2 if is_stereo else 1, 1))
        frame = av.AudioFrame.from_ndarray(planes, format="fltp", layout=layout)
        frame.sample_rate, frame.pts = RATE, 0
        for piece in _at_rate(frame, rate):
            file.mux(stream.encode(piece))
        file.mux(stream.encode(None))


def _at_rate(frame: av.AudioFrame, rate: int) -> list[av.AudioFrame]:
    if rate == RATE:
        return [frame]
    resampler = av.AudioResampler(format="flt", layout=frame.layout, rate=rate, frame_size=960)
    return [*resampler.resample(frame), *resampler.resample(None)]


def _missing(clips: Iterable[Clip], folder: Path) -> Iterable[Clip]:
    return [clip for clip in clips if not (folder / clip.file).exists()]


def _sound(track: Track, clip: Clip, works: dict[Work, Samples], sources: Sources) -> Samples:
    rng = stream(track.seed, f"bench sound {clip.name}", track.score)
    piece: Samples = np.full(int(clip.length_s * RATE), 1e-5, dtype=np.float32)
    if clip.work is not None:
        begin = int(clip.start_s * RATE)
        piece = normal(works[clip.work][..., begin : begin + piece.size])
    if clip.steps and clip.steps[0][0].startswith("same voice"):
        # the same take for everybody, so it is drawn from its number alone
        step, number = clip.steps[0]
        voice = spoken(step, stream(1, "bench narration", int(number)), 28.0, sources)
        return _safe(normal(piece) + normal(voice[: piece.size]))
    return _safe(apply(piece, clip.steps, rng, sources=sources))


def _safe(samples: Samples) -> Samples:
    """At a usual loudness, and never over full scale."""
    if clipped := max(1.0, float(np.abs(samples).max()) / _PEAK):
        samples = samples / np.float32(clipped)
    return samples
