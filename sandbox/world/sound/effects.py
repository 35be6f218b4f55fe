"""Audio effects of re-uploads: speed, pitch, tempo, cheap equipment, fades. Arrays in, arrays out.

All signals are mono float32, shape (samples,), at `RATE`.
"""

from collections.abc import Callable

import numpy as np
import scipy.fft
from numpy.random import Generator

from sandbox.world.sound.instruments import RATE, Samples

_FRAME = 2048
_HOP = 512
_SEARCH = 384


def resampled(x: Samples, ratio: float) -> Samples:
    """Played `ratio` times as fast, pitch included: shape (samples / ratio,)."""
    places = np.arange(int(x.size / ratio), dtype=np.float64) * ratio
    return np.interp(places, np.arange(x.size), x).astype(np.float32)


def stretched(x: Samples, tempo: float) -> Samples:
    """Played `tempo` times as fast at the same pitch, by overlapping similar pieces (WSOLA)."""
    window = np.hanning(_FRAME).astype(np.float32)
    count = int((x.size - _FRAME - 2 * _SEARCH) / (_HOP * tempo)) - 1
    out = np.zeros(count * _HOP + _FRAME, dtype=np.float32)
    weight = np.zeros_like(out)
    place = _SEARCH
    for number in range(count):
        target = int(number * _HOP * tempo) + _SEARCH
        if number:
            place = target + _best_shift(x, wanted=place + _HOP, around=target)
        begin = number * _HOP
        out[begin : begin + _FRAME] += window * x[place : place + _FRAME]
        weight[begin : begin + _FRAME] += window
    return (out / np.maximum(weight, 1e-3)).astype(np.float32)


def _best_shift(x: Samples, *, wanted: int, around: int) -> int:
    """Return the offset near `around` where the signal best matches the natural continuation."""
    following = x[wanted : wanted + _FRAME // 2 : 4]
    region = x[around - _SEARCH : around + _SEARCH + _FRAME // 2 : 4]
    if following.size < _FRAME // 8:
        return 0
    score = np.correlate(region, following, mode="valid")
    return int(np.argmax(score)) * 4 - _SEARCH


def pitched(x: Samples, semitones: float) -> Samples:
    """Moved in pitch at the same tempo."""
    ratio = 2 ** (semitones / 12)
    return resampled(stretched(x, 1 / ratio), ratio)


def lofi(x: Samples, rng: Generator) -> Samples:
    """Through a phone speaker, a cheap equaliser or a bass boost, with some noise."""
    kind = int(rng.integers(3))
    if kind == 0:
        x = _lowpassed(_highpassed(x, rng.uniform(180, 350)), rng.uniform(3200, 5000))
    elif kind == 1:
        x = x + rng.uniform(0.8, 1.6) * _lowpassed(x, rng.uniform(150, 300))
    else:
        x = _lowpassed(x, rng.uniform(2600, 4500))
    noise = rng.standard_normal(x.size).astype(np.float32)
    return loud(np.tanh(1.5 * loud(x)) + np.float32(rng.uniform(0.002, 0.012)) * noise)


def coloured(x: Samples, rng: Generator) -> Samples:
    """The slight change of tone and level that every re-upload brings."""
    tilt = float(rng.uniform(-0.25, 0.25))
    smooth = _lowpassed(x, 1200.0)
    return loud(x + tilt * smooth, peak=float(rng.uniform(0.4, 0.95)))


def on_stage(x: Samples, rng: Generator) -> Samples:
    """Simulate a recording from the audience: reverb of the hall, and crowd noise."""
    size = int(rng.uniform(0.5, 0.9) * RATE)
    fading = np.exp(-6.0 * np.arange(size) / size) * rng.standard_normal(size)
    padded = scipy.fft.next_fast_len(x.size + size, real=True)
    hall = scipy.fft.irfft(scipy.fft.rfft(x, padded) * scipy.fft.rfft(fading, padded), padded)
    crowd = _lowpassed(_highpassed(rng.standard_normal(x.size).astype(np.float32), 400.0), 3000.0)
    answer = 0.5 * loud(np.asarray(hall[: x.size], dtype=np.float32))
    return loud(loud(x) + answer + np.float32(rng.uniform(0.03, 0.08)) * crowd)


def _lowpassed(x: Samples, hz: float) -> Samples:
    """Butterworth magnitude of order 2, without delay; scipy.signal takes a second to import."""
    return _shaped(x, lambda at: _butterworth(at, hz))


def _highpassed(x: Samples, hz: float) -> Samples:
    return _shaped(x, lambda at: 1 - _butterworth(at, hz))


def _butterworth(at: Samples, hz: float) -> Samples:
    return np.asarray(1 / np.sqrt(1 + (at / hz) ** 4), dtype=np.float32)


def _shaped(x: Samples, response: Callable[[Samples], Samples]) -> Samples:
    size = scipy.fft.next_fast_len(x.size, real=True)
    at = np.linspace(0, RATE / 2, size // 2 + 1)
    spectrum = scipy.fft.rfft(x, size) * response(at.astype(np.float32))
    return np.asarray(scipy.fft.irfft(spectrum, size)[: x.size], dtype=np.float32)


def loud(x: Samples, *, peak: float = 0.9) -> Samples:
    """Scaled to a peak."""
    return np.asarray(x * (peak / max(1e-6, float(np.abs(x).max()))), dtype=np.float32)


def joined(parts: list[Samples], *, fade_s: float = 0.08) -> Samples:
    """One after the other, with short cross-fades."""
    fade = int(fade_s * RATE)
    out = parts[0].copy()
    ramp = np.linspace(0, 1, fade, dtype=np.float32)
    for part in parts[1:]:
        out[-fade:] = out[-fade:] * (1 - ramp) + part[:fade] * ramp
        out = np.concatenate([out, part[fade:]])
    return out


def mixed(music: Samples, voice: Samples, *, voice_db: float) -> Samples:
    """A voice over music, `voice_db` against the music's level while somebody speaks."""
    spoken = np.abs(voice) > 1e-4  # noqa: PLR2004  # pauses do not count into the level
    voice_rms = float(np.sqrt(np.mean(voice[spoken] ** 2))) if spoken.any() else 1.0
    music_rms = float(np.sqrt(np.mean(music**2)))
    gain = 10 ** (voice_db / 20) * music_rms / max(1e-6, voice_rms)
    return loud(music + gain * voice[: music.size])
