"""Text from outside never drives the terminal."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from typer.testing import CliRunner

from api.cli import terminal
from api.cli.main import app


@given(st.text())
def test_no_control_or_direction_character_survives(text: str) -> None:
    kinds = {
        unicodedata.category(sign) for sign in terminal.sanitize(text) if sign not in "\u200c\u200d"
    }
    assert not kinds & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@given(st.text())
def test_markup_of_others_is_shown_not_obeyed(text: str) -> None:
    console = Console(width=10_000, color_system=None, highlight=False, emoji=False)
    with console.capture() as shown:
        console.print(terminal.safe(text), end="", soft_wrap=True)
    assert shown.get().replace("\\\\", "\\") == terminal.sanitize(text).replace("\\\\", "\\")


@pytest.mark.parametrize("text", ["\x1b[2J\x1b[1;31mowned", "a\u202egnp.exe", "\x07bell\x9b31m"])
def test_escape_sequences_become_visible_signs(text: str) -> None:
    assert "\N{REPLACEMENT CHARACTER}" in terminal.sanitize(text)
    assert "\x1b" not in terminal.safe(text)


def test_long_text_is_cut_with_a_sign() -> None:
    assert terminal.sanitize("a" * 50, limit=10) == "a" * 9 + "…"


def test_commands_in_messages_are_printed_as_this_one_was_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "sametrack"
    program.write_text("")
    program.chmod(0o755)
    text = "run `sametrack demo`; logs are in /var/sametrack logs"
    monkeypatch.setattr("sys.argv", [str(program)])
    monkeypatch.setenv("PATH", "/nowhere")
    assert terminal.as_typed(text) == text.replace("`sametrack", f"`{program}")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert terminal.as_typed(text) == text
    monkeypatch.setattr("sys.argv", ["/python/main.py"])
    assert terminal.as_typed(text) == text


@pytest.mark.parametrize(
    ("kind", "code"), [("invalid_music_input", 2), ("upstream_forbidden", 1), (None, 1)]
)
def test_the_exit_code_tells_whose_turn_it_is(kind: str | None, code: int) -> None:
    assert terminal.show_document_error({"type": kind, "detail": "x", "hint": None}) == code


@pytest.mark.parametrize(
    "group", ["scan", "jobs", "up", "demo", "serve", "worker", "sandbox", "audio"]
)
def test_every_command_explains_itself(group: str) -> None:
    answer = CliRunner().invoke(app, [group, "--help"])
    assert answer.exit_code == 0
    assert "Usage" in answer.output
