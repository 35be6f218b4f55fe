"""Decode an untrusted media file to mono samples, or to a short excerpt that users can hear.

Runs only in a decoder process: local files only, allow-listed containers and codecs, one thread,
at most `max_seconds`. Every refusal has a stable reason word. Not here: features, processes and
their memory limits (`decoder_process.py`).
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import batched, groupby
from pathlib import Path

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from numpy.typing import NDArray

from pipelines.audio.decode.protocol import DecodeLimits
from pipelines.audio.file_heads import HEAD_BYTES, is_altered
from warehouse.files import file_problem
from warehouse.sound_formats import CODECS, FORMATS

SHORTEST_S = 2.0
_SILENCE_RMS = 10 ** (-60 / 20)
_INVERTED = 1.2  # energy of the channels' difference over that of their sum
_HIGHEST_SAMPLE = np.float32(4.0)  # float files may hold any value; real audio stays below this
_RATES_HZ = range(8_000, 192_001)
_BAD_PACKETS_ALLOWED = 50
_FRAMES_AT_ONCE = 64  # a second and a half of AAC

_BIT_RATE = 64_000  # of excerpts
_MP3_FRAME = 1_152  # samples of a frame of MPEG-1 layer III
# Rates of layer III in MPEG-1 and MPEG-2; sounds of other rates are resampled.
_MP3_RATES_HZ = frozenset({16_000, 22_050, 24_000, 32_000, 44_100, 48_000})
_USUAL_RATE_HZ = 44_100
_FASTEST = "9"  # a third of the default's time; inaudible at this bit rate


class DecodeRefusedError(Exception):
    """The file cannot be decoded; `reason` is a stable word. Never leaves `pipelines.audio`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, eq=False)
class DecodedAudio:
    """Mono samples (n,) float32 without DC offset, their sample rate in Hz and source codec."""

    samples: NDArray[np.float32]
    rate: int
    codec: str


def decode_sound(path: Path, limits: DecodeLimits) -> DecodedAudio:
    """Decode the first audio stream of a local file.

    Returns:
        Mono samples without DC offset: the mean of the channels, or of the first and the others
        inverted where that has clearly more energy.

    Raises:
        DecodeRefusedError: `file_too_large`, `altered_by_host`, `undecodable`,
            `unsupported_format`, `no_sound_stream`, `unsupported_codec`, `unsupported_rate`,
            `too_short`, `silent`, `silent_start`, or a reason of `file_problem`.
    """
    check_file(path, limits)
    with path.open("rb") as file:
        if is_altered(file.read(HEAD_BYTES)):
            raise DecodeRefusedError("altered_by_host")
    try:
        decoded, is_inverted = _decode_stream(path, limits)
        if is_inverted:
            decoded, _ = _decode_stream(path, limits, is_inverted=True)
    except (av.FFmpegError, ValueError, OverflowError, EOFError) as exc:
        raise DecodeRefusedError("undecodable") from exc

    samples = decoded.samples
    if len(samples) < SHORTEST_S * decoded.rate:
        raise DecodeRefusedError("too_short")
    # Outliers, NaN and infinity are rare, so a cheap range check comes first. Comparisons with NaN
    # are false.
    if not (samples.min() >= -_HIGHEST_SAMPLE and samples.max() <= _HIGHEST_SAMPLE):
        finite = np.nan_to_num(samples, nan=0.0, posinf=0.0, neginf=0.0)
        samples = np.clip(finite, -_HIGHEST_SAMPLE, _HIGHEST_SAMPLE)
    samples -= samples.mean()
    if np.sqrt(np.vdot(samples, samples) / len(samples)) < _SILENCE_RMS:
        is_whole = len(samples) < limits.max_seconds * decoded.rate
        raise DecodeRefusedError("silent" if is_whole else "silent_start")
    return DecodedAudio(samples, decoded.rate, decoded.codec)


def check_file(path: Path, limits: DecodeLimits) -> None:
    """Reject a path that names no file, and an empty or oversized file, before reading it.

    Raises:
        DecodeRefusedError: `file_too_large`, or a reason of `file_problem`.
    """
    problem = file_problem(path)
    if problem is not None:
        raise DecodeRefusedError(problem.reason)
    if path.stat().st_size > limits.max_bytes:
        raise DecodeRefusedError("file_too_large")


def cut_sound(path: Path, *, start_s: float, duration_s: float, limits: DecodeLimits) -> bytes:
    """Return an excerpt as MP3 bytes; it is shorter if the sound ends earlier.

    Encoding it anew drops everything but the audio, such as metadata.

    Raises:
        DecodeRefusedError: The sound cannot be decoded, or the excerpt not encoded.
    """
    end_s = min(limits.max_seconds, start_s + duration_s)
    decoded = decode_sound(path, replace(limits, max_seconds=end_s))  # nothing after it is needed
    excerpt = decoded.samples[round(start_s * decoded.rate) : round(end_s * decoded.rate)]
    rate = decoded.rate if decoded.rate in _MP3_RATES_HZ else _USUAL_RATE_HZ
    file = io.BytesIO()
    try:
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(excerpt[None].clip(-1, 1)), format="fltp", layout="mono"
        )
        frame.sample_rate = decoded.rate
        # The encoder takes frames of one length only.
        resampler = av.AudioResampler(
            format="fltp", layout="mono", rate=rate, frame_size=_MP3_FRAME
        )
        with av.open(file, "w", format="mp3") as container:
            stream = container.add_stream("libmp3lame", rate=rate, layout="mono")
            stream.bit_rate = _BIT_RATE
            stream.codec_context.options = {"compression_level": _FASTEST}
            stream.codec_context.thread_count = 1
            for piece in (*resampler.resample(frame), *resampler.resample(None)):
                container.mux(stream.encode(piece))
            container.mux(stream.encode(None))
    except ValueError as exc:
        raise DecodeRefusedError("file_unreadable") from exc
    return file.getvalue()


