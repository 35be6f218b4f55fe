"""`sametrack audio compare` and `sametrack audio bench` on files of one's own."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.cli.commands.audio.compare import audio_app
from pipelines.audio.manifest import SCORE_COLUMNS, ManifestUnreadableError
from tests.audio.clips import Band

pytestmark = pytest.mark.full

runner = CliRunner()


def test_compare_confirms_the_same_recording(sounds: Path) -> None:
    arguments = ["compare", "--reference", str(sounds / "song.m4a"), str(sounds / "other.m4a")]
    result = runner.invoke(audio_app, [*arguments, "--candidate", str(sounds / "song.mp3")])
    assert result.exit_code == 0
    assert "confirmed" in result.stdout
    assert "all that they have in common matches" in result.stdout


def test_compare_tells_a_machine_of_every_pair_even_when_the_first_is_sure(sounds: Path) -> None:
    song = str(sounds / "song.m4a")
    given = ["--reference", song, "--candidate", song, str(sounds / "other.m4a"), "--json"]
    document = json.loads(runner.invoke(audio_app, ["compare", *given]).stdout)
    pairs = [pair["evidence"] for pair in document["pairs"]]
    assert [pair["verdict"] for pair in pairs] == ["confirmed", "rejected"]
    assert pairs[1]["chroma_distance"] > 0
    assert document["limits"]["match_threshold"] == 0.65
    assert [sound["codec"] for sound in document["sounds"]] == ["aac"] * 3
    assert document["algorithm"] == "audiolib_chroma_mfcc_multiref_local_dtw_v3"


def test_compare_says_why_a_file_cannot_be_compared(sounds: Path) -> None:
    given = ["--reference", str(sounds / "song.m4a"), "--candidate", str(sounds / "silent.wav")]
    result = runner.invoke(audio_app, ["compare", *given])
    assert result.exit_code == 0
    assert "not comparable  candidate: the sound is silent" in result.stdout


def test_compare_refuses_more_files_than_the_rule_knows(sounds: Path) -> None:
    song = str(sounds / "song.m4a")
    result = runner.invoke(audio_app, ["compare", "--reference", *[song] * 4, "--candidate", song])
    assert result.exit_code == 2


def test_bench_scores_every_row_and_never_falls_over(sounds: Path, tmp_path: Path) -> None:
    manifest = sounds / "pairs.csv"
    manifest.write_text(
        "pair_id,refs,candidate,label\n"
        "same,song.m4a;song.flac,song.mp3,1\n"
        "other,song.m4a,other.m4a,0\n"
        "gone,song.m4a,gone.m4a,1\n"
        "part,gone.m4a; song.m4a,song.ogg,1\n"
        "text,song.m4a,text.mp4,0\n"
        "none,,song.m4a,0\n",
        encoding="utf-8",
    )
    scores = tmp_path / "scores.csv"
    result = runner.invoke(audio_app, ["bench", str(manifest), "--out", str(scores)])
    assert result.exit_code == 0
    assert result.stdout == ""
    with scores.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        rows = {row["pair_id"]: row for row in reader}
        assert tuple(reader.fieldnames or ()) == SCORE_COLUMNS
    verdicts = {name: (row["verdict"], row["reason"]) for name, row in rows.items()}
    assert verdicts == {
        "same": ("confirmed", "whole_rule_met"),
        "other": ("rejected", "distances_above_limits"),
        "gone": ("not_comparable", "candidate_file_missing"),
        "part": ("confirmed", "whole_rule_met"),
        "text": ("not_comparable", "candidate_undecodable"),
        "none": ("not_comparable", "nothing_to_compare"),
    }
    assert float(rows["same"]["score"]) > 0.95
    assert float(rows["same"]["cpu_ms"]) > 0
    assert rows["gone"]["score"] == ""


def test_bench_says_which_references_are_left_out(sounds: Path, tmp_path: Path) -> None:
    manifest = sounds / "crowded.csv"
    refs = "song.m4a;gone.m4a;gone.mp3"
    rows = ("pair_id,refs,candidate", f"1,{refs},song.mp3", f"2,{refs};song.wav,song.mp3", "")
    manifest.write_text("\n".join(rows), encoding="utf-8")
    result = runner.invoke(audio_app, ["bench", str(manifest), "--out", str(tmp_path / "s.csv")])
    assert result.exit_code == 0
    assert "more than 3 references in 1 row: the cleanest 3" in " ".join(result.stderr.split())


def test_bench_compares_nothing_if_its_scores_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = tmp_path / "m.csv"
    manifest.write_text("pair_id,refs,candidate\n1,gone.m4a,gone.m4a\n", encoding="utf-8")
    (tmp_path / "s.csv.part").mkdir()
    monkeypatch.setattr("pipelines.audio.manifest.measure_files", None)
    refused = runner.invoke(audio_app, ["bench", str(manifest), "--out", str(tmp_path / "s.csv")])
    assert refused.exit_code == 2, refused.exception
    assert "s.csv cannot be written: Is a directory" in " ".join(refused.stderr.split())


def test_bench_tells_a_variant_with_its_speed(band: Band, sounds: Path, tmp_path: Path) -> None:
    band.write_sound(sounds / "fast.mp3", band.resampled(band.track(1, seconds=21.0), 1.12))
    manifest, scores = sounds / "fast.csv", tmp_path / "scores.csv"
    manifest.write_text("pair_id,refs,candidate\n1,song.m4a,fast.mp3\n", encoding="utf-8")
    assert runner.invoke(audio_app, ["bench", str(manifest), "--out", str(scores)]).exit_code == 0
    with scores.open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["verdict"], row["reason"]) == ("variant", "speed_variant")
    assert float(row["speed"]) == pytest.approx(1.12, abs=0.002)
    assert float(row["semitones"]) == pytest.approx(1.96, abs=0.05)
    assert float(row["score"]) > 0.8


def test_bench_refuses_a_manifest_without_its_columns(tmp_path: Path) -> None:
    manifest = tmp_path / "m.csv"
    manifest.write_text("pair_id,candidate\n", encoding="utf-8")
    result = runner.invoke(audio_app, ["bench", str(manifest), "--out", str(tmp_path / "s.csv")])
    assert isinstance(result.exception, ManifestUnreadableError)
    assert not (tmp_path / "s.csv").exists()


def test_bench_makes_the_folder_of_its_scores_and_refuses_one_that_cannot_be(
    tmp_path: Path,
) -> None:
    manifest = tmp_path / "m.csv"
    manifest.write_text("pair_id,refs,candidate\n1,gone.m4a,gone.m4a\n", encoding="utf-8")
    scores = tmp_path / "new" / "deep" / "s.csv"
    command = ["bench", str(manifest), "--workers", "1", "--out"]
    assert runner.invoke(audio_app, [*command, str(scores)]).exit_code == 0
    assert scores.exists()
    for refused in (manifest / "s.csv", tmp_path / "new"):
        assert runner.invoke(audio_app, [*command, str(refused)]).exit_code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.csv", "new"]


_HEAVY = {"librosa", "pandas", "dagster", "fastapi", "scipy.signal", "matplotlib"}


def test_audio_matching_loads_no_heavy_library() -> None:
    code = (
        "import sys\n"
        "from pipelines.audio.decode import decoder_process, decoding\n"
        "from pipelines.audio.features import measurement\n"
        "from pipelines.audio.matching import verify\n"
        "import numpy as np\n"
        "measurement.measure_features(np.random.default_rng(0).random(300000, 'f4'), 44100)\n"
        "verify.warm_up()\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not _HEAVY & set(done.stdout.split())


BAD = {
    "gone.m4a": ("gone.m4a does not exist", "file_missing"),
    "text.mp4": ("text.mp4: the file cannot be decoded", "undecodable"),
    "empty.mp3": ("empty.mp3 is empty", "file_empty"),
}


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("compare", "text.mp4"),
        ("identify", "empty.mp3"),
        ("explain", "gone.m4a"),
        *(
            pytest.param(command, name, marks=pytest.mark.soak)
            for command, names in (
                ("compare", ("gone.m4a", "empty.mp3")),
                ("identify", ("gone.m4a", "text.mp4")),
                ("explain", ("text.mp4", "empty.mp3")),
            )
            for name in names
        ),
    ],
)
def test_a_file_that_is_no_sound_is_an_input_error_in_every_command(
    sounds: Path, tmp_path: Path, command: str, name: str
) -> None:
    song, bad = str(sounds / "song.m4a"), str(sounds / name)
    said, reason = BAD[name]
    (tmp_path / "song.m4a").write_bytes((sounds / "song.m4a").read_bytes())
    words = ["--reference", song, "--candidate", bad]
    if command == "identify":
        words = [song, bad, "--catalog", str(tmp_path)]
    for more in ([], ["--json"]):
        result = runner.invoke(audio_app, [command, *words, *more])
        assert result.exit_code == 2, result.output
        assert said in " ".join(result.stderr.split())
    document = json.loads(result.stdout) if command != "explain" else {}
    if command == "compare":
        assert document["verdict"] == "not_comparable"
        assert document["max_seconds"] == 60.0
        assert document["sounds"][1]["not_comparable_reason"] == reason
    if command == "identify":
        assert document["clips"][0]["recording"] == "song.m4a"
        assert document["clips"][1]["not_comparable_reason"] == reason
