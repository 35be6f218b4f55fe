"""The parameters of a scan: names, types, defaults and limits.

The API models, command line options, reference tables and the worker all use `PARAMETERS`.
`ScanParameters` are the effective values of one job: typed, with defaults and linked values.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, Protocol

from warehouse.records.errors import InvalidParameterError
from warehouse.records.evidence import VERDICT_REVISION

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
    default: int | float | bool | str | None
    minimum: int | float | None = None
    maximum: int | float | None = None
    choices: tuple[str, ...] = ()
    linked_to: str | None = None
    meaning: str
    meaning_zh: str


def parameter_table(*parameters: Parameter) -> Mapping[str, Parameter]:
    """Return parameters by their names."""
    return {parameter.name: parameter for parameter in parameters}


PARAMETERS: tuple[Parameter, ...] = (
    Parameter(
        name="candidate_limit", kind=int, default=150, minimum=15, maximum=2000,
        meaning="target size of the candidate pool of the track",
        meaning_zh="每首音乐的候选池目标数量",
    ),
    Parameter(
        name="count", kind=int, default=30, minimum=1, maximum=500,
        meaning="how many ranked videos to return (Top N)",
        meaning_zh="返回的排行数量（Top N）",
    ),
    Parameter(
        name="sort_by", kind=str, default="hot_score", choices=SORT_ORDERS,
        meaning="order of the ranking",
        meaning_zh="排序方式",
    ),
    Parameter(
        name="viral_threshold", kind=int, default=10_000, minimum=0,
        meaning="likes from which a video counts as viral",
        meaning_zh="点赞数达到该值视为爆款",
    ),
    Parameter(
        name="viral_only", kind=bool, default=False,
        meaning="return only videos that reach the viral threshold",
        meaning_zh="只返回达到爆款阈值的作品",
    ),
    Parameter(
        name="search_enabled", kind=bool, default=True,
        meaning="add candidates from the guest search of the platform",
        meaning_zh="是否加入官方游客综合搜索候选",
    ),
    Parameter(
        name="search_candidate_limit", kind=int, default=None, minimum=0, maximum=5000,
        linked_to="candidate_limit",
        meaning="target size of the union of all search observations",
        meaning_zh="搜索观测并集的目标数量",
    ),
    Parameter(
        name="search_batch_target", kind=int, default=150, minimum=1, maximum=1000,
        meaning="search items new to the union after which a job stops searching",
        meaning_zh="单次任务新增搜索快照的目标数量",
    ),
    Parameter(
        name="search_page_limit", kind=int, default=30, minimum=1, maximum=60,
        meaning="pages read per search term",
        meaning_zh="每个搜索词读取的页数上限",
    ),
    Parameter(
        name="search_request_budget", kind=int, default=180, minimum=10, maximum=180,
        meaning="search pages read per job over all terms",
        meaning_zh="单次任务所有搜索词的请求预算",
    ),
    Parameter(
        name="verify_audio", kind=bool, default=True,
        meaning="listen to works under other music ids before they can count",
        meaning_zh="是否对其他音乐 ID 的候选做音频核验",
    ),
    Parameter(
        name="match_threshold", kind=float, default=0.65, minimum=0.0, maximum=1.0,
        meaning="composite audio score that a match must reach",
        meaning_zh="音频匹配综合得分阈值",
    ),
    Parameter(
        name="account_profile_limit", kind=int, default=None, minimum=0, maximum=500,
        linked_to="count",
        meaning="accounts whose profile is filled in",
        meaning_zh="补全资料的账号数量",
    ),
    Parameter(
        name="refresh", kind=bool, default=False,
        meaning="ignore stored results and read the platform again",
        meaning_zh="忽略仍有效的缓存，重新读取公开数据",
    ),
)  # fmt: skip
BY_NAME = parameter_table(*PARAMETERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanParameters:
    """The effective parameters of one scan; `PARAMETERS` describes them."""

    candidate_limit: int = 150
    count: int = 30
    sort_by: SortBy = "hot_score"
    viral_threshold: int = 10_000
    viral_only: bool = False
    search_enabled: bool = True
    search_keywords: tuple[str, ...] = ()
    search_candidate_limit: int = 150
    search_batch_target: int = 150
    search_page_limit: int = 30
    search_request_budget: int = 180
    verify_audio: bool = True
    match_threshold: float = 0.65
    account_profile_limit: int = 30
    refresh: bool = False

    def to_document(self) -> dict[str, object]:
        """Return plain JSON values, in field order."""
        return {**asdict(self), "search_keywords": list(self.search_keywords)}


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
    document["search_keywords"] = sorted(
        {word.casefold().strip() for word in parameters.search_keywords}
    )
    return _digest([music_id, world, provider, algorithm, VERDICT_REVISION, document])


def _digest(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
