"""Figures of listening: processor time of one new clip and of one compared pair, in one process."""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.speed.running import RowOutput, Workspace
from pipelines.audio.decode.decoding import decode_sound
from pipelines.audio.decode.protocol import DecodeLimits
from pipelines.audio.features.measurement import measure_features
from pipelines.audio.features.sound_features import Features
from pipelines.audio.features.sounds import MeasuredSound, library_version
from pipelines.audio.matching.verify import compare_pair, warm_up
from tests.data.audio import synthesis
from warehouse.records.evidence import MatchThresholds

CLIPS = 6


def measure_audio(space: Workspace) -> Iterator[RowOutput]:
    """Decode, features, and a pair at normal speed, with cached features."""
    yield f"compiling, and making {CLIPS} clips"
    warm_up()
    limits = DecodeLimits()
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{seed}.m4a" for seed in range(CLIPS)]
        for seed, file in enumerate(files):
            synthesis.write_sound(file, synthesis.track(seed))
        decodes = [_cpu_ms(lambda file=file: decode_sound(file, limits)) for file in files * 2]  # type: ignore[misc]  # bound at once
        decoded = [decode_sound(file, limits) for file in files]
    yield "decode a 21 s AAC clip, CPU median", _ms(decodes), "17 ms is AAC alone"
    measures = [
        _cpu_ms(lambda one=one: measure_features(one.samples, one.rate))  # type: ignore[misc]  # bound at once
        for one in decoded * 2
    ]
    yield "its features, CPU median", _ms(measures), ""
    yield "decode and features together", _ms(decodes, measures), "70 ms"
    sounds = [_sound(measure_features(one.samples, one.rate)) for one in decoded]
    both = [(a, b) for a in sounds for b in sounds] * 2  # the first round fills what is kept
    pairs = [
        _cpu_ms(partial(compare_pair, a, b, limits=MatchThresholds(), search=False))
        for a, b in both
    ]
    yield "compare a cached pair as heard, CPU median", _ms(pairs), "1.5 ms"
    searched = [_cpu_ms(partial(compare_pair, a, b, limits=MatchThresholds())) for a, b in both]
    yield "the same with the search for variants, CPU median", _ms(searched), "15 ms"


def _sound(features: Features) -> MeasuredSound:
    return MeasuredSound(
        sha256="0" * 64,
        features=features,
        duration_s=21.0,
        sample_rate_hz=44_100,
        codec="aac",
        library_version=library_version(),
    )


def _cpu_ms(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return (time.process_time() - began) * 1000


def _ms(*series: list[float]) -> str:
    return f"{sum(statistics.median(one) for one in series):.2f} ms"
