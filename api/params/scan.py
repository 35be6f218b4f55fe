"""Parameters of scans: the query of a hot list, the bodies of batches and jobs.

Limits, defaults and meanings come from `pipelines/parameters/scan.py`.
"""

import re
from abc import abstractmethod
from dataclasses import replace
from typing import Annotated, Self

import pydantic
from pydantic_core import PydanticCustomError

from api.params import fields
from api.responses.errors import MissingParameterError
from pipelines.captures.inputs import ACCEPTED_INPUT_HINT, MAX_INPUT_LENGTH, check_music_form
from pipelines.parameters import scan
from warehouse.records.errors import InvalidParameterError
from warehouse.records.jobs import JobStatus

MAX_KEYWORD_LENGTH = 100
MAX_BATCH_INPUTS = 10
BATCH_INPUTS_MEANING = (
    f"{ACCEPTED_INPUT_HINT}; a link to a playlist, an album or an artist of the music service "
    "stands for its songs; each track is processed independently"
)
_SEPARATORS = re.compile("[,\uff0c]")


Keyword = Annotated[
    pydantic.StrictStr,
    pydantic.StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_KEYWORD_LENGTH),
    pydantic.AfterValidator(fields.check_printable),
]


def _keywords(value: object) -> object:
    """Split text at commas of both scripts; drop blanks and duplicates, keep the order."""
    if isinstance(value, str):
        value = _SEPARATORS.split(value)
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        return value
    kept: dict[str, str] = {}
    for word in value:
        if word.strip():
            kept.setdefault(word.strip().casefold(), word.strip())
    return list(kept.values())


class ScanFields(fields.StrictModel):
    """Parameters of a scan, shared by the query of endpoint 5 and the bodies of 6 and 7."""

    candidate_limit: pydantic.StrictInt = fields.parameter_field("candidate_limit")
    count: pydantic.StrictInt = fields.parameter_field("count")
    sort_by: scan.SortBy = fields.parameter_field("sort_by")
    viral_threshold: pydantic.StrictInt = fields.parameter_field("viral_threshold")
    viral_only: pydantic.StrictBool = fields.parameter_field("viral_only")
    search_enabled: pydantic.StrictBool = fields.parameter_field("search_enabled")
    search_candidate_limit: pydantic.StrictInt | None = fields.parameter_field(
        "search_candidate_limit"
    )
    search_batch_target: pydantic.StrictInt = fields.parameter_field("search_batch_target")
    search_page_limit: pydantic.StrictInt = fields.parameter_field("search_page_limit")
    search_request_budget: pydantic.StrictInt = fields.parameter_field("search_request_budget")
    verify_audio: pydantic.StrictBool = fields.parameter_field("verify_audio")
    match_threshold: pydantic.StrictFloat = fields.parameter_field("match_threshold")
    account_profile_limit: pydantic.StrictInt | None = fields.parameter_field(
        "account_profile_limit"
    )
    refresh: pydantic.StrictBool = fields.parameter_field("refresh")

    def to_parameters(self) -> scan.ScanParameters:
        """Return the effective parameters, with linked defaults filled in."""
        given = {name: getattr(self, name) for name in ScanFields.model_fields}
        return scan.scan_parameters({**given, "search_keywords": tuple(self.keywords)})

    @property
    @abstractmethod
    def keywords(self) -> list[str]:
        """The search keywords, in whichever form they were passed."""


KeywordList = Annotated[
    list[Keyword],
    pydantic.BeforeValidator(_keywords),
    pydantic.Field(max_length=scan.MAX_SEARCH_KEYWORDS),
]
_KEYWORDS = pydantic.TypeAdapter[list[str]](KeywordList)
_MOST = scan.MAX_SEARCH_KEYWORDS
_TITLES = f"song titles to search for, at most {_MOST}; default: the title of the track"
_TITLES_AS_TEXT = (
    f"{_TITLES}; comma-separated. 搜索用歌名，最多 {_MOST} 个，以逗号分隔；默认为音乐标题"
)
_TITLES_AS_LIST = (
    f"{_TITLES}; an array, or text with commas. "
    f"搜索用歌名，最多 {_MOST} 个，数组或以逗号分隔的文本；默认为音乐标题"
)
ALIAS_OF_MUSIC_ID = "alias of `music_id`. `music_id` 的别名"
_ALIAS_OF_INPUT = "alias of `input`. `input` 的别名"


class HotVideosQuery(ScanFields, fields.QueryModel):
    """Query of `fetch_music_hot_videos`."""

    music_id: fields.InputText | None = pydantic.Field(None, description=f"{ACCEPTED_INPUT_HINT}")

    url: fields.InputText | None = pydantic.Field(None, description=ALIAS_OF_MUSIC_ID)
    search_keywords: fields.InputText | None = pydantic.Field(None, description=_TITLES_AS_TEXT)

    @pydantic.field_validator("search_keywords")
    @classmethod
    def _few_and_short(cls, value: str | None) -> str | None:
        # Only checked here: `keywords` splits the text.
        _KEYWORDS.validate_python(value or [])
        return value

    @property
    def keywords(self) -> list[str]:
        """The titles, split at commas."""
        return _KEYWORDS.validate_python(self.search_keywords or [])

    @property
    def music_input(self) -> str:
        """The music input, under whichever of its names it was passed."""
        return single_input(music_id=self.music_id, url=self.url)


