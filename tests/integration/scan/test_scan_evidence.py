"""A scan leaves evidence that can be seen and heard: pictures, excerpts, the numbers again."""

import io
import json
import os
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import av
import pytest
from PIL import Image

from api.cli.processes import sametrack
from tests.stage import Stage

PLACE = "/api/v1/sametrack/comparisons"
SEED, SIZE = 11, 0.2


def seconds_of(encoded: bytes) -> float:
    with av.open(io.BytesIO(encoded), "r") as container:
        stream = container.streams.audio[0]
        samples = sum(int(frame.samples) for frame in container.decode(stream))
        return samples / stream.rate


def test_a_scan_leaves_evidence_to_see_and_to_hear(stage: Stage, tmp_path: Path) -> None:
    stage.start_platform(seed=SEED, size=SIZE)
    stage.start_worker()
    job = stage.ended(stage.ask(stage.world("/_world/tracks")["tracks"][1]["prose"]))
    assert job.status == "completed"
    heard = stage.rows(
        "select comparison_id, score from marts.audio_comparisons "
        "where verdict in ('confirmed', 'variant') and score is not null order by score desc"
    )
    assert heard
    client = stage.start_api()
    with_sound = 0
    for row in heard[:6]:
        here = f"{PLACE}/{row['comparison_id']}"
        data = client.get(here).json()["data"]
        ET.fromstring(client.get(data["picture"]["svg"]).text)
        Image.open(io.BytesIO(client.get(data["picture"]["png"]).content)).verify()
        for kept in filter(None, data["excerpts"].values()):
            with_sound += 1
            sound = client.get(kept["path"])
            assert sound.headers["content-type"] == "audio/mpeg"
            assert seconds_of(sound.content) == pytest.approx(kept["duration_s"], abs=1.1)
    assert with_sound >= 2
    assert list(stage.home.sounds_dir.iterdir()) == []
    explain(stage, str(heard[0]["comparison_id"]), tmp_path)


def explain(stage: Stage, comparison_id: str, folder: Path) -> None:
    """The command measures the stored pair again and finds the same numbers."""
    command = sametrack(
        "audio", "explain", comparison_id, "--json",
        "--out", str(folder / "pair.png"), "--excerpts", str(folder / "heard"),
    )  # fmt: skip
    done = subprocess.run(
        command, env={**os.environ, **stage._environment()}, capture_output=True, check=True
    )
    assert json.loads(done.stdout)["measured_again"] == {"is_equal": True, "deviations": {}}
    Image.open(folder / "pair.png").verify()
    assert (folder / "heard" / "candidate.mp3").stat().st_size > 10_000
