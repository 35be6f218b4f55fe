"""What happens to recordings between a studio and a video: arrays in, arrays out, by name.

A step is a name and a number; `STEPS` says what it does. Mono float32 at `RATE` throughout.
"""

from collections.abc import Callable

import av
import numpy as np
import scipy.fft
from av.filter import Graph
from numpy.random import Generator
from scipy.signal import butter, sosfilt

from benchmarks.accuracy.sounds import edits, filters
from benchmarks.accuracy.sounds.tracks import Part, Sources
from benchmarks.accuracy.sounds.voices import by_person, crowd, narrate, pink
from sandbox.world.sound import effects
from sandbox.world.sound.arrangement import Player, arrange
from sandbox.world.sound.composition import compose
from sandbox.world.sound.instruments import RATE, Samples
from tests.data.audio.synthesis import normal

Step = tuple[str, float]
SHARED_LEVELS_DB = (10, 5, 0)
"""How far music lies over a crowd that several tracks share."""
SPOKEN_BY: dict[Part, str] = {
    "choosing": "voice of a person", "reported": "voice of another person",
}  # fmt: skip
"""Steps that lay a real voice over the sound; the people of one part are not in the other."""
_BITS = 2**9


def apply(
    samples: Samples, steps: tuple[Step, ...], rng: Generator, *, sources: Sources
) -> Samples:
    """All steps in order."""
    for name, value in steps:
        if name in {"voice", *SPOKEN_BY.values()}:
            voice = spoken(name, rng, samples.size / RATE + 0.1, sources)
            samples = effects.mixed(samples, voice, voice_db=value)
        elif name.startswith("late"):
            samples = _late(samples, name, value, rng, sources)
        else:
            samples = STEPS[name](samples, value, rng)
    return samples


def spoken(step: str, rng: Generator, length_s: float, sources: Sources) -> Samples:
    """Somebody talks: by synthesis, or one of the people whom the step names."""
    for part, by_people in SPOKEN_BY.items():
        if by_people in step:
            return by_person(rng, part=part, length_s=length_s, sources=sources)
    return narrate(rng, length_s=length_s, has_espeak=sources.has_espeak)