class ScanBody(ScanFields):
    """Parameters of a scan in a JSON body, shared by endpoints 6 and 7."""

    search_keywords: Annotated[
        KeywordList,
        pydantic.Field(description=_TITLES_AS_LIST),
        # `KeywordList` splits text before it is validated, which its own schema does not say.
        pydantic.WithJsonSchema(
            {
                "description": _TITLES_AS_LIST,
                "anyOf": [
                    {"type": "string", "maxLength": MAX_INPUT_LENGTH},
                    {
                        "type": "array",
                        "maxItems": scan.MAX_SEARCH_KEYWORDS,
                        "items": {"type": "string", "maxLength": MAX_KEYWORD_LENGTH},
                    },
                ],
            }
        ),
    ] = []  # noqa: RUF012 -- pydantic copies it

    @property
    def keywords(self) -> list[str]:
        """The titles of the array, or of the text split at commas."""
        return self.search_keywords


class BatchBody(ScanBody):
    """Body of `fetch_music_hot_videos_batch`."""

    inputs: Annotated[
        list[fields.EncodableText],
        pydantic.Field(
            min_length=1,
            max_length=MAX_BATCH_INPUTS,
            description=BATCH_INPUTS_MEANING,
        ),
    ]


class JobBody(ScanBody):
    """Body of `music_collection_jobs`."""

    input: fields.InputText | None = pydantic.Field(None, description=ACCEPTED_INPUT_HINT)
    music_id: fields.InputText | None = pydantic.Field(None, description=_ALIAS_OF_INPUT)
    url: fields.InputText | None = pydantic.Field(None, description=_ALIAS_OF_INPUT)
    keyword: Keyword | None = pydantic.Field(
        None, description="song name, used with `search_only`. 歌名，与 `search_only` 一起使用"
    )
    search_only: pydantic.StrictBool = pydantic.Field(
        False, description="search by keyword only, without a track. 仅按关键词搜索，不指定音乐"
    )

    @property
    def music_input(self) -> str:
        """The music input, under whichever of its names it was passed."""
        return single_input(input=self.input, music_id=self.music_id, url=self.url)

    @pydantic.model_validator(mode="after")
    def _keyword_needs_its_mode(self) -> Self:
        if self.search_only and self.keyword is None:
            raise PydanticCustomError("missing", "search_only=true requires `keyword`")
        if self.keyword is not None and not self.search_only:
            raise PydanticCustomError("keyword_mode", "`keyword` requires search_only=true")
        given = [name for name in ("input", "music_id", "url") if getattr(self, name) is not None]
        if self.search_only and given:
            raise PydanticCustomError(
                "keyword_mode",
                "search_only=true searches by `keyword` alone; remove {name}",
                {"name": f"`{given[0]}`"},
            )
        # Parameters of the ranking are accepted: it is empty here, whatever its order.
        if self.search_only and (self.keywords or not self.search_enabled):
            name = "search_keywords" if self.keywords else "search_enabled"
            raise PydanticCustomError(
                "keyword_mode",
                "search_only=true searches by `keyword` alone; remove `{name}`",
                {"name": name},
            )
        return self


class RankingQuery(fields.QueryModel):
    """Query of a stored ranking. Whatever is omitted is as the job was asked for."""

    count: pydantic.StrictInt | None = fields.parameter_field("count", has_default=False)
    sort_by: scan.SortBy | None = fields.parameter_field("sort_by", has_default=False)
    viral_threshold: pydantic.StrictInt | None = fields.parameter_field(
        "viral_threshold", has_default=False
    )
    viral_only: pydantic.StrictBool | None = fields.parameter_field("viral_only", has_default=False)
    include_variants: pydantic.StrictBool = pydantic.Field(
        False,
        description="rank variants among the confirmed videos, each with its `variant_kind`; they "
        "count in `totals`, never as confirmed. 将变体一并排行并计入 totals，不计入确认数",
    )

    def to_parameters(self, job: scan.ScanParameters) -> scan.ScanParameters:
        """Return the parameters of a job, changed by those of this query."""
        return replace(job, **self.model_dump(exclude_none=True, include=set(scan.VIEW_PARAMETERS)))


class JobListQuery(fields.QueryModel):
    """Query of the list of jobs."""

    limit: pydantic.StrictInt = pydantic.Field(
        50, ge=1, le=200, description="maximum number of jobs, newest first. 返回最新任务的数量"
    )
    status: JobStatus | None = pydantic.Field(
        None, description="only jobs with this status. 只返回该状态的任务"
    )


def single_input(**given: str | None) -> str:
    """Return the value of the single alias that was passed.

    Raises:
        MissingParameterError: No alias was passed.
        InvalidParameterError: Several aliases were passed with different values.
        InvalidMusicInputError: The form of the value alone shows that it leads to no track.
    """
    values = {name: value for name, value in given.items() if value is not None}
    if not values:
        raise MissingParameterError(f"`{next(iter(given))}` is required", hint=ACCEPTED_INPUT_HINT)
    # Two names with one value are no contradiction.
    if len(set(values.values())) > 1:
        raise InvalidParameterError(
            f"{' and '.join(f'`{name}`' for name in values)} have different values",
            hint="Pass only one of them",
        )
    value = next(iter(values.values()))
    check_music_form(value)
    return value
