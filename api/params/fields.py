"""Building blocks of parameter models: texts, fields of a table of parameters, strict models.

Unknown names are refused and values are not converted. A query string is text, so `QueryModel`
converts canonical text to the type of the field and leaves other text unchanged, so that the strict
field rejects it.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, get_args, override

import pydantic
from pydantic_core import PydanticCustomError

from api.responses.languages import split_languages
from pipelines.captures.inputs import MAX_INPUT_LENGTH
from pipelines.parameters import scan

MAX_SAFE_INTEGER = 2**53 - 1  # the largest integer that every JSON parser keeps exact

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")

_REAL = re.compile(r"-?(0|[1-9][0-9]{0,18})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?")

_BOOLEANS = {"true": True, "false": False}


def check_printable(text: str) -> str:
    """Refuse lone surrogates and control characters: they can be neither stored nor returned."""
    for sign in text:
        if "\ud800" <= sign <= "\udfff" or (sign < " " and sign not in "\t\n\r") or sign == "\x7f":
            raise PydanticCustomError("text", "Input should be text without control characters")
    return text


def _encodable(text: str) -> str:
    """Refuse lone surrogates: they have no UTF-8, so a response could not repeat them."""
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise PydanticCustomError("text", "Input should be text")
    return text


PrintableText = Annotated[pydantic.StrictStr, pydantic.AfterValidator(check_printable)]

EncodableText = Annotated[pydantic.StrictStr, pydantic.AfterValidator(_encodable)]

InputText = Annotated[PrintableText, pydantic.Field(min_length=1, max_length=MAX_INPUT_LENGTH)]

FilledText = Annotated[
    pydantic.StrictStr,
    pydantic.StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_INPUT_LENGTH),
    pydantic.AfterValidator(check_printable),
]
"""Input text without the blanks around it, not empty."""


def parameter_field(
    name: str, table: Mapping[str, scan.Parameter] = scan.BY_NAME, *, has_default: bool = True
) -> Any:  # like `pydantic.Field`: the default of a field of any type
    """Build the pydantic field of a parameter in a table, with default, limits and description.

    With `has_default=False` the default is None: the parameter was not passed.
    """
    parameter = table[name]
    maximum = parameter.maximum
    # Clients in JavaScript would round a larger integer.
    if parameter.kind is int and maximum is None:
        maximum = MAX_SAFE_INTEGER
    is_number = parameter.kind in {int, float}
    return pydantic.Field(
        default=parameter.default if has_default else None,
        ge=parameter.minimum if is_number else None,
        le=maximum if is_number else None,
        description=f"{parameter.meaning}. {parameter.meaning_zh}",
        json_schema_extra={"x-default-from": parameter.linked_to} if parameter.linked_to else None,
    )


def field_parameter(model: type[pydantic.BaseModel], name: str) -> scan.Parameter:
    """Return a field of a model as a parameter, for a command option or a form of the console."""
    field = model.model_fields[name]
    meaning = split_languages(field.description)
    limits = {
        bound: getattr(limit, bound)
        for limit in field.metadata
        for bound in ("ge", "le")
        if hasattr(limit, bound)
    }
    maximum = limits.get("le")
    return scan.Parameter(
        name=name,
        kind=_kind(field.annotation),
        default=field.default,
        minimum=limits.get("ge"),
        # `parameter_field` writes `MAX_SAFE_INTEGER` for "no limit".
        maximum=None if maximum == MAX_SAFE_INTEGER else maximum,
        meaning=meaning.en.rstrip("."),
        meaning_zh=meaning.zh.rstrip("。"),
    )


class StrictModel(pydantic.BaseModel):
    """Base of models: unknown names are errors, and values are not converted.

    One exception: 15.0 is accepted for an integer, because JSON Schema does not distinguish it
    from 15.
    """

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True, strict=True)

    _kinds: ClassVar[Mapping[str, type]] = {}
    _reads_text: ClassVar[bool] = False

    @classmethod
    @override
    def __pydantic_init_subclass__(cls, **_options: object) -> None:
        cls._kinds = {name: _kind(field.annotation) for name, field in cls.model_fields.items()}

    @pydantic.model_validator(mode="before")
    @classmethod
    def _read_numbers(cls, values: object) -> object:
        """Convert whole numbers, and canonical text of a query string, to the types of fields.

        Text such as `+3`, ` 3`, `03`, `1_0` or `yes` stays text, so the field rejects it.
        """
        if not isinstance(values, Mapping):
            return values
        typed = dict(values)
        for name, value in values.items():
            kind = cls._kinds.get(name, str)
            if isinstance(value, float) and value.is_integer() and kind is int:
                typed[name] = int(value)
            elif not cls._reads_text or not isinstance(value, str):
                continue
            elif kind is bool:
                typed[name] = _BOOLEANS.get(value, value)
            elif kind is int and _INTEGER.fullmatch(value):
                typed[name] = int(value)
            elif kind is float and _REAL.fullmatch(value):
                typed[name] = float(value)
        return typed


def _kind(annotation: object) -> type:
    """Return the type of a field that is not text: bool, int or float; else str."""
    parts = {getattr(one, "__origin__", one) for one in (annotation, *get_args(annotation))}
    return next((kind for kind in (bool, int, float) if kind in parts), str)


class QueryModel(StrictModel):
    """Parameters of a query string, which is text."""

    _reads_text: ClassVar[bool] = True
