"""The parameters of a scan: names, types, defaults and limits.

`ScanParameters` declares them once; API models, options of commands, assistant tools, the form of
the console, reports and reference follow from `PARAMETERS`, the same as a table.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import Field, asdict, dataclass, field, fields
from typing import Any, Literal, Protocol, cast, get_args

from warehouse.records.errors import InvalidParameterError
from warehouse.records.evidence import VERDICT_REVISION, MatchThresholds

SortBy = Literal["hot_score", "digg", "comment", "collect", "share", "latest", "oldest"]
SORT_LABELS: Mapping[SortBy, tuple[str, str]] = {
    "hot_score": ("Hot score", "综合热度"),
    "digg": ("Likes", "点赞"),
    "comment": ("Comments", "评论"),
    "collect": ("Bookmarks", "收藏"),
    "share": ("Shares", "分享"),
    "latest": ("Newest first", "最新发布"),
    "oldest": ("Oldest first", "最早发布"),
}
"""The sort orders with their English and Chinese labels."""
SORT_ORDERS: tuple[SortBy, ...] = tuple(SORT_LABELS)
MAX_SEARCH_KEYWORDS = 8
LOW_CANDIDATE_LIMIT = 100  # the interface's prose calls it a floor; treated as a recommendation


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter; a `default` of None means linked (see `linked_to`) or not set."""

    name: str
    kind: type
    default: Any  # of the type `kind`
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    linked_to: str | None = None
    meaning: str
    meaning_zh: str


def parameter_table(*parameters: Parameter) -> Mapping[str, Parameter]:
    """Return parameters by their names."""
    return {parameter.name: parameter for parameter in parameters}


def parameter(
    default: object,
    meaning: str,
    meaning_zh: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
) -> Any:  # as `field`, which it calls
    """Declare a field of a dataclass as a parameter.

    Args:
        default: Its default, or the field before it whose value it takes unless it is given.
        meaning: What it means, in English.
        meaning_zh: The same in Chinese.
        minimum: The smallest value.
        maximum: The largest value.
    """
    # In the body of a class the name of a field is still its declaration.
    linked = default if isinstance(default, Field) else None
    facts = {"minimum": minimum, "maximum": maximum, "meaning": meaning, "meaning_zh": meaning_zh}
    return field(
        default=linked.default if linked else default, metadata={"facts": facts, "linked": linked}
    )


def parameter_like(other: Parameter) -> Any:  # as `parameter`, which it calls
    """Declare a field with the default, the limits and the meaning of another parameter."""
    return parameter(
        other.default,
        other.meaning,
        other.meaning_zh,
        minimum=other.minimum,
        maximum=other.maximum,
    )


