"""Parses JSON bodies strictly before the framework sees them.

A body must be UTF-8, declared as JSON and hold one document without duplicate keys, NaN or deep
nesting.
"""

import difflib
import json
import math
import re
from collections.abc import Callable, Coroutine, Iterable, Sequence

from fastapi import Request, Response
from fastapi.routing import APIRoute

from api.responses.errors import (
    MalformedJsonError,
    MissingParameterError,
    UnknownParameterError,
    UnsupportedMediaTypeError,
)
from warehouse.records.errors import InvalidInputsError, InvalidParameterError, SametrackError
from warehouse.records.values import ReadOnlyDocument

MAX_DEPTH = 8
MAX_DIGITS = 4_300
"""`int` refuses more, because it takes time quadratic in the digits."""
_WORD = r"[!#$%&'+.^_`|~0-9a-z-]+"  # without `*`, which splits one parameter into several
_JSON = re.compile(
    rf"""application/json [ \t]*
    (?: ; [ \t]* (?: (?: charset=(?: utf-8 | "utf-8" )
                       | (?!charset=){_WORD}=(?: {_WORD} | "(?: [^"\\] | \\. )*" ) ) [ \t]* )? )*
    """,
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)


class _ParsedRequest(Request):
    """A request with a parsed body, so that the framework reads neither bytes nor JSON again."""

    async def body(self) -> bytes:
        return b"{}"  # the framework only checks that there is a body

    async def json(self) -> object:
        return self.state.document


class JsonRoute(APIRoute):
    """A route whose JSON body, if its operation has one, is parsed strictly."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[object, object, Response]]:
        """Wrap the framework's handler with strict parsing of the body."""
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def strict(request: Request) -> Response:
            check_content_type(request.headers.get("content-type"))
            request.state.document = self.read_document(await request.body())
            return await handle(_ParsedRequest(request.scope, request.receive))

        return strict

    def read_document(self, body: bytes) -> object:
        """Parse a body. Operations that report another error override this method.

        Raises:
            MalformedJsonError: See `parse_json`.
        """
        return parse_json(body)


def check_content_type(header: str | None) -> None:
    """Accept `application/json` in UTF-8.

    Raises:
        UnsupportedMediaTypeError: The header is missing or declares anything else.
    """
    if header is None or _JSON.fullmatch(header) is None:
        raise UnsupportedMediaTypeError("The Content-Type header must be application/json in UTF-8")


def parse_json(body: bytes) -> object:
    """Parse the single JSON document of a body.

    Raises:
        MalformedJsonError: The body is malformed, ambiguous or nested too deeply.
    """
    try:
        document = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_unique_keys,
            parse_constant=_refuse_constant,
            parse_int=_parse_int,
        )
    except UnicodeDecodeError as exc:
        raise MalformedJsonError("The body is not valid UTF-8") from exc
    except RecursionError as exc:
        raise MalformedJsonError(f"The body is nested deeper than {MAX_DEPTH} levels") from exc
    except json.JSONDecodeError as exc:
        raise MalformedJsonError(f"{exc.msg}, at character {exc.pos}") from exc
    # Go down level by level: recursion would be as deep as the document.
    level = [document] if isinstance(document, dict | list) else []
    for _ in range(MAX_DEPTH):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
    if level:
        raise MalformedJsonError(f"The body is nested deeper than {MAX_DEPTH} levels")
    return document


# Hooks of the parser, which calls them for each object, constant and whole number.


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build an object and refuse duplicate keys, of which one would silently win."""
    names = dict(pairs)
    if len(names) < len(pairs):
        raise MalformedJsonError("A key appears twice in one object")
    return names


def _refuse_constant(name: str) -> None:
    raise MalformedJsonError(f"{name} is not a JSON value")


def _parse_int(digits: str) -> int | float:
    """Return a whole number; one with very many digits is infinite, which no parameter accepts."""
    if len(digits) > MAX_DIGITS:
        return -math.inf if digits.startswith("-") else math.inf
    return int(digits)


# Converts the framework's validation errors into named errors that quote the invalid value.
#
# A value is quoted only as short printable text, because input may be invalid Unicode.

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
