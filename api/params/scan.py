"""What a request may say: strict types, unknown names refused. Limits come from `PARAMETERS`.

Query strings are text, so `QueryModel` turns canonical text into typed values and leaves anything
else as it is, for the strict field to refuse. What the values mean is the domain's business.
"""

import re
from abc import abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    TypeAdapter,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from api.params.notes import MAX_NOTE_LENGTH, Said
from api.responses.errors import MissingParameterError
from pipelines.captures.inputs import MAX_INPUT_LENGTH, WHAT_TO_GIVE
from pipelines.parameters.scan import (
    BY_NAME,
    MAX_SEARCH_KEYWORDS,
    Parameter,
    ScanParameters,
    SortBy,
    scan_parameters,
)
from warehouse.records.errors import InvalidParameterError
from warehouse.records.jobs import JobStatus

LARGEST_WHOLE = 2**53 - 1  # the largest whole number that every JSON reader keeps exact
MAX_KEYWORD_LENGTH = 100
MAX_BATCH_INPUTS = 10
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")
_REAL = re.compile(r"-?(0|[1-9][0-9]{0,18})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?")
_FLAGS = {"true": True, "false": False}
_SEPARATORS = re.compile("[,\uff0c]")


def _printable(text: str) -> str:
    """Refuse what neither a store nor an answer can carry: lone surrogates and controls."""
    for sign in text:
        if "\ud800" <= sign <= "\udfff" or (sign < " " and sign not in "\t\n\r") or sign == "\x7f":
            raise PydanticCustomError("text", "Input should be text without control characters")
    return text


def _encodable(text: str) -> str:
    """Refuse lone surrogates: an answer could not repeat them."""
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise PydanticCustomError("text", "Input should be text")
    return text


Text = Annotated[StrictStr, AfterValidator(_printable)]
Unicode = Annotated[StrictStr, AfterValidator(_encodable)]
InputText = Annotated[Text, Field(min_length=1, max_length=MAX_INPUT_LENGTH)]
Keyword = Annotated[Text, Field(min_length=1, max_length=MAX_KEYWORD_LENGTH)]


def limited(name: str, table: Mapping[str, Parameter] = BY_NAME) -> Any:
    """The pydantic field of a parameter of a table: default, limits, description."""
    parameter = table[name]
    maximum = parameter.maximum
    if parameter.kind is int and maximum is None:
        maximum = LARGEST_WHOLE
    numeric = parameter.kind in {int, float}
    return Field(
        default=parameter.default,
        ge=parameter.minimum if numeric else None,
        le=maximum if numeric else None,
        description=f"{parameter.meaning}. {parameter.meaning_zh}",
        json_schema_extra={"x-default-from": parameter.linked_to} if parameter.linked_to else None,
    )


def _keywords(value: object) -> object:
    """Text is split at commas of both scripts; doubles and blanks go, the order stays."""
    if isinstance(value, str):
        value = _SEPARATORS.split(value)
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        return value
    kept: dict[str, str] = {}
    for word in value:
        if word.strip():
            kept.setdefault(word.strip().casefold(), word.strip())
    return list(kept.values())


class Strict(BaseModel):
    """Unknown names are refused, nothing is converted."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class QueryModel(Strict):
    """Parameters of a query string."""

    @model_validator(mode="before")
    @classmethod
    def _read_text(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return {name: cls._typed(name, value) for name, value in given.items()}

    @classmethod
    def _typed(cls, name: str, value: object) -> object:
        """Canonical text of the field's type as a value: not `+3`, ` 3`, `03`, `1_0`, `yes`."""
        kind = BY_NAME[name].kind if name in BY_NAME else cls.whole_fields.get(name, str)
        if not isinstance(value, str) or kind is str:
            return value
        if kind is bool:
            return _FLAGS.get(value, value)
        if kind is int:
            return int(value) if _WHOLE.fullmatch(value) else value
        return float(value) if _REAL.fullmatch(value) else value

    whole_fields: ClassVar[Mapping[str, type]] = {}
    """Fields beside `PARAMETERS` that are not text."""


class ScanFields(Strict):
    """The parameters of a scan; the same for the query of endpoint 5 and the body of 7."""

    candidate_limit: StrictInt = limited("candidate_limit")
    count: StrictInt = limited("count")
    sort_by: SortBy = limited("sort_by")
    viral_threshold: StrictInt = limited("viral_threshold")
    viral_only: StrictBool = limited("viral_only")
    search_enabled: StrictBool = limited("search_enabled")
    search_candidate_limit: StrictInt | None = limited("search_candidate_limit")
    search_batch_target: StrictInt = limited("search_batch_target")
    search_page_limit: StrictInt = limited("search_page_limit")
    search_request_budget: StrictInt = limited("search_request_budget")
    verify_audio: StrictBool = limited("verify_audio")
    match_threshold: StrictFloat = limited("match_threshold")
    account_profile_limit: StrictInt | None = limited("account_profile_limit")
    refresh: StrictBool = limited("refresh")

    def to_parameters(self) -> ScanParameters:
        """The effective parameters: linked values taken over."""
        given = {name: getattr(self, name) for name in ScanFields.model_fields}
        return scan_parameters({**given, "search_keywords": tuple(self.keywords)})

    @property
    @abstractmethod
    def keywords(self) -> list[str]:
        """The search keywords, whichever way they were written."""