def _decode_stream(
    path: Path, limits: DecodeLimits, *, is_inverted: bool = False
) -> tuple[DecodedAudio, bool]:
    """Decode the mean of the channels; return whether the others are the first one's inverse.

    Gaps in timestamps are ignored: they are not gaps in the audio.
    """
    # A playlist or a reference inside a file could make FFmpeg open other files or addresses.
    options = {"protocol_whitelist": "file", "format_whitelist": ",".join(FORMATS)}
    try:
        # The explicit protocol stops FFmpeg from interpreting a name such as "concat:a|b".
        opened = av.open(f"file:{path.absolute()}", options=options)
    except av.ArgumentError as exc:  # FFmpeg has recognised a format that is not on the list
        raise DecodeRefusedError("unsupported_format") from exc
    pieces: list[NDArray[np.float32]] = []
    rate, sum_energy, difference_energy = 0, 0.0, 0.0
    with opened as container:
        if not container.streams.audio:
            raise DecodeRefusedError("no_sound_stream")
        stream = container.streams.audio[0]
        codec = stream.codec_context.codec.name
        if codec not in CODECS:
            raise DecodeRefusedError("unsupported_codec")
        stream.codec_context.thread_count = 1
        # Frames are joined before they are mixed, because NumPy needs longer to start than to mix
        # one. They are grouped, because a stream may become stereo after its first frames.
        for frames in batched(
            _decoded_frames(container, stream, limits.max_seconds), _FRAMES_AT_ONCE
        ):
            rate = frames[0].sample_rate
            for _, alike in groupby(map(_channel_samples, frames), key=len):
                joined = [np.concatenate(channel) for channel in zip(*alike, strict=True)]
                mono, energies = _mix_down(joined, is_inverted=is_inverted)
                pieces.append(mono)
                sum_energy += energies[0]
                difference_energy += energies[1]
    if not any(map(len, pieces)):
        raise DecodeRefusedError("undecodable")
    samples = np.concatenate(pieces)
    return DecodedAudio(samples, rate, codec), difference_energy > _INVERTED * sum_energy


def _decoded_frames(
    container: av.container.InputContainer, stream: AudioStream, max_seconds: float
) -> Iterator[AudioFrame]:
    """Yield the frames of all packets up to the one that reaches `max_seconds`.

    A few broken packets are skipped, as players do. A stream that breaks off ends there. Damage has
    many errors: a decoder may take it for a feature that it lacks, or for a configuration that is
    not permitted.
    """
    packets = container.demux(stream)
    count = rate = bad_packets = 0
    while bad_packets <= _BAD_PACKETS_ALLOWED:
        try:
            packet = next(packets, None)
        except av.FFmpegError:
            return
        if packet is None:
            return
        try:
            frames = packet.decode()
        except av.FFmpegError:
            bad_packets += 1
            continue
        for frame in frames:
            if frame.sample_rate not in _RATES_HZ:
                raise DecodeRefusedError("unsupported_rate")
            if rate and frame.sample_rate != rate:
                # The sample rate changes within the stream.
                raise DecodeRefusedError("undecodable")
            rate = frame.sample_rate
            count += frame.samples
            yield frame
        if count and count >= max_seconds * rate:
            return


def _channel_samples(frame: AudioFrame) -> list[NDArray[np.float32]]:
    """Return the samples of each channel in -1..1."""
    # The format of AAC, MP3, Opus and Vorbis, at a third of the generic path's cost.
    if frame.format.name == "fltp":
        return [np.frombuffer(plane, np.float32, frame.samples) for plane in frame.planes]
    raw = frame.to_ndarray()
    if not frame.format.is_planar:
        raw = raw.reshape(-1, frame.layout.nb_channels).T
    levels = raw.astype(np.float32)
    if raw.dtype == np.uint8:
        levels = (levels - np.float32(128)) / np.float32(128)
    elif raw.dtype.kind == "i":
        levels /= np.float32(2 ** (8 * raw.dtype.itemsize - 1))
    return list(levels)


def _mix_down(
    channels: Sequence[NDArray[np.float32]], *, is_inverted: bool
) -> tuple[NDArray[np.float32], tuple[float, float]]:
    """Return the mean of the channels, all but the first inverted if told so.

    Also returns the energies of the first channel plus and minus the others; 0 of one channel.
    """
    first, *others = channels
    if not others:
        return first, (0.0, 0.0)
    total = first.copy()
    for other in others:
        total += other
    # |f - o|^2 = 4 |f|^2 - 4 f (f + o) + |f + o|^2
    sum_energy = float(np.vdot(total, total))
    difference_energy = (
        4 * float(np.vdot(first, first)) - 4 * float(np.vdot(first, total)) + sum_energy
    )
    if is_inverted:
        np.subtract(2 * first, total, out=total)
    total /= np.float32(len(channels))
    return total, (sum_energy, difference_energy)
