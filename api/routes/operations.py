"""Operations: routes whose checks, description and envelope follow from one declaration."""

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Annotated, get_args, get_origin

from anyio.to_thread import run_sync
from fastapi import APIRouter, Body, Depends, Query, Request, params
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.responses import Response
from starlette.types import Scope

from api.params.scan import QueryModel
from api.responses.envelope import conditional_response, record_parameters, success_response
from api.responses.errors import OK
from api.routes.dependencies import no_query_parameters, no_repeated_parameters
from api.schemas.responses import BODY_ERRORS, ResponseSpecs, error_responses, success, unchanged
from api.server.middleware.json_body import JsonRoute
from api.server.middleware.response_cache import cache_response
from api.services.reads.documents import ReadResult

_REQUEST = "request"
_SENT = (params.Path, params.Query, params.Body)

type _Handler = Callable[..., object]
type _Wrap = Callable[[Scope, object], Response]


class OperationRoutes:
    """The operations of one group, in the order of the description.

    A handler returns the `data` of its answer, or a `ReadResult` of it, and runs in a thread unless
    it is a coroutine. Its parameters are recorded for the envelope. One that takes the `request`
    records them itself, and one that returns a response answers with it as it is. A
    `QueryModel` among its parameters is the query, any other model the body. An operation with a
    query accepts each parameter once, any other accepts none; one with a body reads strict JSON.

    Args:
        tag: Tag of the operations.
        lists_unchanged_last: Whether the published description lists 304 behind the errors.
    """

    def __init__(self, tag: str = "Sametrack", *, lists_unchanged_last: bool = False) -> None:
        self.router = APIRouter(tags=[tag])
        self._lists_unchanged_last = lists_unchanged_last

    def read[H: _Handler](
        self,
        path: str,
        summary: str,
        answer: str,
        *errors: str,
        model: type | None = None,
        headers: tuple[str, ...] = (),
        checks: tuple[_Handler, ...] = (),
    ) -> Callable[[H], H]:
        """Declare a read that answers 304 to a client that has its `data` already.

        Args:
            path: Path template.
            summary: What the operation is called.
            answer: What a success holds.
            errors: Types of its errors.
            model: Type of `data`. Default: what the handler returns.
            headers: Further headers of a success.
            checks: Further checks of the request, which come first.
        """

        def register(handler: H) -> H:
            answered = success(model or _data_type(handler), answer, "ETag", *headers)
            parts = [unchanged(*headers), error_responses(*errors)]
            first, last = reversed(parts) if self._lists_unchanged_last else parts
            responses: ResponseSpecs = {OK: answered, **first, **last}
            declare = self.respond(
                "GET", path, summary, responses, wrap=conditional_response, checks=checks
            )
            return declare(handler)

        return register

    def act[H: _Handler](
        self,
        method: str,
        path: str,
        summary: str,
        answer: str,
        *errors: str,
        model: type | None = None,
    ) -> Callable[[H], H]:
        """Declare an operation that changes something, or whose answer changes with every request.

        Its arguments are those of `read`, after the method of the request. The errors of a body
        need not be named.
        """

        def register(handler: H) -> H:
            answered = success(model or _data_type(handler), answer)
            of_body = BODY_ERRORS if _takes(handler, params.Body) else ()
            responses: ResponseSpecs = {OK: answered, **error_responses(*errors, *of_body)}
            return self.respond(method, path, summary, responses)(handler)

        return register

    def respond[H: _Handler](
        self,
        method: str,
        path: str,
        summary: str,
        responses: ResponseSpecs,
        *,
        wrap: _Wrap = success_response,
        response_class: type[Response] = JSONResponse,
        route_class: type[APIRoute] = JsonRoute,
        checks: tuple[_Handler, ...] = (),
    ) -> Callable[[H], H]:
        """Declare an operation with all of its responses, such as one that answers a file.

        Args:
            method: Method of the request.
            path: Path template.
            summary: What the operation is called.
            responses: Its responses by status.
            wrap: Makes a response of `data`.
            response_class: `Response` for a file.
            route_class: Route that reads its body, if it has one.
            checks: Further checks of the request, which come first.
        """

        def register(handler: H) -> H:
            takes_query = _takes(handler, params.Query)
            check = no_repeated_parameters if takes_query else no_query_parameters
            self.router.add_api_route(
                path,
                _endpoint(handler, wrap),
                methods=[method],
                summary=summary,
                response_model=None,
                response_class=response_class,
                responses=responses,
                dependencies=[Depends(one) for one in (*checks, check)],
                route_class_override=route_class if _takes(handler, params.Body) else APIRoute,
            )
            return handler

        return register


def _endpoint(handler: _Handler, wrap: _Wrap) -> Callable[..., Awaitable[Response]]:
    """Return what the framework calls: it records the parameters and wraps what it gets."""
    signature = _signature(handler)
    takes_request = _REQUEST in inspect.signature(handler).parameters
    sent = _sent(signature)
    is_coroutine = inspect.iscoroutinefunction(handler)

    @functools.wraps(handler)
    async def endpoint(**values: object) -> Response:
        request = values[_REQUEST] if takes_request else values.pop(_REQUEST)
        assert isinstance(request, Request), "the framework passes the request"
        if not takes_request:
            record_parameters(request.scope, _effective({name: values[name] for name in sent}))
        run = functools.partial(handler, **values)
        result = run() if is_coroutine else await run_sync(run)
        result = await result if isinstance(result, Awaitable) else result
        return result if isinstance(result, Response) else _wrapped(request.scope, result, wrap)

    endpoint.__signature__ = signature  # type: ignore[attr-defined]  # read by inspect
    return endpoint


def _wrapped(scope: Scope, result: object, wrap: _Wrap) -> Response:
    if not isinstance(result, ReadResult):
        return wrap(scope, result)
    if result.is_cacheable:
        cache_response(scope, entities=result.entities, until=result.until)
    return wrap(scope, result.document)


def _effective(values: dict[str, object]) -> dict[str, object]:
    effective: dict[str, object] = {}
    for name, value in values.items():
        effective |= value.model_dump() if isinstance(value, BaseModel) else {name: value}
    return effective


def _sent(signature: inspect.Signature) -> dict[str, object]:
    """Return what the request carries for a handler, by the name of its parameter."""
    return {
        name: kind
        for name, parameter in signature.parameters.items()
        for kind in getattr(parameter.annotation, "__metadata__", ())
        if isinstance(kind, _SENT)
    }


def _signature(handler: _Handler) -> inspect.Signature:
    """Return the signature for the framework, in which models say what they are models of."""
    signature = inspect.signature(handler)
    own = [
        _declared(parameter) for name, parameter in signature.parameters.items() if name != _REQUEST
    ]
    added = inspect.Parameter(_REQUEST, inspect.Parameter.KEYWORD_ONLY, annotation=Request)
    return signature.replace(parameters=[added, *own])


def _declared(parameter: inspect.Parameter) -> inspect.Parameter:
    kind = parameter.annotation
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        kind = Annotated[kind, Query() if issubclass(kind, QueryModel) else Body()]
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=kind)


def _takes(handler: _Handler, kind: type) -> bool:
    return any(isinstance(sent, kind) for sent in _sent(_signature(handler)).values())


def _data_type(handler: _Handler) -> type:
    returned = inspect.signature(handler).return_annotation
    found: type = get_args(returned)[0] if get_origin(returned) is ReadResult else returned
    return found
