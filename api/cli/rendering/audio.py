"""What the audio commands share on the terminal: progress bar, tables and words of verdicts."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.table import Table

from api.cli.terminal import err, safe
from pipelines.documents.messages import searched_message
from warehouse.records.evidence import PairEvidence, SearchedRange, Verdict

if TYPE_CHECKING:
    from rich.progress import Progress

VERDICT_STYLE: dict[Verdict, str] = {
    "confirmed": "bold green",
    "variant": "bold yellow",
    "rejected": "bold red",
    "not_comparable": "bold blue",
}


def audio_progress() -> "Progress":
    """Return a progress bar on stderr that vanishes at its end."""
    from rich.progress import (  # noqa: PLC0415 -- not for JSON
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

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
    return f"[dim]searched: {safe(searched_message(asdict(searched)).en)}[/]"


def verdict_words(evidence: PairEvidence) -> str:
    """Return the verdict and, for a rejected pair, its likely kind."""
    named = (evidence.observation or "").replace("_", " ")
    return f"{evidence.verdict}, {named}" if named else evidence.verdict
