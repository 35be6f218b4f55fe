"""What the audio commands share on the terminal: the progress bar, the style of a verdict."""

from typing import TYPE_CHECKING

from api.cli.terminal import err
from warehouse.records.evidence import Verdict

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
