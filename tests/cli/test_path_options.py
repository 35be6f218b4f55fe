"""Each path that a command takes: what names no usable file ends with status 2 and a sentence."""

import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from api.cli.main import main

pytestmark = pytest.mark.full

type Run = Callable[..., tuple[int, str]]

BAD_FILES = {
    "missing": "missing does not exist",
    "folder": "folder is a folder, not a file",
    "pipe": "pipe is a pipe, not a file",
    "broken": "broken is a link to a file that does not exist",
    "socket": "socket is a socket, not a file",
    "/dev/null": "/dev/null is a device, not a file",
    "https://files.example/a": "https://files.example/a is a URL, not a file",
    "-": "- is not a file: standard input is not read here",
    "empty": "empty is empty",
    "n" * 300: "cannot be read: File name too long",
}
"""Paths, and what is said of each."""
READERS: dict[str, list[str]] = {
    "audio bench": ["audio", "bench", "{}", "--out", "scores.csv"],
    "audio compare": ["audio", "compare", "--reference", "{}", "--candidate", "{}"],
    "audio compare --json": [
        "audio",
        "compare",
        "--reference",
        "{}",
        "--candidate",
        "{}",
        "--json",
    ],
    "audio explain": ["audio", "explain", "--reference", "{}", "--candidate", "{}"],
    "audio identify": ["audio", "identify", "{}", "--catalog", "songs.csv"],
    "audio identify --json": ["audio", "identify", "{}", "--catalog", "songs.csv", "--json"],
    "watchlist apply": ["watchlist", "apply", "{}"],
}
FOLDER_READERS: dict[str, list[str]] = {
    "restore": ["restore", "{}"],
}
WRITERS: dict[str, list[str]] = {
    "audio annotations": ["audio", "annotations", "--out", "{}"],
    "audio bench": ["audio", "bench", "pairs.csv", "--out", "{}"],
    "database": ["database", "--out", "{}"],
    "export": ["export", "raw.videos", "--out", "{}", "--format", "csv"],
    "export all": ["export", "all", "--out", "{}", "--format", "package"],
    "init": ["init", "--profile", "sandbox", "--no-token", "--force", "--file", "{}"],
    "openapi": ["openapi", "--out", "{}"],
    "query": ["query", "refusals", "--out", "{}"],
    "sql": ["sql", "select 1", "--out", "{}"],
}


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Run]:
    """The command line in a folder with a path of each kind; returns its status and messages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path / "home"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("something")
    (tmp_path / "empty").touch()
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 8)
    (tmp_path / "songs.csv").write_text("path\nbinary\n")
    (tmp_path / "pairs.csv").write_text("pair_id,refs,candidate\n1,binary,binary\n")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "broken").symlink_to("nowhere")

    def call(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["sametrack", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), " ".join(capsys.readouterr().err.split())

    with closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind("socket")
        yield call


def filled(words: list[str], path: str) -> list[str]:
    return [word.replace("{}", path) for word in words]


@pytest.mark.parametrize("command", [name for name in READERS if "audio i" not in name])
def test_a_path_that_names_no_file_is_refused_alike_by_every_command(
    run: Run, command: str
) -> None:
    for path, sentence in BAD_FILES.items():
        status, output = run(*filled(READERS[command], path))
        assert (status, sentence in output) == (2, True), (command, path, output)
        assert "Traceback" not in output


@pytest.mark.parametrize("command", ["audio bench", "watchlist apply"])
def test_a_file_that_is_no_text_is_refused(run: Run, command: str) -> None:
    status, output = run(*filled(READERS[command], "binary"))
    assert status == 2, output
    assert "binary" in output


def test_tracks_of_a_file_that_is_none_are_not_taken_for_links(run: Run) -> None:
    for path, sentence in BAD_FILES.items():
        if path in {"missing", "https://files.example/a", "n" * 300}:
            continue  # may be the text of a link
        status, output = run("catalog", "import", "songs", path)
        assert (status, sentence in output) == (2, True), (path, output)
    for path in ("missing.csv", "./missing", "/nowhere/missing"):
        status, output = run("catalog", "import", "songs", path)
        assert (status, "does not exist" in output) == (2, True), (path, output)
    for text in ("missing", "https://files.example/a", "binary"):
        assert run("catalog", "import", "songs", text)[0] == 2, text


@pytest.mark.parametrize("command", FOLDER_READERS)
def test_a_path_that_names_no_folder_is_refused(run: Run, command: str) -> None:
    sentences = {
        "missing": "missing does not exist", "pipe": "pipe is not a folder",
        "empty": "empty is not a folder", "/dev/null": "/dev/null is not a folder",
        "broken": "broken is a link to a file that does not exist",
        "https://files.example/a": "https://files.example/a is a URL", "-": "- is not a file",
        "folder": "folder",  # is one, without what is needed
    }  # fmt: skip
    for path, sentence in sentences.items():
        status, output = run(*filled(FOLDER_READERS[command], path))
        assert (status, sentence in output) == (2, True), (command, path, output)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("PROFILE", ["jobs"]),
        ("PROFILE_PATCH", ["jobs"]),
        ("OWN_API_TOKENS", ["serve"]),
    ],
)
def test_a_setting_that_names_no_file_is_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch, setting: str, words: list[str]
) -> None:
    for path in (*BAD_FILES, "binary"):
        monkeypatch.setenv(setting, path)
        status, output = run(*words)
        assert status == 2, (setting, path, output)
        assert "Error:" not in output  # the name of a Python class


@pytest.mark.parametrize("command", WRITERS)
def test_a_file_that_cannot_be_written_is_refused(run: Run, command: str) -> None:
    for path in ("folder", "empty/below-a-file.csv", "/proc/none/answer.csv"):
        status, output = run(*filled(WRITERS[command], path))
        assert status == 2, (command, path, output)
        assert "written" in output or "directory" in output or "is a folder" in output, (
            command,
            output,
        )
        assert "Traceback" not in output


@pytest.mark.parametrize("words", [["backup"], ["doctor", "--record"]], ids=" ".join)
def test_a_folder_that_cannot_be_written_is_refused(run: Run, words: list[str]) -> None:
    for path in ("empty", "empty/below", "/proc/none/backup", "folder"):
        status, output = run(*words, path)
        assert status == 2, (path, output)
