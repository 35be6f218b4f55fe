"""Output that the audio commands share: progress bar, tables, verdicts, unreadable files."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from api.cli.terminal import EXIT_INPUT, err, print_message, safe, show_error
from pipelines.audio.features.sounds import NotComparable, SoundMeasurement
from pipelines.documents import messages
from pipelines.documents.verdicts import likely_kind
from warehouse.files import file_problem
from warehouse.records.evidence import PairEvidence, SearchedRange, Verdict

VERDICT_STYLE: dict[Verdict, str] = {
    "confirmed": "bold green",
    "variant": "bold yellow",
    "rejected": "bold red",
    "not_comparable": "bold blue",
}


_MOST_NAMED = 10
READ_REASONS = frozenset({"silent", "silent_start", "too_short"})
"""Reasons of files that were read as sounds: their outcome is that they cannot be compared."""


def audio_progress() -> Progress:
    """Return a progress bar on stderr that vanishes at its end."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeRemainingColumn(), console=err, transient=True)


def verdict_table(*names: str, numbers: tuple[str, ...]) -> Table:
    """Return a table with columns of names, the verdict and numbers."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold")
    table.add_column("verdict", no_wrap=True)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def styled_verdict(evidence: PairEvidence) -> str:
    """Return `verdict_words` in the colour of the verdict."""
    return f"[{VERDICT_STYLE[evidence.verdict]}]{verdict_words(evidence)}[/]"


def format_number(value: float | None, form: str) -> str:
    """Format a measured number; unknown is a dash."""
    return "–" if value is None else format(value, form)


def searched_text(searched: SearchedRange) -> str:
    """Return the line that says what a comparison looked for."""
    return f"[dim]searched: {safe(messages.searched_message(asdict(searched)).en)}[/]"


def evidence_document(evidence: PairEvidence) -> dict[str, object]:
    """Return the evidence of a pair for JSON, with the relation of its sounds."""
    return {**asdict(evidence), "relation": evidence.relation}


def verdict_words(evidence: PairEvidence) -> str:
    """Return the verdict and, for a rejected pair, what it shares or its likely kind."""
    words = evidence.verdict.replace("_", " ")
    kind = likely_kind(evidence)
    return words if kind is None else f"{words}, {kind.en}"


def sound_problems(
    files: Iterable[tuple[Path, SoundMeasurement]], *, allowed: frozenset[str] = READ_REASONS
) -> list[str]:
    """Return a sentence for each file that could not be read as a sound.

    Args:
        files: Paths and what was measured of each.
        allowed: Reasons that are an outcome, not a problem of the input.
    """
    sentences = []
    for path, sound in dict(files).items():
        if isinstance(sound, NotComparable) and sound.reason not in allowed:
            # The path itself may be the problem: a folder, or a file that cannot be read.
            problem = file_problem(path)
            reason = f"{path}: {messages.sound_message(sound.reason).en}"
            sentences.append(reason if problem is None else problem.detail)
    return sentences


def print_problems(problems: list[str]) -> None:
    """Print the first problems of many files, and how many more there are."""
    for problem in problems[:_MOST_NAMED]:
        print_message(f"  [yellow]cannot be compared:[/] {safe(problem)}")
    if len(problems) > _MOST_NAMED:
        print_message(f"  and {messages.counted(len(problems) - _MOST_NAMED, 'more file')}")


def exit_if_any(problems: list[str]) -> None:
    """Print each problem of the files; end the command if there is any.

    Raises:
        typer.Exit: Status 2.
    """
    for problem in problems:
        show_error("invalid_parameter", problem)
    if problems:
        raise typer.Exit(EXIT_INPUT)
