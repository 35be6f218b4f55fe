"""Reading a JSON body strictly, before the framework looks at it.

UTF-8 only, declared as JSON, one document, no doubled names, no NaN, not deeper than needed.
"""

import json
from collections.abc import Callable, Coroutine
from email.message import Message
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from api.responses.errors import MalformedJsonError, UnsupportedMediaTypeError

MAX_DEPTH = 8
MAX_DIGITS = 30


class _ParsedRequest(Request):
    """A request whose body has been read: the framework reads neither bytes nor JSON again."""

    async def body(self) -> bytes:
        return b"{}"  # only its presence is looked at

    async def json(self) -> Any:
        return self.state.document


class JsonRoute(APIRoute):
    """A route with a JSON body."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The framework's handler behind our own reading of the body."""
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            check_content_type(request.headers.get("content-type"))
            request.state.document = self.read_document(await request.body())
            return await handle(_ParsedRequest(request.scope, request.receive))

        return strict

    def read_document(self, body: bytes) -> Any:
        """The document in a body; an operation that wants another refusal replaces this.

        Raises:
            MalformedJsonError: See `parse_json`.
        """
        return parse_json(body)


def check_content_type(header: str | None) -> None:
    """Accept `application/json` with no charset but UTF-8.

    Raises:
        UnsupportedMediaTypeError: Anything else, and none at all.
    """
    message = Message()
    message["content-type"] = header or ""
    charset = message.get_content_charset("utf-8")
    if header is None or message.get_content_type() != "application/json" or charset != "utf-8":
        raise UnsupportedMediaTypeError("The body is not declared as application/json in UTF-8")


def parse_json(body: bytes) -> Any:
    """The one document in the body.

    Raises:
        MalformedJsonError: It is not one well-formed, unambiguous, reasonably deep document.
    """
    try:
        document = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_int=_whole,
        )
    except UnicodeDecodeError as exc:
        raise MalformedJsonError("The body is not UTF-8") from exc
    except RecursionError as exc:
        raise MalformedJsonError(f"The body is nested deeper than {MAX_DEPTH} levels") from exc
    except json.JSONDecodeError as exc:
        raise MalformedJsonError(f"{exc.msg}, at character {exc.pos}") from exc
    if _depth(document) > MAX_DEPTH:
        raise MalformedJsonError(f"The body is nested deeper than {MAX_DEPTH} levels")
    return document


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of two equal names one would win in silence."""
    names = dict(pairs)
    if len(names) < len(pairs):
        raise MalformedJsonError("A name stands twice in one object")
    return names


def _no_constant(name: str) -> None:
    raise MalformedJsonError(f"{name} is no JSON value")


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise MalformedJsonError(f"A number has more than {MAX_DIGITS} digits")
    return int(digits)


def _depth(document: Any) -> int:
    depth, level = 0, [document]
    while level:
        depth += 1
        level = [child for node in level for child in _children(node)]
    return depth


def _children(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return [child for child in node.values() if isinstance(child, dict | list)]
    return (
        [child for child in node if isinstance(child, dict | list)]
        if isinstance(node, list)
        else []
    )