KeywordList = Annotated[
    list[Keyword], BeforeValidator(_keywords), Field(max_length=MAX_SEARCH_KEYWORDS)
]
_KEYWORDS = TypeAdapter[list[str]](KeywordList)
_KEYWORDS_MEANING = "song titles to search for, at most 8; default: the title of the track"


class HotVideosQuery(ScanFields, QueryModel):
    """Query of `fetch_music_hot_videos`."""

    music_id: InputText | None = Field(None, description=f"{WHAT_TO_GIVE}")
    url: InputText | None = Field(None, description="another name for `music_id`")
    search_keywords: InputText | None = Field(
        None, description=f"{_KEYWORDS_MEANING}; comma-separated"
    )

    @field_validator("search_keywords")
    @classmethod
    def _few_and_short(cls, value: str | None) -> str | None:
        _KEYWORDS.validate_python(value or [])
        return value

    @property
    def keywords(self) -> list[str]:
        """The titles between the commas."""
        return _KEYWORDS.validate_python(self.search_keywords or [])

    @property
    def music_input(self) -> str:
        """The one input that was given, whatever it was called."""
        return one_input(music_id=self.music_id, url=self.url)


class ScanBody(ScanFields):
    """The parameters of a scan as a JSON body gives them; the same for endpoints 6 and 7."""

    search_keywords: Annotated[
        KeywordList,
        Field(description=f"{_KEYWORDS_MEANING}; an array, or text with commas"),
        WithJsonSchema(
            {
                "description": f"{_KEYWORDS_MEANING}; an array, or text with commas",
                "anyOf": [
                    {"type": "string", "maxLength": MAX_INPUT_LENGTH},
                    {
                        "type": "array",
                        "maxItems": MAX_SEARCH_KEYWORDS,
                        "items": {"type": "string", "maxLength": MAX_KEYWORD_LENGTH},
                    },
                ],
            }
        ),
    ] = []

    @property
    def keywords(self) -> list[str]:
        """The titles of the array, or between the commas of the text."""
        return self.search_keywords


class BatchBody(ScanBody):
    """Body of `fetch_music_hot_videos_batch`."""

    inputs: Annotated[
        list[Unicode],
        Field(
            min_length=1,
            max_length=MAX_BATCH_INPUTS,
            description=f"{WHAT_TO_GIVE}; each item is judged by itself",
        ),
    ]


class JobBody(ScanBody):
    """Body of `music_collection_jobs`."""

    input: InputText | None = Field(None, description=WHAT_TO_GIVE)
    music_id: InputText | None = Field(None, description="another name for `input`")
    url: InputText | None = Field(None, description="another name for `input`")
    keyword: Keyword | None = Field(None, description="song name, with `search_only`")
    search_only: StrictBool = Field(False, description="search by keyword only, no track")

    @property
    def music_input(self) -> str:
        """The one input that was given, whatever it was called."""
        return one_input(input=self.input, music_id=self.music_id, url=self.url)

    @model_validator(mode="after")
    def _keyword_needs_its_mode(self) -> Self:
        if self.search_only and self.keyword is None:
            raise PydanticCustomError("missing", "search_only=true needs `keyword`")
        if self.keyword is not None and not self.search_only:
            raise PydanticCustomError("keyword_mode", "`keyword` needs search_only=true")
        return self


class AnnotationBody(Strict):
    """Body of an annotation."""

    verdict: Said = Field(description="what a person hears: `same` or `not_the_same`")
    note: Annotated[Text, Field(max_length=MAX_NOTE_LENGTH)] | None = Field(
        None, description="in the person's own words"
    )


class JobListQuery(QueryModel):
    """Query of the list of jobs."""

    whole_fields: ClassVar[Mapping[str, type]] = {"limit": int}

    limit: StrictInt = Field(50, ge=1, le=200, description="how many of the newest jobs")
    status: JobStatus | None = Field(None, description="only jobs in this state")


def one_input(**given: str | None) -> str:
    """The value of the one alias that was used.

    Raises:
        MissingParameterError: None was.
        InvalidParameterError: Two were, and they disagree.
    """
    values = {name: value for name, value in given.items() if value is not None}
    if not values:
        raise MissingParameterError(f"`{next(iter(given))}` is required", hint=WHAT_TO_GIVE)
    if len(set(values.values())) > 1:
        raise InvalidParameterError(
            f"{' and '.join(f'`{name}`' for name in values)} name different things",
            hint="Give one of them",
        )
    return next(iter(values.values()))
