"""Each tool of the leaderboard that is installed finds a clip, and the place that it is from."""

from pathlib import Path

import pytest

from benchmarks.accuracy.sounds.making import write_clip
from benchmarks.leaderboard.tools import TOOLS
from tests.data.audio import synthesis
from tests.data.audio.synthesis import RATE

pytestmark = pytest.mark.soak
BEGIN_S = 12.0


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("leaderboard")
    tracks = {f"song {seed}": synthesis.track(seed, seconds=30.0) for seed in range(3)}
    clip = tracks["song 1"][round(BEGIN_S * RATE) : round((BEGIN_S + 12) * RATE)]
    paths = {}
    for name, samples in (*tracks.items(), ("clip", clip)):
        paths[name] = folder / f"{name}.mp3"
        write_clip(paths[name], samples, kbit_s=128, is_stereo=True)
    return paths


# audfprint2 leaves the pipes of its ffmpeg to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("key", TOOLS)
def test_a_tool_finds_a_clip_at_its_place(key: str, files: dict[str, Path]) -> None:
    if not TOOLS[key].is_installed():
        pytest.skip(f"{TOOLS[key].name} is not installed: run `make setup-bench`")
    with TOOLS[key]() as tool:
        tool.store({name: path for name, path in files.items() if name != "clip"})
        best = max(tool.search(files["clip"]), key=lambda detection: detection.score)
    assert tool.version()
    assert best.reference == "song 1"
    assert best.reference_s - best.query_s == pytest.approx(BEGIN_S, abs=0.3)
    assert best.is_accepted is not False
