"""What the types of documents share: their base and the fields that many of them have.

A document is a plain `dict`, because it is stored, cached and encoded as one. Its `TypedDict` lets
mypy check the code that builds it, pydantic validate it in tests, and FastAPI describe it; none of
this costs a request anything.
"""

from typing import Annotated, TypedDict

from pydantic import ConfigDict, Field, with_config


@with_config(ConfigDict(extra="forbid"))
class ClosedDocument(TypedDict):
    """An object with exactly the fields that its type names; unknown values are null."""


Id = Annotated[str, Field(description="decimal digits as text", examples=["7348759830572834348"])]
Timestamp = Annotated[str, Field(description="ISO 8601, UTC", examples=["2026-01-31T12:00:00Z"])]
Count = Annotated[int, Field(ge=0)]
OptionalCount = Annotated[int | None, Field(description="null: unknown")]
