"""Schema of the bilingual reference: operations, parameters, errors."""

from typing import Annotated

from pydantic import Field

from pipelines.documents.fields import ClosedDocument


class ReferenceParameter(ClosedDocument):
    """One parameter. Limits that do not apply are null."""

    name: str
    in_: Annotated[str, Field(alias="in", description="`query`, `path`, `header` or `body`")]
    type: str
    required: bool
    default: Annotated[object, Field(description="null: none, or `default_from`")]
    default_from: Annotated[
        str | None, Field(description="parameter whose value is the default of this one")
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


class ReferenceExample(ClosedDocument):
    """A request that works as shown."""

    url: str
    body: Annotated[object, Field(description="null: no body")]
    file: Annotated[
        str | None, Field(description="file name for a binary response; null: text response")
    ]


class ReferenceOperation(ClosedDocument):
    """One operation; `number` is its number in the interface, null for extensions."""

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
        dict[str, list[str]], Field(description="error types by HTTP status; empty: success")
    ]
    example: ReferenceExample | None


class ReferenceFailure(ClosedDocument):
    """One error type with its hint."""

    type: str
    status: int
    message: str
    message_zh: str
    hint: str
    hint_zh: str


class Reference(ClosedDocument):
    """All operations and all error types."""

    operations: list[ReferenceOperation]
    errors: list[ReferenceFailure]
