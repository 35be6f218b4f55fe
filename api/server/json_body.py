"""Parses JSON bodies strictly before the framework sees them.

A body must be UTF-8, declared as JSON and hold one document without duplicate keys, NaN or deep
nesting.
"""

import json
import math
import re
from collections.abc import Callable, Coroutine

from fastapi import Request, Response
from fastapi.routing import APIRoute

from api.responses.errors import (
    MalformedJsonError,
    UnsupportedMediaTypeError,
)

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
