"""A decoder that waits for work gives back what the last sound has taken."""

import os

import pytest

from pipelines.audio.decode import decoder_process


def test_a_decoder_that_waits_gives_memory_back_and_loses_no_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading, writing = os.pipe()
    seen: list[object] = []

    def give_back() -> None:
        seen.append("given back")
        os.write(writing, b"second\n")

    monkeypatch.setattr(decoder_process, "_IDLE_S", 0.0)
    monkeypatch.setattr(decoder_process, "give_back_memory", give_back)
    os.write(writing, b"first\n")
    with os.fdopen(reading, "rb") as pipe:
        for line in decoder_process._requests(pipe):
            seen.append(line)
            if line == b"second\n":
                os.close(writing)
    assert seen == [b"first\n", "given back", b"second\n"]
