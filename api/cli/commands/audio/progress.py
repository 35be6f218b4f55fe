"""What the audio commands share on the terminal: the progress bar, the style of a verdict."""

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from api.cli.terminal import err
from warehouse.records.evidence import Verdict

VERDICT_STYLE: dict[Verdict, str] = {
    "confirmed": "bold green",
    "variant": "bold yellow",
    "rejected": "bold red",
    "not_comparable": "bold blue",
}


def audio_progress() -> Progress:
    """Return a progress bar on stderr that vanishes at its end."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeRemainingColumn(), console=err, transient=True)
