"""Converts the framework's validation errors into named errors that quote the invalid value.

A value is quoted only as short printable text, because input may be invalid Unicode.
"""

import difflib
from collections.abc import Iterable, Sequence

from api.responses.errors import MalformedJsonError, MissingParameterError, UnknownParameterError
from warehouse.records.errors import InvalidInputsError, InvalidParameterError, SametrackError
from warehouse.records.values import ReadOnlyDocument

_QUOTED_LENGTH = 60
BATCH_FIELD = "inputs"
_LOCATIONS = {"query", "body", "path"}


def to_service_error(errors: Sequence[ReadOnlyDocument], *, names: Iterable[str]) -> SametrackError:
    """Return the error to report for a failed validation: the first problem decides.

    Args:
        errors: Problems as returned by `RequestValidationError.errors()`.
        names: Parameter names of the operation.
    """
    # An unknown name comes first, because it often causes the others: `id=5` lacks `music_id`.
    unknown = [error for error in errors if error["type"] == "extra_forbidden"]
    error = (unknown or list(errors))[0]
    # `loc` begins with the place, such as "query", and may continue into lists and objects.
    path = ".".join(str(part) for part in error["loc"] if part not in _LOCATIONS)
    name = quote_value(path)[1:-1] if path else ""
    if unknown:
        parameters = sorted(names)
        similar = difflib.get_close_matches(name, parameters, n=1, cutoff=0.5)
        hint = (
            f"Did you mean `{similar[0]}`?"
            if similar
            else f"Known parameters: {', '.join(parameters)}"
        )
        return UnknownParameterError(f"`{name}` is not a parameter of this operation", hint=hint)
    if name.partition(".")[0] == BATCH_FIELD:
        return InvalidInputsError(_describe(name, error))
    if error["type"] == "json_invalid":
        return MalformedJsonError("The body is not valid JSON")
    if error["type"] == "missing":
        return MissingParameterError(f"`{name}` is required" if name else str(error["msg"]))
    return InvalidParameterError(_describe(name, error))


def quote_value(value: object) -> str:
    """Quote a value for a message on one short printable line, such as `'abc'` or `5`.

    Only scalars are quoted.
    """
    if not isinstance(value, str | int | float | bool):
        return "a value of another type"
    text = repr(value) if isinstance(value, str) else str(value)
    text = "".join(sign if sign.isprintable() else "?" for sign in text)
    return text if len(text) <= _QUOTED_LENGTH else f"{text[:_QUOTED_LENGTH]}..."


def _describe(name: str, error: ReadOnlyDocument) -> str:
    # The framework's messages begin with a capital letter; here they continue a sentence.
    message = str(error["msg"])
    message = message[0].lower() + message[1:]
    if not name:
        return f"The request is invalid: {message}"
    return f"`{name}`: {message}, not {quote_value(error.get('input'))}"
