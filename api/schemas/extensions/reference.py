"""The shape of the reference: operations, parameters and errors in two languages."""

from typing import Annotated, Any

from pydantic import Field

from api.schemas.shape import Shape


class ReferenceParameter(Shape):
    """One parameter. Limits that do not apply are null."""

    name: str
    in_: Annotated[str, Field(alias="in", description="`query`, `path`, `header` or `body`")]
    type: str
    required: bool
    default: Annotated[Any, Field(description="null: none, or `default_from`")]
    default_from: Annotated[
        str | None, Field(description="the parameter whose value is taken when this is left out")
    ]
    minimum: float | None
    maximum: float | None
    min_items: int | None
    max_items: int | None
    pattern: str | None
    format: str | None
    allowed: list[str | int] | None
    meaning: str
    meaning_zh: str


class ReferenceExample(Shape):
    """A request that runs as it stands."""

    url: str
    body: Annotated[Any, Field(description="null: no body")]
    file: Annotated[str | None, Field(description="name to keep the answer under; null: a text")]


class ReferenceOperation(Shape):
    """One operation; `number` is its place in the interface, null for our own."""

    id: str
    number: str | None
    operation_id: str
    method: str
    path: str
    tag: str
    tag_zh: str
    summary: str
    summary_zh: str
    description: str
    description_zh: str
    parameters: list[ReferenceParameter]
    statuses: Annotated[
        dict[str, list[str]], Field(description="types of error by HTTP status; none: an answer")
    ]
    example: ReferenceExample | None


class ReferenceFailure(Shape):
    """One type of error and what to do about it."""

    type: str
    status: int
    message: str
    message_zh: str
    hint: str
    hint_zh: str


class Reference(Shape):
    """Everything that can be asked, and everything that can go wrong."""

    operations: list[ReferenceOperation]
    errors: list[ReferenceFailure]
