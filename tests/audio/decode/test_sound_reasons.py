"""Why a sound cannot be compared: every reason has its texts, and each format its answer."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from pipelines.audio.decode.decoding import DecodeRefusedError, decode_sound
from pipelines.audio.decode.protocol import MAX_SECONDS, DecodeLimits
from pipelines.documents.messages import REASONS, SOUND_REASONS, reason_message, stop_message
from tests.audio.decode.test_decode_refusals import RATE, as_wav, tone
from warehouse.sound_formats import CODEC_NAMES, FORMAT_NAMES


def encoded(path: Path, codec: str, *, form: str | None = None) -> Path:
    """Three seconds of a tone."""
    with av.open(str(path), "w", format=form) as container:
        stream = container.add_stream(codec, rate=RATE, layout="mono")
        assert isinstance(stream, av.AudioStream)
        frame = av.AudioFrame.from_ndarray(
            tone().astype(np.float32)[None], format="fltp", layout="mono"
        )
        frame.sample_rate, frame.time_base = RATE, Fraction(1, RATE)
        resampler = av.AudioResampler(
            format=stream.codec_context.format.name, layout="mono", rate=RATE,
            frame_size=stream.codec_context.frame_size or None,
        )  # fmt: skip
        for piece in (*resampler.resample(frame), *resampler.resample(None)):
            container.mux(stream.encode(piece))
        container.mux(stream.encode(None))
    return path


def refused(path: Path, limits: DecodeLimits | None = None) -> str:
    with pytest.raises(DecodeRefusedError) as met:
        decode_sound(path, limits or DecodeLimits())
    return met.value.reason


@pytest.mark.parametrize(
    ("name", "codec"),
    [("a.avi", "libmp3lame"), ("a.aiff", "pcm_s16be"), ("a.ac3", "ac3"), ("a.caf", "pcm_s16le"),
     ("a.flv", "libmp3lame"), ("a.au", "pcm_s16be")],
)  # fmt: skip
def test_a_format_that_is_known_but_not_read_is_named_so(
    tmp_path: Path, name: str, codec: str
) -> None:
    assert refused(encoded(tmp_path / name, codec)) == "unsupported_format"


def test_a_codec_that_is_not_read_is_named_so(tmp_path: Path) -> None:
    assert refused(encoded(tmp_path / "a.mkv", "ac3")) == "unsupported_codec"
    assert "AC3" not in CODEC_NAMES


def test_unsupported_format_and_codec_texts_list_the_supported_ones() -> None:
    for language in ("en", "zh"):
        assert FORMAT_NAMES in SOUND_REASONS["unsupported_format"].text(language)
        assert CODEC_NAMES in SOUND_REASONS["unsupported_codec"].text(language)
    assert {"MP3", "FLAC", "WAV", "WebM"} <= set(FORMAT_NAMES.split(", "))


def test_a_sound_that_begins_after_the_part_that_is_used_says_so(tmp_path: Path) -> None:
    late = as_wav(tmp_path / "late.wav", np.concatenate([np.zeros(5 * RATE), tone()]))
    assert refused(late, DecodeLimits(max_seconds=4.0)) == "silent_start"
    assert refused(as_wav(tmp_path / "still.wav", np.zeros(3 * RATE))) == "silent"
    assert f"{MAX_SECONDS:g} s" in SOUND_REASONS["silent_start"].en


def test_every_reason_has_both_texts_in_verdicts_and_in_coverage() -> None:
    for reason, message in SOUND_REASONS.items():
        assert stop_message(reason).zh == message.zh
        for role in ("reference", "candidate"):
            found = REASONS[f"{role}_{reason}"]
            assert role in found.en or "media host" in found.en, found
            assert "_" not in found.en
    assert reason_message("candidate_upstream_verification").en.startswith("candidate: ")
    assert reason_message("upstream_forbidden").en == "the platform refused the request"


def test_every_reason_of_the_decoder_is_declared() -> None:
    source = Path("pipelines/audio/decode/decoding.py").read_text(encoding="utf-8")
    raised = {part.split('"')[0] for part in source.split('DecodeRefusedError("')[1:]}
    assert raised <= SOUND_REASONS.keys()


def test_the_page_on_limits_lists_the_same() -> None:
    page = " ".join(Path("docs/limits.md").read_text(encoding="utf-8").split())
    for names in (FORMAT_NAMES, CODEC_NAMES):
        first, _, last = names.rpartition(", ")
        assert f"{first} and {last}" in page
