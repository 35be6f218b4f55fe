"""The parameters of user and list reads: names, types, defaults and limits.

The API models and the reference tables are built from them, as from `scan.PARAMETERS`.
"""

from pipelines.parameters.scan import Parameter, parameter_table

_REFRESH = Parameter(
    name="refresh",
    kind=bool,
    default=False,
    meaning="read a new public first screen and merge it into what was observed",
    meaning_zh="重新读取公开首屏并合并到本地观测",
)
_CURSOR = Parameter(
    name="cursor",
    kind=int,
    default=0,
    minimum=0,
    meaning="where the page begins: 0, then `cursor` of the answer before",
    meaning_zh="分页游标：首次为 0，之后使用上次返回的 cursor",
)


def _count(default: int, maximum: int, meaning: str, meaning_zh: str) -> Parameter:
    return Parameter(
        name="count",
        kind=int,
        default=default,
        minimum=1,
        maximum=maximum,
        meaning=meaning,
        meaning_zh=meaning_zh,
    )


_WORKS = ("works on the page", "每页作品数量")

POSTS_PARAMETERS = parameter_table(
    Parameter(
        name="max_cursor",
        kind=int,
        default=0,
        minimum=0,
        meaning="where the page begins: 0, then `max_cursor` of the answer before",
        meaning_zh="分页游标：首次为 0，之后使用上次返回的 max_cursor",
    ),
    _count(20, 20, *_WORKS),
    Parameter(
        name="sort_type",
        kind=int,
        default=0,
        minimum=0,
        maximum=1,
        meaning="0 newest, 1 hottest (likes)",
        meaning_zh="0 最新，1 最热（点赞数）",
    ),
)
METRICS_PARAMETERS = parameter_table(
    Parameter(
        name="days",
        kind=int,
        default=10,
        minimum=1,
        maximum=365,
        meaning="length of the window before the request, in days",
        meaning_zh="统计窗口天数（自请求时刻向前）",
    ),
    _count(20, 20, "newest works of the window that are analysed", "分析窗口内最新作品的数量"),
)
MUSIC_LIST_PARAMETERS = parameter_table(_CURSOR, _count(10, 20, *_WORKS), _REFRESH)
HASHTAG_LIST_PARAMETERS = parameter_table(
    _CURSOR,
    Parameter(
        name="sort_type",
        kind=int,
        default=0,
        minimum=0,
        maximum=2,
        meaning="0 public order, 1 likes, 2 publish time; unknown ones last",
        meaning_zh="0 公开顺序，1 点赞数，2 发布时间；未知者排最后",
    ),
    _count(10, 15, *_WORKS),
    _REFRESH,
)
