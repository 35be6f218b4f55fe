"""Validation errors of the framework as our named errors: what is wrong with which value.

A value is quoted only as short printable text: what came in may be no Unicode at all.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from api.responses.errors import MalformedJsonError, MissingParameterError, UnknownParameterError
from warehouse.records.errors import InvalidInputsError, InvalidParameterError, SametrackError

_QUOTED_LENGTH = 60
BATCH_FIELD = "inputs"
_PLACES = {"query", "body", "path"}


def to_refusal(errors: Sequence[Mapping[str, Any]], *, known: Iterable[str]) -> SametrackError:
    """The first error decides the type; a misspelt name is told before what it caused.

    Args:
        errors: Errors of pydantic, as `RequestValidationError.errors()` gives them.
        known: Names that the operation has.
    """
    unknown = [error for error in errors if error["type"] == "extra_forbidden"]
    error = (unknown or list(errors))[0]
    name = _name(error)
    if unknown:
        return _unknown(name, known)
    if name.partition(".")[0] == BATCH_FIELD:
        return InvalidInputsError(_complaint(name, error))
    if error["type"] == "json_invalid":
        return MalformedJsonError("The body is not valid JSON")
    if error["type"] == "missing":
        return MissingParameterError(f"`{name}` is required" if name else str(error["msg"]))
    return InvalidParameterError(_complaint(name, error))


def quoted(value: object) -> str:
    """A value for a message: short, one line, printable; other kinds are named only."""
    if not isinstance(value, str | int | float | bool):
        return "a value of another kind"
    text = repr(value) if isinstance(value, str) else str(value)
    text = "".join(sign if sign.isprintable() else "?" for sign in text)
    return text if len(text) <= _QUOTED_LENGTH else f"{text[:_QUOTED_LENGTH]}..."


def _name(error: Mapping[str, Any]) -> str:
    parts = [str(part) for part in error["loc"] if part not in _PLACES]
    name = ".".join(parts)
    return quoted(name)[1:-1] if name else ""


def _unknown(name: str, known: Iterable[str]) -> UnknownParameterError:
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"Did you mean `{near[0]}`?" if near else f"Known are: {', '.join(names)}"
    return UnknownParameterError(f"`{name}` is not a parameter of this operation", hint=hint)


def _complaint(name: str, error: Mapping[str, Any]) -> str:
    message = str(error["msg"])
    message = message[0].lower() + message[1:]
    if not name:
        return f"The request is invalid: {message}"
    return f"`{name}`: {message}, not {quoted(error.get('input'))}"
