"""`sametrack audio annotate`, `annotations` and `explain` on a stored comparison."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from api.cli.commands.audio.compare import audio_app
from api.cli.terminal import out
from api.routes.dependencies import Services
from api.server.health import Readiness
from api.services.evidence.annotations import AnnotationService
from pipelines.audio.features.sounds import unpack_features
from pipelines.audio.manifest import recompute
from tests.contract import test_evidence_routes as routes
from warehouse.caches import ExcerptFolder
from warehouse.records.errors import ProfileNotChosenError
from warehouse.records.evidence import MatchThresholds, PairEvidence, find_excerpts

type Run = Callable[..., Result]
PAIR = routes.COMPARISON_ID
heard = routes.heard


@pytest.fixture
def run(heard: Any, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Commands over the stores of that service."""
    annotations = AnnotationService(
        read_comparison=heard.comparisons.get,
        read_annotations=heard.said_of,
        append=lambda _table, rows: heard.annotations.extend(rows),
        is_demo=True,
    )

    @contextmanager
    def opened(_settings: object) -> Iterator[Services]:
        yield Services(readiness=Readiness({}), evidence=heard.evidence(), annotations=annotations)

    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setattr("api.process.open_services", opened)
    monkeypatch.setattr(out, "_width", 160)  # the width of a terminal that shows all columns
    return lambda *words: CliRunner().invoke(audio_app, list(map(str, words)))


def as_measured(service: Any) -> None:
    """Let the stored numbers be those that its stored features have."""
    for seed, sha256 in enumerate(service.sounds, start=1):
        service.sounds[sha256] = {"features": routes.packed(seed, frames=200)}
    first, second = (unpack_features(sound["features"]) for sound in service.sounds.values())
    again = recompute(first, second, routes.PAIR, limits=MatchThresholds())
    assert again is not None
    service.comparisons[PAIR] |= {**asdict(again), "searched": None}


def keep_both_excerpts(service: Any, sound: bytes = routes.SOUND) -> None:
    folder = ExcerptFolder(folder=service.excerpts, max_bytes=1_000_000, max_age_s=3600.0)
    found = find_excerpts(routes.PAIR, reference_sha256="a" * 64, candidate_sha256="b" * 64)
    for excerpt in found.values():
        folder.write(excerpt, sound)


def test_a_judgement_is_kept_and_counted_with_the_ones_before(run: Run, heard: Any) -> None:
    assert run("annotate", PAIR, "same", "--note", "[b]mine[/b]").stdout == (
        f"{PAIR} 1 x same, 0 x not the same\n"
    )
    assert "1 x same, 1 x not the same" in run("annotate", PAIR, "not-the-same").stdout
    assert [(one["said"], one["note"], one["origin"]) for one in heard.annotations] == [
        ("same", "[b]mine[/b]", "cli"),
        ("not_the_same", None, "cli"),
    ]


def test_judgements_are_exported_as_csv_to_stdout_or_a_file(run: Run, tmp_path: Path) -> None:
    run("annotate", PAIR, "same", "--note", "first line\nand\ttab")
    printed = run("annotations").stdout_bytes
    (line,) = csv.DictReader(io.StringIO(printed.decode(), newline=""))
    assert (line["pair_id"], line["label"], line["score"]) == (PAIR, "same", "0.93")
    assert line["note"] == "first line\nand\ttab"
    done = run("annotations", "--out", tmp_path / "all.csv")
    assert done.stdout.startswith("1 annotation in ")
    assert (tmp_path / "all.csv").read_bytes() == printed
    refused = run("annotations", "--out", tmp_path)
    assert refused.exit_code == 2
    assert "cannot be written: Is a directory" in refused.stderr


@pytest.mark.parametrize(
    "words",
    [("annotate", PAIR, "same"), ("annotations",), ("explain", PAIR)],
    ids=lambda all_: all_[0],
)
def test_evidence_commands_need_a_profile(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    @contextmanager
    def closed(_settings: object) -> Iterator[Services]:
        yield Services(readiness=Readiness({}))

    monkeypatch.delenv("PROFILE")
    monkeypatch.setenv("DATA_HOME", "/nowhere")
    monkeypatch.setattr("api.process.open_services", closed)
    assert isinstance(run(*words).exception, ProfileNotChosenError)


def test_a_comparison_that_is_measured_as_before_says_so(run: Run, heard: Any) -> None:
    as_measured(heard)
    shown = run("explain", PAIR)
    assert shown.exit_code == 0, shown.output
    assert "measured again from the stored features: all values are equal" in shown.stdout
    assert "searched:" not in shown.stdout
    assert "written" not in shown.stdout
    document = json.loads(run("explain", PAIR, "--json").stdout)
    assert document["measured_again"] == {"is_equal": True, "deviations": {}}


def test_explain_of_a_not_comparable_pair_measures_nothing_again(run: Run, heard: Any) -> None:
    unmeasured = PairEvidence(verdict="not_comparable", reason="candidate_decoder_timed_out")
    heard.comparisons[PAIR] |= asdict(unmeasured)
    shown = run("explain", PAIR)
    assert shown.exit_code == 0, shown.output
    assert "not comparable  candidate: decoding took longer than 30 s" in shown.stdout
    assert "measured again" not in shown.output
    assert json.loads(run("explain", PAIR, "--json").stdout)["measured_again"] is None


def test_a_comparison_that_is_measured_otherwise_names_what_differs(
    run: Run, tmp_path: Path
) -> None:
    shown = run("explain", PAIR, "--out", tmp_path / "pair.svg")
    assert "confirmed  all that they have in common matches" in shown.stdout
    assert "searched:" in shown.stdout
    assert "measured again; these values differ: verdict, reason" in shown.stderr
    assert "written" in shown.stdout
    assert routes.CANDIDATE in (tmp_path / "pair.svg").read_text()


def test_excerpts_are_written_as_far_as_they_are_stored(run: Run, tmp_path: Path) -> None:
    shown = run("explain", PAIR, "--excerpts", tmp_path / "heard")
    assert shown.exit_code == 0, shown.output
    assert "no stored excerpt of the reference" in " ".join(shown.stderr.split())
    assert [path.name for path in (tmp_path / "heard").iterdir()] == ["candidate.mp3"]
    assert (tmp_path / "heard" / "candidate.mp3").read_bytes() == routes.SOUND


def test_excerpts_need_a_folder(run: Run, tmp_path: Path) -> None:
    (tmp_path / "heard").write_text("a file of that name")
    refused = run("explain", PAIR, "--excerpts", tmp_path / "heard")
    assert refused.exit_code == 2
    assert "heard cannot be written: File exists" in refused.stderr


@pytest.mark.parametrize(
    ("words", "detail"),
    [
        (["--reference", "a", "--candidate", "b", "--excerpts", "x"],
         "--excerpts works for stored comparisons only"),
        ([PAIR, "--reference", "a"], "give either a COMPARISON_ID, or both"),
        ([PAIR, "--out", "pair.gif"], "an evidence plot is a .svg or a .png file"),
        ([PAIR, "--out", "/dev/null/pair.svg"], "pair.svg cannot be written: "),
    ],
    ids=["excerpts of files", "one file", "form", "place"],
)  # fmt: skip
def test_audio_explain_refuses_invalid_arguments(run: Run, words: list[str], detail: str) -> None:
    refused = run("explain", *words)
    assert refused.exit_code == 2
    assert detail in " ".join(refused.stderr.split())
    assert refused.stdout == ""
