"""Options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

LANGUAGES = ("en", "zh")
"""Languages of a written page."""

ApiOption = Annotated[
    str | None,
    typer.Option(
        "--api", help="Address of a running service. Default: the local one, or no service at all."
    ),
]
ServiceOption = Annotated[
    str | None,
    typer.Option("--api", help="Address of a running service. Default: the stores here."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
JsonDataOption = Annotated[bool, typer.Option("--json", help="Print the data as JSON on stdout.")]
JsonDocumentOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="DATE",
        help="Only data committed until then: 2026-11-01 (end of day, UTC) or a time.",
    ),
]
OutFile = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="File to write. Default: stdout.")
]
MatchThreshold = Annotated[float, typer.Option(min=0.0, max=1.0, help="Minimum score of a match.")]
SandboxDay = Annotated[
    str | None,
    typer.Option(
        "--today", metavar="DATE", help="Day on which the sandbox ends. Default: SANDBOX_CALENDAR."
    ),
]
SandboxSeed = Annotated[int, typer.Option(help="Seed of the sandbox.")]
SandboxSize = Annotated[
    float, typer.Option(min=0.05, max=40, help="Size of the sandbox; 1 is 5,000 videos.")
]