def sped(x: Samples, factor: float) -> Samples:
    """Played `factor` times as fast, pitch and all, by band-limited resampling."""
    size = scipy.fft.next_fast_len(x.size, real=True)
    wanted = round(size / factor)
    spectrum = scipy.fft.rfft(x, size)[: wanted // 2 + 1]
    out = scipy.fft.irfft(spectrum, wanted) * (wanted / size)
    return np.asarray(out[: int(x.size / factor)], dtype=np.float32)


def stretched(x: Samples, tempo: float) -> Samples:
    """Played `tempo` times as fast at the same pitch, by the filter that editing tools use."""
    graph = Graph()
    source = graph.add_abuffer(
        sample_rate=RATE, format="flt", layout="mono", time_base=av.AudioFrame().time_base
    )
    change, sink = graph.add("atempo", f"{tempo:.6f}"), graph.add("abuffersink")
    source.link_to(change)
    change.link_to(sink)
    graph.configure()
    frame = av.AudioFrame.from_ndarray(
        np.ascontiguousarray(x[None, :]), format="flt", layout="mono"
    )
    frame.sample_rate, frame.pts = RATE, 0
    source.push(frame)
    source.push(None)
    pieces = []
    while True:
        try:
            heard = sink.pull()
            assert isinstance(heard, av.AudioFrame)
            pieces.append(heard.to_ndarray().ravel())
        except (av.EOFError, av.BlockingIOError):
            return np.concatenate(pieces).astype(np.float32)


def _mixed(x: Samples, other: Samples, level_db: float) -> Samples:
    return normal(normal(x) + 10 ** (level_db / 20) * normal(other[: x.size]))


def _in_crowd(x: Samples, snr_db: float, rng: Generator) -> Samples:
    bed = np.roll(crowd(int(rng.integers(100))), int(rng.integers(40 * RATE)))
    return _mixed(x, bed, -snr_db)


def _in_noise(x: Samples, snr_db: float, rng: Generator) -> Samples:
    return _mixed(x, pink(rng, x.size), -snr_db)


def _pitched(x: Samples, semitones: float, rng: Generator) -> Samples:
    del rng
    ratio = 2 ** (semitones / 12)
    return sped(stretched(x, 1 / ratio), ratio)


def _lofi(x: Samples, value: float, rng: Generator) -> Samples:
    """Nine bits at 11 kHz with hiss, as old machines sound."""
    del value
    dull = sosfilt(butter(4, 5000, fs=RATE, output="sos"), normal(x))
    rough = np.round(np.tanh(3 * dull) * _BITS) / _BITS
    return _mixed(np.asarray(rough, dtype=np.float32), pink(rng, x.size), -26)


def _phone(x: Samples, value: float, rng: Generator) -> Samples:
    """Out of a phone's loudspeaker: a narrow band, overdriven."""
    del value
    low, high = rng.uniform(280, 420), rng.uniform(3200, 4200)
    band = sosfilt(butter(3, (low, high), "bandpass", fs=RATE, output="sos"), normal(x))
    return _mixed(np.tanh(6 * np.asarray(band, dtype=np.float32)), pink(rng, x.size), -30)


def _bass(x: Samples, value: float, rng: Generator) -> Samples:
    """Boosted by `value` dB under 150 Hz and overdriven."""
    del rng
    low = sosfilt(butter(2, 150, fs=RATE, output="sos"), x)
    loud = normal(x + (10 ** (value / 20) - 1) * low)
    return normal(np.tanh(4 * loud))


def _reverb(x: Samples, seconds: float, rng: Generator) -> Samples:
    """In a room that takes `seconds` to fall by 60 dB, as much room as direct sound."""
    count = int(seconds * RATE)
    room = rng.standard_normal(count) * 10 ** (-3 * np.arange(count) / count)
    size = scipy.fft.next_fast_len(x.size + count, real=True)
    wet = scipy.fft.irfft(scipy.fft.rfft(x, size) * scipy.fft.rfft(room, size), size)[: x.size]
    return normal(normal(x) + normal(wet))


def _late(x: Samples, step: str, by_voice: float, rng: Generator, sources: Sources) -> Samples:
    lead_s = float(rng.uniform(2.0, 6.0))
    lead: Samples = np.zeros(int(lead_s * RATE), dtype=np.float32)
    if by_voice:
        lead = spoken(step, rng, lead_s, sources)
    return effects.joined([lead, normal(x)])


def _medley(x: Samples, value: float, rng: Generator) -> Samples:
    """Between two pieces of music that are heard nowhere else."""
    del value
    pieces = []
    for _ in range(2):
        length_s = float(rng.uniform(4.0, 7.0))
        score = compose(rng, length_s=1.3 * length_s)
        player = Player(score, arrange(rng, score), rng=rng, length_s=length_s)
        pieces.append(normal(player.render()))
    return effects.joined([pieces[0], normal(x), pieces[1]])


STEPS: dict[str, Callable[[Samples, float, Generator], Samples]] = {
    "crowd": _in_crowd,
    **{
        f"same crowd {level:+d} dB": lambda x, number, _, level=level: _mixed(  # type: ignore[misc]
            x, crowd(int(number)), -level
        )
        for level in SHARED_LEVELS_DB
    },
    "pink": _in_noise,
    "speed": lambda x, factor, _: sped(x, factor),
    "tempo": lambda x, tempo, _: stretched(x, tempo),
    "pitch": _pitched,
    "lo-fi": _lofi,
    "phone": _phone,
    "bass": _bass,
    "reverb": _reverb,
    "medley": _medley,
    "room": filters.in_room,
    "asetrate": filters.by_asetrate,
    "rubberband tempo": filters.by_rubberband_tempo,
    "rubberband pitch": filters.by_rubberband_pitch,
    "loop": lambda x, seconds, _: np.tile(x[: int(seconds * RATE)], 1 + int(20 // seconds)),
    "clock": edits.with_clock,
    "wow": edits.with_wow,
    "drift": edits.with_drift,
    "resynchronised": edits.resynchronised,
    "variable frames": edits.with_variable_frames,
    "lost blocks": edits.with_lost_blocks,
    "phone in a room": edits.by_phone,
    "inverted channel": edits.with_inverted_channel,
    "dense reverb": edits.in_dense_reverb,
    "low-pass": edits.low_passed,
    "reversed": lambda x, _value, _rng: np.ascontiguousarray(x[::-1]),
}
