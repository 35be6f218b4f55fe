"""`sametrack audio identify` without decoder processes: its references, and what is shown."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import pytest
from typer.testing import CliRunner, Result

from api.cli.commands.audio import identify as command
from api.cli.commands.audio.compare import audio_app
from api.cli.terminal import out
from pipelines.audio.features.sounds import MeasuredSound, NotComparable, SoundMeasurement
from pipelines.audio.index.identify import MOST_TRIED
from pipelines.audio.index.reference_index import IndexFolder, ReferenceIndex
from tests.audio.clips import Band, ClipMeasurer

type Run = Callable[..., Result]


class Pool:
    """Knows each file by its name; any other is undecodable."""

    def __init__(self, sounds: dict[str, SoundMeasurement]) -> None:
        self._sounds = sounds

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """There is no child process to end."""

    def submit(self, path: Path) -> Future[SoundMeasurement]:
        done: Future[SoundMeasurement] = Future()
        done.set_result(
            self._sounds.get(path.stem, NotComparable(sha256=None, reason="undecodable"))
        )
        return done


class Stored:
    """The stored references of a catalogue; `kept` is what the lake still has of them."""

    def __init__(self, *sounds: MeasuredSound) -> None:
        self.index = ReferenceIndex()
        self.unusable: list[tuple[str, str]] = []
        self.kept: list[MeasuredSound | None] = list(sounds)
        self._sounds = sounds

    @property
    def count(self) -> int:
        return len(self._sounds)

    def add_missing(self, on_added: Callable[[int, int], object]) -> None:
        if self._sounds:
            self.index.add([sound.features.peaks for sound in self._sounds])
        on_added(self.count, self.count)

    def read_sound(self, number: int) -> MeasuredSound | None:
        return self.kept[number]

    def name(self, number: int) -> str:
        return f"[song] {number}"


@pytest.fixture(scope="session")
def other(band: Band, measure_clip: ClipMeasurer) -> MeasuredSound:
    """Another recording, as a good upload carries it."""
    return measure_clip(band.track(2), ".m4a", bit_rate=128_000)


@pytest.fixture
def run(
    reference: MeasuredSound, other: MeasuredSound, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Run:  # fmt: skip
    """The command beside a folder with two songs and a file that is no sound."""
    sounds: dict[str, SoundMeasurement] = {
        "song": reference, "other": other, "silent": NotComparable(sha256="0", reason="silent"),
    }  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setattr(command, "DecoderPool", lambda _workers: Pool(sounds))
    monkeypatch.setattr(out, "_width", 160)  # the width of a terminal that shows all columns
    for name in ("references/song.mp3", "references/other.m4a", "references/text.mp4"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "references" / "notes.txt").write_text("not looked at")
    return lambda *words: CliRunner().invoke(audio_app, ["identify", *words])


def open_stored(monkeypatch: pytest.MonkeyPatch, stored: Stored) -> list[str]:
    """Let every catalogue have these references; return the names that are asked for."""
    asked: list[str] = []

    @contextmanager
    def opened(_settings: object, name: str) -> Iterator[Stored]:
        asked.append(name)
        yield stored

    monkeypatch.setattr("pipelines.catalog.open_service.open_catalog_sounds", opened)
    return asked


def rows(shown: Result) -> list[list[str]]:
    return [line.split() for line in shown.stdout.splitlines()[1:] if line.strip()]


def test_a_clip_is_named_and_one_that_is_silent_says_so(run: Run) -> None:
    shown = run("song.mp3", "silent.wav", "--catalog", "references")
    assert shown.exit_code == 0, shown.output
    named, silent, searched = rows(shown)
    assert named[:3] == ["song.mp3", "song.mp3", "confirmed"]
    assert silent == ["silent.wav", "–", "the", "sound", "is", "silent"]
    assert searched[:2] == ["song.mp3", "searched:"]
    assert "looked up in 2 references\n" in shown.stderr
    assert "cannot be compared: text.mp4: the file cannot be decoded" in shown.stderr


def test_clips_that_were_searched_otherwise_say_so_each(
    run: Run, monkeypatch: pytest.MonkeyPatch, reference: MeasuredSound
) -> None:
    open_stored(monkeypatch, Stored(reference))
    shown = run("song.mp3", "other.m4a", "song.m4a", "--catalog", "songs", "--thorough")
    as_heard, edited = [line for line in shown.stdout.splitlines() if "searched:" in line]
    assert as_heard.startswith("song.mp3, song.m4a  searched: unchanged only; first ")
    assert edited.startswith("other.m4a  searched: speed or tempo × 0.5 to 2, ")


def test_references_of_a_stored_catalogue_are_looked_up_by_its_name(
    run: Run, monkeypatch: pytest.MonkeyPatch, reference: MeasuredSound, other: MeasuredSound
) -> None:
    asked = open_stored(monkeypatch, Stored(other, reference))
    document = json.loads(run("song.mp3", "--catalog", "songs", "--json").stdout)
    assert asked == ["songs"]
    assert (document["catalog"], document["reference_count"]) == ("songs", 2)
    (clip,) = document["clips"]
    assert clip["recording"] == "[song] 1"
    assert clip["references"][0]["verdict"] == "confirmed"


def test_a_clip_that_is_like_no_reference_is_shown_without_one(
    run: Run, monkeypatch: pytest.MonkeyPatch, reference: MeasuredSound
) -> None:
    stored = Stored(reference)
    stored.kept = [None]  # deleted since it was indexed
    open_stored(monkeypatch, stored)
    shown = run("song.mp3", "--catalog", "songs")
    assert rows(shown) == [["song.mp3", "–", "nothing", "alike"]]
    assert "looked up in 1 reference\n" in shown.stderr


def test_further_references_are_shown_below_the_first_and_without_their_name(
    run: Run, monkeypatch: pytest.MonkeyPatch, reference: MeasuredSound, other: MeasuredSound
) -> None:
    open_stored(monkeypatch, Stored(other, reference))
    shown = run("song.mp3", "--catalog", "songs", "--top", "2")
    first, second, _ = rows(shown)
    assert first[:4] == ["song.mp3", "[song]", "1", "confirmed"]
    assert (second[0], second[1].rstrip(",")) == ("–", "rejected")


def test_a_catalogue_without_stored_sounds_says_how_to_get_them(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_stored(monkeypatch, Stored())
    refused = run("song.mp3", "--catalog", "songs")
    assert refused.exit_code == 2
    assert "the tracks of songs have no stored reference sound" in refused.stderr
    assert "`sametrack catalog run songs` scans them" in refused.stderr


def test_a_reference_that_was_written_anew_many_times_is_found_in_a_kept_index(
    run: Run, tmp_path: Path, reference: MeasuredSound
) -> None:
    earlier = [f"as it was {number}" for number in range(MOST_TRIED + 1)]
    IndexFolder(tmp_path / "kept").add(earlier, [reference.features.peaks] * len(earlier))
    shown = run("song.mp3", "--catalog", "references", "--index", "kept")
    assert rows(shown)[0][:3] == ["song.mp3", "song.mp3", "confirmed"]
    assert "looked up in 2 references" in shown.stderr


def test_an_index_that_cannot_be_opened_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "kept" / ".lock").mkdir(parents=True)
    (tmp_path / "kept" / "references.json").write_text("{}")
    refused = run("song.mp3", "--catalog", "references", "--index", "kept")
    assert refused.exit_code == 2
    assert "the index cannot be kept: " in refused.stderr


@pytest.mark.parametrize("name", ["songs.tsv", "songs.TSV"])
def test_columns_of_a_table_are_parted_by_tabs_however_its_ending_is_written(
    run: Run, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("label\tpath\nPaper, Boats\treferences/song.mp3\n")
    document = json.loads(run("song.mp3", "--catalog", name, "--json").stdout)
    assert document["clips"][0]["recording"] == "Paper, Boats"


def test_an_index_for_the_sounds_of_a_catalogue_is_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch, reference: MeasuredSound
) -> None:
    open_stored(monkeypatch, Stored(reference))
    refused = run("song.mp3", "--catalog", "songs", "--index", "kept")
    assert refused.exit_code == 2
    assert "--index is for files" in refused.stderr


@pytest.mark.parametrize(
    ("words", "detail"),
    [
        (["--catalog", "nowhere.csv"], "nowhere.csv does not exist"),
        (["--catalog", "references", "--index", "references/song.mp3"],
         "the index cannot be kept: "),
        (["--catalog", "empty"], "empty has no sound that can be compared"),
    ],
    ids=["no table", "no folder for the index", "no sound"],
)  # fmt: skip
def test_references_that_cannot_be_had_are_refused(
    run: Run, tmp_path: Path, words: list[str], detail: str
) -> None:
    (tmp_path / "empty").mkdir()
    refused = run("song.mp3", *words)
    assert refused.exit_code == 2, refused.output
    assert detail in " ".join(refused.stderr.split())
    assert refused.stdout == ""
