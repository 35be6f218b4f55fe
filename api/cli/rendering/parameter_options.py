"""Generates command-line options from parameter tables such as `PARAMETERS`.

Names, defaults, limits and help texts therefore exist only once.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, cast

import typer

from pipelines.parameters.scan import MAX_SEARCH_KEYWORDS, PARAMETERS, Parameter

PANEL = "Parameters"
KEYWORDS = "search_keywords"


def with_parameter_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add one option per scan parameter to `command`, which takes them as `**given`."""
    parameters = inspect.signature(command).parameters.values()
    own = [one for one in parameters if one.kind is not one.VAR_KEYWORD]
    return with_signature(command, [*own, *scan_options()])


def with_signature(
    command: Callable[..., None], parameters: Sequence[inspect.Parameter]
) -> Callable[..., None]:
    """Give `command` these parameters, which Typer reads from its signature."""
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # inspect reads it
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def scan_options() -> list[inspect.Parameter]:
    """Return the options of all scan parameters."""
    return [*parameter_options(PARAMETERS), _keywords_option()]


def parameter_options(parameters: Iterable[Parameter]) -> list[inspect.Parameter]:
    """Return the options of the given parameters.

    An option that was not given is None, so that `scan_parameters` applies defaults and linked
    values.
    """
    return [_option(parameter) for parameter in parameters]


def given_parameters(options: Mapping[str, object]) -> dict[str, object]:
    """Return the given options as plain values; keywords as a list."""
    given: dict[str, object] = {}
    for name, value in options.items():
        if name == KEYWORDS and isinstance(value, str):
            given[name] = split_keywords(value)
        elif value is not None:
            given[name] = value.value if isinstance(value, StrEnum) else value
    return given


def split_keywords(text: str) -> list[str]:
    """Split comma-separated titles (Latin or Chinese commas).

    Raises:
        typer.BadParameter: There are too many.
    """
    words = [word.strip() for word in text.replace("\uff0c", ",").split(",") if word.strip()]
    if len(words) > MAX_SEARCH_KEYWORDS:
        raise typer.BadParameter(f"at most {MAX_SEARCH_KEYWORDS} keywords", param_hint=KEYWORDS)
    return words


def _option(parameter: Parameter) -> inspect.Parameter:
    flag = f"--{parameter.name.replace('_', '-')}"
    is_flag = parameter.kind is bool
    option = typer.Option(
        f"{flag}/--no-{flag[2:]}" if is_flag else flag,
        min=parameter.minimum,
        max=parameter.maximum,
        help=f"{parameter.meaning[0].upper()}{parameter.meaning[1:]}. {_default(parameter)}",
        rich_help_panel=PANEL,
        show_default=False,
    )
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[_kind(parameter) | None, option],
    )


def _keywords_option() -> inspect.Parameter:
    """Return the option of the one parameter that is a list and not in `PARAMETERS`."""
    option = typer.Option(
        "--search-keywords",
        help=f"Comma-separated song titles to search for, at most {MAX_SEARCH_KEYWORDS}. "
        "Default: the music title.",
        rich_help_panel=PANEL,
        show_default=False,
    )
    return inspect.Parameter(
        KEYWORDS,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[str | None, option],
    )


def _kind(parameter: Parameter) -> type:
    if parameter.choices:
        members = [(choice, choice) for choice in parameter.choices]
        return cast(type, StrEnum(parameter.name, members))
    return parameter.kind


def _default(parameter: Parameter) -> str:
    if parameter.linked_to is not None:
        return f"Default: same as {parameter.linked_to.replace('_', '-')}."
    if isinstance(parameter.default, bool):
        return f"Default: {'yes' if parameter.default else 'no'}."
    return f"Default: {parameter.default}."
