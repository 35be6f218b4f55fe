"""A small band for tests: scores, instruments, speech and the things that happen to sound.

Deterministic by seed. Samples are mono float32 at 44.1 kHz unless a rate is given.
"""

from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

RATE = 44_100
type Samples = NDArray[np.float32]
_QUICK = {"aac": {"aac_coder": "fast"}, "libmp3lame": {"compression_level": "9"}}
"""Options of encoders that take half the time and sound a little worse."""
_SCALES = ((0, 2, 4, 5, 7, 9, 11), (0, 2, 3, 5, 7, 8, 10), (0, 2, 3, 5, 7, 9, 10))


@dataclass(frozen=True)
class Note:
    at_s: float
    length_s: float
    pitch: float
    part: int
    loudness: float


@dataclass(frozen=True)
class Instrument:
    partials: tuple[float, ...]
    attack_s: float
    decay_s: float
    vibrato_hz: float
    vibrato_cents: float
    detune_cents: float


def compose(seed: int, *, seconds: float = 24.0) -> list[Note]:
    """Chords, bass, melody and drums (parts 0 to 3) in a key and tempo of the seed's own."""
    rng = np.random.default_rng(seed)
    beat = 60.0 / rng.uniform(72, 150)
    root = 48 + int(rng.integers(12))
    scale = _SCALES[rng.integers(len(_SCALES))]
    degrees = rng.integers(0, 7, size=8)
    drums = rng.random((4, 8)) < np.array([[0.35], [0.25], [0.6], [0.15]])
    notes: list[Note] = []

    def pitch(degree: int) -> int:
        return root + 12 * (degree // 7) + scale[degree % 7]

    for bar in range(int(seconds / (4 * beat)) + 1):
        start = bar * 4 * beat
        degree = int(degrees[bar % 8])
        notes += [Note(start, 3.8 * beat, pitch(degree + third), 0, 0.5) for third in (0, 2, 4)]
        notes += [
            Note(start + 2 * half * beat, 1.7 * beat, pitch(degree) - 12, 1, 0.9)
            for half in range(2)
        ]
        notes += _melody(start, beat, [pitch(degree + step) for step in range(5, 13)], rng)
        notes += [
            Note(start + eighth * beat / 2, 0.2, 36 + kind, 3, 0.7)
            for kind in range(4)
            for eighth in np.flatnonzero(drums[kind])
        ]
    return notes


def _melody(
    start_s: float, beat: float, pitches: list[int], rng: np.random.Generator
) -> list[Note]:
    """One bar of melody, played a few milliseconds before or after the beat."""
    notes = []
    place = 0.0
    while place < 4:
        length = float(rng.choice([0.5, 0.5, 1.0, 1.5]))
        at_s = start_s + place * beat + float(rng.normal(0, 0.006))
        pitch = pitches[rng.integers(len(pitches))]
        if rng.random() < 0.8:
            notes.append(Note(max(0.0, at_s), 0.9 * length * beat, pitch, 2, rng.uniform(0.5, 1)))
        place += length
    return notes


def choose_instruments(seed: int) -> list[Instrument]:
    """Three tuned instruments of the seed's own."""
    rng = np.random.default_rng(seed + 7_777)
    return [
        Instrument(
            partials=tuple(
                rng.uniform(0.1, 1.0, size=10) / np.arange(1, 11) ** rng.uniform(0.5, 1.6)
            ),
            attack_s=float(rng.uniform(0.005, 0.08)),
            decay_s=float(rng.uniform(0.25, 2.0)),
            vibrato_hz=float(rng.uniform(4, 6.5)),
            vibrato_cents=float(rng.uniform(0, 12)),
            detune_cents=float(rng.uniform(-8, 8)),
        )
        for _ in range(3)
    ]


def render(
    notes: list[Note], instruments: list[Instrument], *, seconds: float, seed: int
) -> Samples:
    """Play a score."""
    out = np.zeros(int((seconds + 6) * RATE), dtype=np.float32)
    rng = np.random.default_rng(seed + 31)
    for note in notes:
        if note.at_s >= seconds:
            continue
        sound = _drum(note, rng) if note.part == 3 else _tone(note, instruments[note.part], rng)
        first = int(note.at_s * RATE)
        out[first : first + len(sound)] += sound[: len(out) - first]
    return normal(out[: int(seconds * RATE)])


def track(seed: int, *, seconds: float = 21.0, band: int | None = None) -> Samples:
    """The recording of a seed; another `band` plays the same score as a cover."""
    chosen = seed if band is None else band
    return render(
        compose(seed, seconds=seconds), choose_instruments(chosen), seconds=seconds, seed=chosen
    )


def _tone(note: Note, instrument: Instrument, rng: np.random.Generator) -> Samples:
    time = np.arange(int((note.length_s + 0.15) * RATE), dtype=np.float32) / RATE
    cents = instrument.detune_cents + instrument.vibrato_cents * np.sin(
        2 * np.pi * instrument.vibrato_hz * time + rng.uniform(0, 6.28)
    )
    hertz = 440 * 2 ** ((note.pitch - 69) / 12) * 2 ** (cents / 1200)
    phase = 2 * np.pi * np.cumsum(hertz) / RATE
    sound = np.zeros_like(time)
    for order, strength in enumerate(instrument.partials, start=1):
        if order * hertz[0] < 12_000:
            sound += strength * np.sin(order * phase + rng.uniform(0, 6.28))
    shape = np.minimum(1, time / instrument.attack_s) * np.exp(-time / instrument.decay_s)
    shape *= np.clip((note.length_s + 0.15 - time) / 0.15, 0, 1)
    return np.asarray(note.loudness * sound * shape, dtype=np.float32)


def _drum(note: Note, rng: np.random.Generator) -> Samples:
    time = np.arange(int(0.25 * RATE)) / RATE
    kind = int(note.pitch) - 36
    if kind == 0:
        sound = np.sin(2 * np.pi * (50 * time + 6 * (1 - np.exp(-time * 30)))) * np.exp(-time * 14)
    else:
        noise = rng.standard_normal(len(time))
        if kind > 1:
            noise = np.diff(noise, prepend=0.0)
        sound = noise * np.exp(-time * (18, 60, 25)[kind - 1])
    return np.asarray(note.loudness * sound, dtype=np.float32)


def speech(seed: int, *, seconds: float = 21.0) -> Samples:
    """Something like a voice: gliding pitch, formants, syllables, consonants, pauses."""
    rng = np.random.default_rng(seed + 99)
    count = int(seconds * RATE)
    syllables = int(seconds * 4.5)
    base = rng.uniform(95, 230)
    knots = np.linspace(0, count, syllables + 1)
    places = np.arange(count)
    pitch = np.interp(places, knots, base * 2 ** rng.normal(0, 0.18, syllables + 1))
    loud = np.interp(
        places,
        np.linspace(0, count, 2 * syllables + 1),
        np.tile([0.15, 1.0], syllables + 1)[: 2 * syllables + 1],
    )
    loud *= np.repeat(rng.random(syllables + 1) > 0.18, count // syllables + 1)[:count]
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    formants = [
        np.interp(places, knots, rng.uniform(low, high, syllables + 1))
        for low, high in ((300, 800), (900, 2200), (2300, 3000))
    ]
    out = np.zeros(count)
    for order in range(1, 28):
        hertz = order * pitch
        gain = sum(np.exp(-(((hertz - formant) / 140) ** 2)) for formant in formants) + 0.02
        out += gain * np.sin(order * phase)
    hiss = np.diff(rng.standard_normal(count), prepend=0.0)
    out = out * loud + 0.05 * hiss * np.roll(loud, RATE // 9)
    return normal(out)


def normal(sound: NDArray[np.floating]) -> Samples:
    """Scale to an RMS of 0.1."""
    return np.asarray(0.1 * sound / np.sqrt(np.mean(np.square(sound))), dtype=np.float32)


def mix(music: Samples, other: Samples, *, other_db: float) -> Samples:
    """Add `other` at a level relative to the music."""
    count = min(len(music), len(other))
    return normal(normal(music[:count]) + 10 ** (other_db / 20) * normal(other[:count]))


def equalise(sound: Samples, *, low_db: float, high_db: float) -> Samples:
    """Tilt the spectrum from `low_db` at 100 Hz to `high_db` at 8 kHz."""
    spectrum = np.fft.rfft(sound)
    hertz = np.fft.rfftfreq(len(sound), 1 / RATE)
    gain = np.interp(np.log2(np.maximum(hertz, 20)), np.log2([100, 8000]), [low_db, high_db])
    return normal(np.fft.irfft(spectrum * 10 ** (gain / 20), len(sound)))


def resampled(sound: Samples, speed: float) -> Samples:
    """Play faster or slower, pitch and all."""
    places = np.arange(int(len(sound) / speed)) * speed
    return np.asarray(np.interp(places, np.arange(len(sound)), sound), dtype=np.float32)


def write_sound(
    path: Path,
    samples: Samples,
    *,
    rate: int = RATE,
    bit_rate: int = 64_000,
    channels: int = 1,
    quick: bool = False,
) -> Path:
    """Encode by the ending of the path: m4a and mp4 (AAC), mp3, flac, wav, ogg and webm (Opus)."""
    codec = {
        ".m4a": "aac",
        ".mp4": "aac",
        ".mp3": "libmp3lame",
        ".flac": "flac",
        ".wav": "pcm_s16le",
        ".ogg": "libopus",
        ".webm": "libopus",
        ".aac": "aac",
        ".mkv": "aac",
    }[path.suffix]
    layout = "stereo" if channels == 2 else "mono"
    with av.open(str(path), "w") as container:
        options = _QUICK.get(codec, {}) if quick else {}
        stream = container.add_stream(codec, rate=rate, options=options, layout=layout)
        assert isinstance(stream, av.AudioStream)
        if codec not in {"flac", "pcm_s16le"}:
            stream.bit_rate = bit_rate
        planes = np.clip(np.tile(samples, (channels, 1)), -1, 1).astype(np.float32)
        frame = av.AudioFrame.from_ndarray(planes, format="fltp", layout=layout)
        frame.sample_rate = rate
        frame.pts = 0
        resampler = av.AudioResampler(
            format=stream.format.name,
            layout=layout,
            rate=rate,
            frame_size=stream.codec_context.frame_size or 1024,
        )
        for part in [*resampler.resample(frame), *resampler.resample(None)]:
            container.mux(stream.encode(part))
        container.mux(stream.encode(None))
    return path


def noise(seed: int, *, seconds: float = 21.0) -> Samples:
    """White noise."""
    return normal(np.random.default_rng(seed).standard_normal(int(seconds * RATE)))


def low_passed(sound: Samples, top_hz: float) -> Samples:
    """Remove everything above `top_hz`, so that a lower rate can hold it."""
    spectrum = np.fft.rfft(sound)
    spectrum[np.fft.rfftfreq(len(sound), 1 / RATE) > top_hz] = 0
    return normal(np.fft.irfft(spectrum, len(sound)))


def reverberated(sound: Samples, seconds: float) -> Samples:
    """In a room that takes `seconds` to fall by 60 dB, as much room as direct sound."""
    count = int(seconds * RATE)
    room = np.random.default_rng(0).standard_normal(count) * np.exp(-6.9 * np.arange(count) / count)
    size = len(sound) + count
    wet = np.fft.irfft(np.fft.rfft(sound, size) * np.fft.rfft(room, size), size)[: len(sound)]
    return normal(normal(sound) + normal(wet))


def stretched(sound: Samples, tempo: float) -> Samples:
    """Play at another tempo and the same pitch, with a phase vocoder."""
    size, hop = 2048, 512
    window = np.hanning(size)
    places = np.arange(0, len(sound) - size - hop, hop * tempo).astype(int)
    turn = np.exp(2j * np.pi * np.arange(size // 2 + 1) * hop / size)
    out = np.zeros(len(places) * hop + size)
    phase = np.ones(size // 2 + 1, dtype=complex)
    for number, place in enumerate(places):
        now = np.fft.rfft(window * sound[place : place + size])
        later = np.fft.rfft(window * sound[place + hop : place + hop + size])
        out[number * hop : number * hop + size] += window * np.fft.irfft(np.abs(now) * phase)
        step = later * np.conj(now)
        phase = phase * step / np.maximum(np.abs(step), 1e-12)
        phase = np.where(np.abs(phase) < 0.5, turn, phase)
    return normal(out)
