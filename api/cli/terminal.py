"""Terminal output: results on stdout, messages and errors on stderr.

Text from the platform must pass `safe`: a title may hold escape sequences that move the cursor, or
square brackets that rich reads as markup.
"""

import json
import os
import re
import shlex
import shutil
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TextIO

import typer
from rich.console import Console
from rich.markup import escape

from warehouse.records.errors import InputError, SametrackError

TRACE = "SAMETRACK_TRACE"
"""With this variable in the environment, an error is shown with its stack trace."""
EXIT_FAILED = 1
EXIT_INPUT = 2
EXIT_INTERRUPTED = 130  # what a shell expects after Ctrl-C

INPUT_ERROR_TYPES = frozenset(
    {
        "missing_parameter",
        "invalid_parameter",
        "unknown_parameter",
        "unresolvable_sec_user_id",
        "invalid_music_input",
        "invalid_inputs",
        "invalid_date_range",
        "invalid_video_ids",
        "job_not_found",
        "not_found",
        "profile_not_chosen",
        "token_file",
    }
)
"""Error types that are caused by the input: exit status 2."""

PIPED_WIDTH = 140  # rich would use 80 columns in a pipe


def _console(stream: TextIO, *, stderr: bool) -> Console:
    is_wide = not stream.isatty() and "COLUMNS" not in os.environ
    return Console(highlight=False, stderr=stderr, width=PIPED_WIDTH if is_wide else None)


out = _console(sys.stdout, stderr=False)
err = _console(sys.stderr, stderr=True)

_UNSAFE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d")  # harmless, and used by emoji and some scripts


def sanitize(text: object, *, limit: int | None = None) -> str:
    """Return one line without control, bidirectional or surrogate characters."""
    # A replacement sign shows that something was there; it may be meant to deceive.
    characters = []
    for character in str(text):
        if character in "\t\n\r":
            characters.append(" ")
        elif unicodedata.category(character) in _UNSAFE_CATEGORIES and character not in _JOINERS:
            characters.append("\N{REPLACEMENT CHARACTER}")
        else:
            characters.append(character)
    line = "".join(characters)
    return line if limit is None or len(line) <= limit else line[: limit - 1] + "…"


def safe(text: object, *, limit: int | None = None) -> str:
    """Return `sanitize` text with rich markup escaped."""
    return escape(sanitize(text, limit=limit))


def as_typed(text: str) -> str:
    """Return a text whose commands `sametrack …` can be copied and run.

    If the program is not on the PATH, its path replaces its name, as the user typed it.
    """
    program, typed, on_path = "sametrack", Path(sys.argv[0]), shutil.which("sametrack")
    if typed.name == "sametrack" and typed.is_file():
        is_on_path = on_path is not None and Path(on_path).samefile(typed)
        program = program if is_on_path else shlex.quote(str(typed))
    return re.sub(r"(?<![\w./-])sametrack (?=[a-z])", f"{program} ", text)


def format_count(value: int | None) -> str:
    """Format a count with thousands separators; unknown is a dash, never 0."""
    return "—" if value is None else f"{value:,}"


def print_message(message: str) -> None:
    """Print a message on stderr; `message` may hold trusted rich markup."""
    err.print(as_typed(message), soft_wrap=True)


def print_json(document: object, *, indent: int | None = 2) -> None:
    """Print a JSON document on stdout."""
    out.out(json.dumps(document, ensure_ascii=False, indent=indent))


def print_document(
    document: object, view: Callable[[], None] | str, *, as_json: bool, indent: int | None = 2
) -> None:
    """Print a document as JSON, or for people: a line of text, or what `view` prints."""
    if as_json:
        print_json(document, indent=indent)
    elif isinstance(view, str):
        out.print(view)
    else:
        view()


def print_written(path: Path, more: str = "") -> None:
    """Print that a file was written, and `more` about it."""
    out.print(f"[green]written[/] {safe(path)} {more}".rstrip(), soft_wrap=True)


def show_error(kind: str, detail: object, hint: object | None = None) -> None:
    """Print what happened, the type of the error for look-up, and a hint on what to do."""
    detail_text = as_typed(safe(detail))
    err.print(f"[bold red]error:[/] {detail_text} [dim]({safe(kind)})[/]", soft_wrap=True)
    if hint:
        err.print(f"  [dim]→[/] {as_typed(safe(hint))}", soft_wrap=True)


def show_document_error(document: object) -> int:
    """Print an error document (`type`, `detail`, `hint`) and return its exit code."""
    fields = document if isinstance(document, dict) else {}
    kind = str(fields.get("type") or "internal_error")
    show_error(kind, fields.get("detail") or "no details", fields.get("hint"))
    return EXIT_INPUT if kind in INPUT_ERROR_TYPES else EXIT_FAILED


def exit_code(error: SametrackError) -> int:
    """Return 2 for errors caused by the input, else 1."""
    is_input = isinstance(error, InputError) or error.type in INPUT_ERROR_TYPES
    return EXIT_INPUT if is_input else EXIT_FAILED


def exit_with_input_error(detail: str, *, hint: str | None = None) -> NoReturn:
    """Print an input error and end the command.

    Raises:
        typer.Exit: Always.
    """
    show_error("invalid_parameter", detail, hint)
    raise typer.Exit(EXIT_INPUT)