def parameters_of(kind: type[Any]) -> tuple[Parameter, ...]:
    """Return what a dataclass declares by `parameter`, in the order of its fields."""
    parameters = []
    for declared in fields(kind):
        if "facts" not in declared.metadata:  # the search keywords: a list is no simple value
            continue
        linked: Field[object] | None = declared.metadata["linked"]
        choices = get_args(declared.type)
        parameters.append(
            Parameter(
                name=declared.name,
                kind=str if choices else cast("type", declared.type),
                default=declared.default if linked is None else None,
                choices=choices,
                linked_to=None if linked is None else linked.name,
                **declared.metadata["facts"],
            )
        )
    return tuple(parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanParameters:
    """The effective parameters of one scan: what each means, its default and its limits."""

    candidate_limit: int = parameter(
        150,
        "target size of the candidate pool of the track",
        "每首音乐的候选池目标数量",
        minimum=15,
        maximum=2000,
    )
    count: int = parameter(
        30,
        "how many ranked videos to return (Top N)",
        "返回的排行数量（Top N）",
        minimum=1,
        maximum=500,
    )
    sort_by: SortBy = parameter("hot_score", "order of the ranking", "排序方式")  # noqa: RUF009 -- a field
    viral_threshold: int = parameter(
        10_000, "likes from which a video counts as viral", "点赞数达到该值视为爆款", minimum=0
    )
    viral_only: bool = parameter(
        False, "return only videos that reach the viral threshold", "只返回达到爆款阈值的作品"
    )
    search_enabled: bool = parameter(
        True, "add candidates from the guest search of the platform", "是否加入官方游客综合搜索候选"
    )
    search_keywords: tuple[str, ...] = ()
    search_candidate_limit: int = parameter(
        candidate_limit,
        "target size of the union of all search observations",
        "搜索观测并集的目标数量",
        minimum=0,
        maximum=5000,
    )
    search_batch_target: int = parameter(
        150,
        "search items new to the union after which a job stops searching",
        "单次任务新增搜索快照的目标数量",
        minimum=1,
        maximum=1000,
    )
    search_page_limit: int = parameter(
        30, "pages read per search term", "每个搜索词读取的页数上限", minimum=1, maximum=60
    )
    search_request_budget: int = parameter(
        180,
        "search pages read per job over all terms",
        "单次任务所有搜索词的请求预算",
        minimum=10,
        maximum=180,
    )
    verify_audio: bool = parameter(
        True,
        "listen to works under other music ids before they can count",
        "是否对其他音乐 ID 的候选做音频核验",
    )
    match_threshold: float = parameter(
        MatchThresholds().match_threshold,
        "composite audio score that a match must reach",
        "音频匹配综合得分阈值",
        minimum=0.0,
        maximum=1.0,
    )
    account_profile_limit: int = parameter(
        count, "accounts whose profile is filled in", "补全资料的账号数量", minimum=0, maximum=500
    )
    refresh: bool = parameter(
        False,
        "ignore stored results and read the platform again",
        "忽略仍有效的缓存，重新读取公开数据",
    )

    def to_document(self) -> dict[str, object]:
        """Return plain JSON values, in field order."""
        return {**asdict(self), "search_keywords": list(self.search_keywords)}


PARAMETERS = parameters_of(ScanParameters)
BY_NAME = parameter_table(*PARAMETERS)


def check_limits(given: Mapping[str, object]) -> None:
    """Check numbers against the limits of their parameters.

    Raises:
        InvalidParameterError: A number is below or above its limits.
    """
    for name, value in given.items():
        parameter = BY_NAME[name]
        least, most = parameter.minimum, parameter.maximum
        if not isinstance(value, int | float):
            continue
        if (least is not None and value < least) or (most is not None and value > most):
            limits = f"at least {least}" if most is None else f"between {least} and {most}"
            raise InvalidParameterError(f"{name} is {value}; it must be {limits}")


def scan_parameters(given: Mapping[str, object]) -> ScanParameters:
    """Fill in defaults and linked values; `given` must be validated.

    Raises:
        TypeError: A name is not a parameter of a scan.
    """
    values = {name: value for name, value in given.items() if value is not None}
    # A linked parameter follows the value that was given for the other, not its default alone.
    for parameter in PARAMETERS:
        if parameter.linked_to is not None and parameter.name not in values:
            linked = BY_NAME[parameter.linked_to]
            values[parameter.name] = values.get(linked.name, linked.default)
    keywords = values.pop("search_keywords", ())
    return ScanParameters(**values, search_keywords=tuple(keywords))  # type: ignore[arg-type]  # validated by the caller


VIEW_PARAMETERS = frozenset({"count", "sort_by", "viral_threshold", "viral_only"})
"""Applied when a result is read, so they never force another scan."""

DEPTH_PARAMETERS = (
    "candidate_limit",
    "search_candidate_limit",
    "search_batch_target",
    "search_page_limit",
    "search_request_budget",
    "account_profile_limit",
)
"""How deep a scan went: a stored result satisfies requests that are not deeper."""


class JobParameters(Protocol):
    """Effective parameters of any kind of job."""

    def to_document(self) -> dict[str, object]:
        """Return plain JSON values."""


def fingerprint(target: str, world: str, provider: str, parameters: JobParameters) -> str:
    """Return the identity of a request: requests with equal identity share a running job.

    `refresh` is left out: a refresh joins a running job.
    """
    document = parameters.to_document()
    document.pop("refresh", None)
    return _digest([target, world, provider, document])


def scan_key(
    music_id: str, world: str, provider: str, algorithm: str, parameters: ScanParameters
) -> str:
    """Return the identity of a scan regardless of its depth and view."""
    document = parameters.to_document()
    for name in (*VIEW_PARAMETERS, *DEPTH_PARAMETERS, "refresh"):
        del document[name]
    # The same searches, in whatever order and case the titles were given
    document["search_keywords"] = sorted(
        {word.casefold().strip() for word in parameters.search_keywords}
    )
    return _digest([music_id, world, provider, algorithm, VERDICT_REVISION, document])


def _digest(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
