"""A sound is recognised by its first bytes, never by its name or content type."""

import pytest

from pipelines.platform.http.download import sound_suffix


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
def test_anything_else_is_no_sound(head: bytes) -> None:
    assert sound_suffix(head) is None
