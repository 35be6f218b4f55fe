"""A sound is recognised by its first bytes, never by its name or content type."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.audio.file_heads import is_altered
from pipelines.platform.http.client import refuse_altered, sound_suffix
from warehouse.records.errors import AudioUnavailableError

BOX = b"\x00\x00\x00\x20ftypisom\x00\x00\x02\x00"


@pytest.mark.parametrize(
    ("head", "suffix"),
    [
        (b"\x00\x00\x00\x20ftypisom\x00\x00", ".mp4"),
        (b"\x00\x00\x00\x1cftypM4A \x00\x00", ".mp4"),
        (b"ID3\x04\x00", ".mp3"),
        (b"\xff\xfb\x90\x64", ".mp3"),
        (b"OggS\x00", ".ogg"),
        (b"fLaC\x00", ".flac"),
        (b"RIFF\x24\x08\x00\x00WAVE", ".wav"),
    ],
)
def test_sound_is_known_by_its_start(head: bytes, suffix: str) -> None:
    assert sound_suffix(head) == suffix


@pytest.mark.parametrize(
    "head",
    [b"", b"\xff", b"<!doctype html>", b'{"code":403}', b"\x89PNG\r\n", b"MZ\x90", b"\x00" * 16],
)
def test_body_that_is_not_a_sound_has_no_sound_suffix(head: bytes) -> None:
    assert sound_suffix(head) is None


@given(st.integers(1, 255))
def test_another_first_byte_of_the_file_type_box_is_an_altered_file(byte: int) -> None:
    with pytest.raises(AudioUnavailableError) as caught:
        refuse_altered(bytes([byte]) + BOX[1:])
    assert caught.value.reason == "altered_by_host"


@given(st.integers(0, 255).filter(lambda byte: byte != ord("f")))
def test_another_first_byte_of_the_type_itself_is_an_altered_file(byte: int) -> None:
    assert is_altered(BOX[:4] + bytes([byte]) + BOX[5:])


@pytest.mark.parametrize(
    "head",
    [
        BOX,
        b"",
        b"\x00\x00\x00\x20fty",
        b"ID3\x04\x00\x00\x00\x00",
        b"<!doctype html>",
        b"\xff\xfb\x90\x64 typ",
        b"\x00\x00\x00\x04atyp",
    ],
)
def test_a_whole_file_or_another_format_is_not_altered(head: bytes) -> None:
    assert not is_altered(head)
