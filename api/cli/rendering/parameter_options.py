"""Generates command-line options from parameter tables such as `PARAMETERS`.

Names, defaults, limits and help texts therefore exist only once.
"""

import inspect
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Annotated, Any

import typer

from pipelines.parameters.scan import MAX_SEARCH_KEYWORDS, PARAMETERS, Parameter

PANEL = "Parameters"
KEYWORDS = "search_keywords"


def with_parameter_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add one option per scan parameter to `command`, which takes them as `**given`.

    An option that was not given is None, so that `scan_parameters` applies defaults and linked
    values.
    """
    return _add_options(command, [*map(_option, PARAMETERS), _keywords_option()])


def with_options_of(
    parameters: Iterable[Parameter],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add options for the given parameters."""
    made = [_option(parameter) for parameter in parameters]
    return lambda command: _add_options(command, made)


def _add_options(
    command: Callable[..., None], made: list[inspect.Parameter]
) -> Callable[..., None]:
    signature = inspect.signature(command)
    own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    command.__signature__ = signature.replace(parameters=[*own, *made])  # type: ignore[attr-defined]  # inspect reads it
    command.__annotations__ = {one.name: one.annotation for one in (*own, *made)}
    return command


def given_parameters(options: dict[str, Any]) -> dict[str, object]:
    """Return the given options as plain values; keywords as a list."""
    given: dict[str, object] = {}
    for name, value in options.items():
        if value is None:
            continue
        if name == KEYWORDS:
            given[name] = split_keywords(value)
        else:
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


def _kind(parameter: Parameter) -> Any:
    if parameter.choices:
        return StrEnum(parameter.name, [(choice, choice) for choice in parameter.choices])
    return parameter.kind


def _default(parameter: Parameter) -> str:
    if parameter.linked_to is not None:
        return f"Default: same as {parameter.linked_to.replace('_', '-')}."
    if isinstance(parameter.default, bool):
        return f"Default: {'yes' if parameter.default else 'no'}."
    return f"Default: {parameter.default}."
