"""Declares an operation of the service, and makes it a method of both clients.

On a client, an operation is a method that sends its request; on the asynchronous client it is
awaited. On the class `Operations`, it is the declaration, whose `request` builds a request only.
"""

from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from inspect import Parameter, signature
from types import MethodType
from typing import Concatenate, Literal, Protocol, Self, TypedDict, Unpack, overload
from urllib.parse import quote

from .request import ApiRequest
from .responses import ApiResponse

type Method = Literal["GET", "POST", "PATCH", "DELETE"]


class AsyncRequestSender(Protocol):
    """The asynchronous client, as an operation sees it."""

    async def send[Data](self, request: ApiRequest[Data]) -> ApiResponse[Data]: ...


class RequestSender(Protocol):
    """The synchronous client, as an operation sees it."""

    def send[Data](self, request: ApiRequest[Data]) -> ApiResponse[Data]: ...


class OperationTraits(TypedDict, total=False):
    """What an operation does differently from the others.

    Attributes:
        number: Its number in the interface; operations of our own have none.
        id: Its short name in the interface. By default the last part of the path.
        sent_as: Names that arguments have in the request, where they differ.
        always: Fields that are always sent.
        body: The argument that is the whole body.
        is_safe: Whether it may be retried. By default True for a GET only.
        timeout_s: Read timeout.
    """

    number: int
    id: str
    sent_as: Mapping[str, str]
    always: Mapping[str, object]
    body: str
    is_safe: bool
    timeout_s: float


class Operation[**P, Data]:
    """An operation: address, arguments and the type of `data`.

    Arguments that the path names are put there, the others into the query of a GET or the body.
    An argument that is missing, None or empty is not sent, so that the service applies its default;
    the fields of `**options` are sent as they are.
    """

    def __init__(
        self, method: Method, path: str, declared: Callable[..., Data], traits: OperationTraits
    ) -> None:
        self.method = method
        self.path = path
        self.number = traits.get("number")
        self.id = traits.get("id", path.rpartition("/")[2])
        self.data_type: str = declared.__annotations__["return"]
        self.declared = declared
        self._traits = traits
        self._signature = signature(declared)
        self._options = [
            parameter.name
            for parameter in self._signature.parameters.values()
            if parameter.kind is Parameter.VAR_KEYWORD
        ]
        self.__doc__ = declared.__doc__

    def request(self, *args: P.args, **kwargs: P.kwargs) -> ApiRequest[Data]:
        """Build the request of a call."""
        arguments = self._signature.bind(None, *args, **kwargs).arguments
        del arguments["self"]  # None: a request can be built without a client
        options = [arguments.pop(name) for name in self._options if name in arguments]
        in_path = {
            name: quote(str(value), safe="")
            for name, value in arguments.items()
            if f"{{{name}}}" in self.path
        }
        # What was not given is not sent, so that the service applies its default.
        names = self._traits.get("sent_as", {})
        fields: dict[str, object] = dict(self._traits.get("always", {}))
        for name, value in arguments.items():
            if name not in in_path and value is not None and value not in ([], ()):
                fields[names.get(name, name)] = value
        # Options are sent as they are: for a threshold, None means "never".
        for values in options:
            fields |= values
        is_query = self.method == "GET"
        body = fields[self._traits["body"]] if "body" in self._traits else fields
        return ApiRequest(
            self.method,
            self.path.format_map(in_path),
            query=fields if is_query else None,
            body=None if is_query or not fields else body,
            is_safe=self._traits.get("is_safe", is_query),
            timeout_s=self._traits.get("timeout_s"),
        )

    @overload
    def __get__(self, client: None, owner: type) -> Self: ...
    @overload
    def __get__(
        self, client: AsyncRequestSender, owner: type
    ) -> Callable[P, Coroutine[None, None, ApiResponse[Data]]]: ...
    @overload
    def __get__(self, client: RequestSender, owner: type) -> Callable[P, ApiResponse[Data]]: ...
    def __get__(self, client: AsyncRequestSender | RequestSender | None, owner: type) -> object:
        if client is None:
            return self

        # `help` and editors show the declaration: its name, arguments and docstring.
        @wraps(self.declared)
        def call(
            sender: AsyncRequestSender | RequestSender, *args: P.args, **kwargs: P.kwargs
        ) -> object:
            return sender.send(self.request(*args, **kwargs))

        return MethodType(call, client)


def operation[Owner, **P, Data](
    method: Method, path: str, **traits: Unpack[OperationTraits]
) -> Callable[[Callable[Concatenate[Owner, P], Data]], Operation[P, Data]]:
    """Make a method without a body an operation at an address."""
    return lambda declared: Operation(method, path, declared, traits)
