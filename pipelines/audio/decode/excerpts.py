"""Cut a short mono excerpt and re-encode it as MP3, so that users can hear what was compared.

Runs in a decoder process. Re-encoding drops everything but the audio, such as metadata.
"""

import io
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from pipelines.audio.decode.decoding import decode_sound
from pipelines.audio.decode.limits import DecodeLimits

BIT_RATE = 64_000
_FRAME = 1_152  # samples of a frame of MPEG-1 layer III
# Rates of layer III in MPEG-1 and MPEG-2; sounds of other rates are resampled.
_RATES_HZ = frozenset({16_000, 22_050, 24_000, 32_000, 44_100, 48_000})
_USUAL_RATE_HZ = 44_100
_FASTEST = "9"  # a third of the default's time; inaudible at this bit rate


def cut_sound(path: Path, *, start_s: float, duration_s: float, limits: DecodeLimits) -> bytes:
    """Return the excerpt as MP3 bytes; it is shorter if the sound ends earlier.

    Raises:
        DecodeRefusedError: The sound cannot be decoded.
    """
    end_s = min(limits.max_seconds, start_s + duration_s)
    decoded = decode_sound(path, replace(limits, max_seconds=end_s))  # nothing after it is needed
    first, last = round(start_s * decoded.rate), round(end_s * decoded.rate)
    return _encoded(decoded.samples[first:last], decoded.rate)


def _encoded(samples: NDArray[np.float32], rate: int) -> bytes:
    file = io.BytesIO()
    wanted = rate if rate in _RATES_HZ else _USUAL_RATE_HZ
    with av.open(file, "w", format="mp3") as container:
        stream = container.add_stream("libmp3lame", rate=wanted, layout="mono")
        stream.bit_rate = BIT_RATE
        stream.codec_context.options = {"compression_level": _FASTEST}
        stream.codec_context.thread_count = 1
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(samples[None].clip(-1, 1)), format="fltp", layout="mono"
        )
        frame.sample_rate = rate
        resampler = av.AudioResampler(format="fltp", layout="mono", rate=wanted, frame_size=_FRAME)
        for piece in (*resampler.resample(frame), *resampler.resample(None)):
            container.mux(stream.encode(piece))
        container.mux(stream.encode(None))
    return file.getvalue()
