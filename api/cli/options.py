"""Options that several commands have, and those made from parameter tables such as `PARAMETERS`.

Names, defaults, limits and help texts of parameters therefore exist only once.
"""

from pathlib import Path
from typing import Annotated, Any

import typer

from pipelines.parameters.scan import Parameter

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

PARAMETERS_PANEL = "Parameters"


def parameter_option(parameter: Parameter) -> Any:  # as `typer.Option`, which it calls
    """Return the option of a parameter, for an argument whose default is None.

    An option that was not given stays None, so that the service applies defaults and linked values.
    """
    if parameter.linked_to is not None:
        default = f"same as {parameter.linked_to.replace('_', '-')}"
    elif isinstance(parameter.default, bool):
        default = "yes" if parameter.default else "no"
    else:
        default = str(parameter.default)
    name = parameter.name.replace("_", "-")
    return typer.Option(
        f"--{name}/--no-{name}" if parameter.kind is bool else f"--{name}",
        min=parameter.minimum,
        max=parameter.maximum,
        help=f"{parameter.meaning[0].upper()}{parameter.meaning[1:]}. Default: {default}.",
        rich_help_panel=PARAMETERS_PANEL,
        show_default=False,
    )


def given_parameters(**options: object) -> dict[str, Any]:
    """Return the options that were given; the service applies the defaults of the others."""
    return {name: value for name, value in options.items() if value is not None}
