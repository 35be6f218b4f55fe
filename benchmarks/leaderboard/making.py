"""Makes the files of queries: cuts, edits and joins pieces, and encodes them.

A file that is there is not made again. Not here: what is done to which piece (`levels.py`).
"""

import hashlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import scipy.signal
from numpy.random import Generator

from benchmarks.accuracy.sounds.filters import by_ffmpeg
from benchmarks.accuracy.sounds.making import write_clip
from benchmarks.accuracy.sounds.transforms import STEPS
from benchmarks.accuracy.sounds.voices import crowd, pink
from benchmarks.leaderboard.levels import Piece, PlacedPiece, Query
from benchmarks.speed.running import counted
from sandbox.world.random_streams import stream
from sandbox.world.sound.instruments import RATE, Samples
from tests.data.audio.synthesis import normal

type Recordings = Callable[[str], Samples]
"""The sound of a recording by its name: mono float32 at `RATE`."""

QUERY_KBIT_S, REFERENCE_KBIT_S = 128, 192
REVERB_S = 2.5
_ROUND = "1"
"""Raised when the same query would sound otherwise: files of other rounds are left alone."""
_PULSE_S = 1.0
_PEAK = 0.97


def make_queries(
    queries: Sequence[Query], recordings: Recordings, folder: Path, *, workers: int
) -> dict[str, Path]:
    """Make the files that are missing; return the files by the names of the queries."""
    drawn = hashlib.sha256(repr(queries).encode()).hexdigest()[:12]
    folder = folder / f"queries-{_ROUND}-{drawn}"
    folder.mkdir(parents=True, exist_ok=True)
    files = {query.name: folder / f"{query.name}.mp3" for query in queries}

    def make(query: Query) -> None:
        sounds = [piece_sound(placed.piece, recordings) for placed in query.pieces]
        _write(files[query.name], join(sounds, query.pieces), QUERY_KBIT_S)

    missing = [query for query in queries if not files[query.name].exists()]
    with ThreadPoolExecutor(workers) as pool:
        made = pool.map(make, missing)
        list(counted(made, what="making queries", total=len(missing)))
    return files


def write_references(names: Sequence[str], recordings: Recordings, folder: Path) -> dict[str, Path]:
    """Write the references that are missing; return the files by name."""
    folder = folder / f"references-{_ROUND}"
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: folder / f"{name}.mp3" for name in names}
    missing = [name for name in names if not files[name].exists()]
    for name in counted(missing, what="writing references", total=len(missing)):
        _write(files[name], recordings(name), REFERENCE_KBIT_S)
    return files


def piece_sound(piece: Piece, recordings: Recordings) -> Samples:
    """Return a piece with its edit and its noise, exactly as long as the piece says."""
    begin, size = round(piece.start_s * RATE), round(piece.length_s * RATE)
    rng = stream(begin, f"leaderboard {piece.recording}", size)
    edited = _edited(_levelled(recordings(piece.recording)[begin : begin + size]), piece, rng)
    out = np.zeros(round(piece.heard_s * RATE), dtype=np.float32)
    shared = min(out.size, edited.size)  # a filter may end some milliseconds early or late
    out[:shared] = _levelled(edited)[:shared]
    if piece.noise != "no noise":
        out += np.float32(10 ** (-piece.snr_db / 20)) * _noise(piece, out.size, rng)
    return out


def join(sounds: Sequence[Samples], pieces: Sequence[PlacedPiece]) -> Samples:
    """Mix the pieces at their places; a crossfade is as long as two pieces overlap."""
    begins = [round(placed.query_s * RATE) for placed in pieces]
    length = max(begin + sound.size for begin, sound in zip(begins, sounds, strict=True))
    out = np.zeros(length, dtype=np.float32)
    end = 0
    for begin, placed, sound in zip(begins, pieces, sounds, strict=True):
        shared = max(0, end - begin)
        rising = np.ones(sound.size, dtype=np.float32)
        if placed.joint == "crossfade":
            rising[:shared] = np.linspace(0, 1, shared)
            out[begin:end] *= 1 - rising[:shared]
        end = begin + sound.size
        out[begin:end] += rising * sound
    return out


def _levelled(x: Samples) -> Samples:
    return normal(x) if x.any() else x


def _edited(x: Samples, piece: Piece, rng: Generator) -> Samples:
    if piece.edit == "unedited":
        return x
    if piece.edit == "reverb":
        return STEPS["reverb"](x, REVERB_S, rng)
    if piece.edit == "echo":
        decay = round(float(rng.uniform(0.3, 0.6)), 1)
        return by_ffmpeg(x, f"aecho=0.8:{1 / (0.8 + decay):.2f}:{piece.value:.0f}:{decay}")
    chains = {
        "high-pass": f"highpass=f={piece.value:.0f}",
        "low-pass": f"lowpass=f={piece.value:.0f}",
        "pitch": f"rubberband=pitch={piece.value:.6f}",
        "tempo": f"rubberband=tempo={piece.value:.6f}",
        "speed": f"rubberband=tempo={piece.value:.6f}:pitch={piece.value:.6f}",
    }
    return by_ffmpeg(x, chains[piece.edit])


def _noise(piece: Piece, samples: int, rng: Generator) -> Samples:
    if piece.noise == "crowd":
        bed = crowd(int(rng.integers(100)))
        return normal(np.resize(np.roll(bed, int(rng.integers(bed.size))), samples))
    noise = _coloured(samples, rng)
    if piece.noise == "pulsating noise":
        noise = noise * (np.arange(samples) // round(_PULSE_S * RATE) % 2 == 0)
    return noise


def _coloured(samples: int, rng: Generator) -> Samples:
    """White, pink or brown noise."""
    colour = int(rng.integers(3))
    if colour == 1:
        return pink(rng, samples)
    white = rng.standard_normal(samples)
    if colour == 2:  # filtered, because a plain sum of white noise drifts away
        white = scipy.signal.lfilter([1.0], [1.0, -0.999], white)
    return normal(white.astype(np.float32))


def _write(path: Path, samples: Samples, kbit_s: int) -> None:
    loudest = max(1.0, float(np.abs(samples).max()) / _PEAK)
    half = path.with_stem(f"{path.stem}.{os.getpid()}")
    write_clip(half, samples / np.float32(loudest), kbit_s=kbit_s, is_stereo=True)
    half.replace(path)
