"""Options that several commands have, and those made from parameter tables such as `PARAMETERS`.

Names, defaults, limits and help texts of parameters therefore exist only once.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from pipelines.parameters.scan import MAX_SEARCH_KEYWORDS, Parameter

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

_KEYWORDS = "search_keywords"
_PANEL = "Parameters"
_KeywordsOption = Annotated[
    str | None,
    typer.Option(
        "--search-keywords",
        help=f"Comma-separated song titles to search for, at most {MAX_SEARCH_KEYWORDS}. "
        "Default: the music title.",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]


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
        rich_help_panel=_PANEL,
        show_default=False,
    )


def with_parameter_options[Command: Callable[..., None]](
    parameters: Iterable[Parameter], *, has_keywords: bool = False
) -> Callable[[Command], Command]:
    """Give a command one option per parameter in place of its `**options`.

    Written out, the 15 options of a scan would stand in three commands besides their table. The
    command stays the function that it is; only the signature that Typer reads is longer.

    Args:
        parameters: The parameters, for example `PARAMETERS` of a scan.
        has_keywords: Add `--search-keywords`, the parameter of a scan that is a list.
    """
    # Built once per command, when its module is imported.
    annotations: dict[str, object] = {}
    for parameter in parameters:
        kind = parameter.kind
        if parameter.choices:  # Typer offers the members of an enumeration as choices
            members = [(choice, choice) for choice in parameter.choices]
            kind = cast("type", StrEnum(parameter.name, members))
        annotations[parameter.name] = Annotated[kind | None, parameter_option(parameter)]
    if has_keywords:
        annotations[_KEYWORDS] = _KeywordsOption

    def extend(command: Command) -> Command:
        own = [
            parameter
            for parameter in inspect.signature(command).parameters.values()
            if parameter.kind is not parameter.VAR_KEYWORD
        ]
        command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # inspect reads it
            [
                *own,
                *(
                    inspect.Parameter(
                        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
                    )
                    for name, annotation in annotations.items()
                ),
            ]
        )
        return command

    return extend


def given_parameters(options: Mapping[str, object]) -> dict[str, object]:
    """Return the options that were given as plain values; keywords as a list.

    Raises:
        typer.BadParameter: There are too many keywords.
    """
    parameters: dict[str, object] = {}
    for name, value in options.items():
        if name == _KEYWORDS and isinstance(value, str):
            titles = value.replace("\uff0c", ",").split(",")  # Chinese commas, too
            keywords = [title.strip() for title in titles if title.strip()]
            if len(keywords) > MAX_SEARCH_KEYWORDS:
                raise typer.BadParameter(
                    f"at most {MAX_SEARCH_KEYWORDS} keywords", param_hint=_KEYWORDS
                )
            parameters[name] = keywords
        elif value is not None:
            parameters[name] = value.value if isinstance(value, StrEnum) else value
    return parameters


def client_arguments(options: Mapping[str, object]) -> dict[str, Any]:
    """Return the options that were given as arguments of the client, which checks their types."""
    arguments = given_parameters(options)
    if _KEYWORDS in arguments:
        arguments["keywords"] = arguments.pop(_KEYWORDS)
    return arguments
