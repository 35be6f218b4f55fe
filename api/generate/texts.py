"""Headings and introductions of the reference documents, in each language."""

from dataclasses import dataclass

from api.settings import SERVICE_VERSION


@dataclass(frozen=True, slots=True)
class ReferenceTexts:
    """Texts of one language; `suffix` ends the names of its reference fields."""

    suffix: str
    opening: str
    operations: str
    own: str
    errors: str
    error_columns: tuple[str, ...]
    columns: tuple[str, ...]
    example: str
    answers: str
    no_parameters: str
    yes: str
    span: str
    least: str
    items: str
    digits: str
    default_from: str
    full_stop: str


ENGLISH = ReferenceTexts(
    suffix="",
    opening=f"""\
# The HTTP interface

Written by `make docs` from the service itself (version {SERVICE_VERSION}); the same tables are
served at `/docs` and `/api/v1/sametrack/reference`. [中文](api.zh.md)

Every JSON response under `/api/v1/` has the same eleven keys: `code`, `request_id`, `message`,
`message_zh`, `time`, `time_stamp`, `time_zone`, `docs`, `router`, `params` and `data`. `params`
holds the effective parameters. On failure `data.error` has `type` (stable),
`detail`, `hint`, `retry_after` and `upstream`. Unknown values are `null`. Results are never a
full enumeration of the platform: `coverage_complete` is always false.

If `OWN_API_TOKEN` is set, every request must carry it as `Authorization: Bearer <token>` or
`x-api-key: <token>`. Bodies are JSON with `Content-Type: application/json`. Booleans in query
strings are `true` and `false`. Unknown parameters are refused. Every operation may also return
401, 403, 421, 429 and 500; other errors are listed with the operation.
""",
    operations="## Operations of the interface",
    own="## Extensions",
    errors="## Errors",
    error_columns=("Status", "`type`", "Meaning", "What to do"),
    columns=("Parameter", "In", "Type", "Required", "Default", "Allowed", "Meaning"),
    example="Example",
    answers="Errors",
    no_parameters="No parameters.",
    yes="yes",
    span="{} to {}",
    least="at least {}",
    items="{} items",
    digits="matches `{}`",
    default_from="value of `{}`",
    full_stop=".",
)
CHINESE = ReferenceTexts(
    suffix="_zh",
    opening=f"""\
# HTTP 接口

由 `make docs` 根据服务本身生成（版本 {SERVICE_VERSION}）；相同内容见 `/docs?lang=zh` 与
`/api/v1/sametrack/reference`. [English](api.md)

`/api/v1/` 下所有 JSON 响应使用同样的十一个字段：`code`、`request_id`、`message`、
`message_zh`、`time`、`time_stamp`、`time_zone`、`docs`、`router`、`params`、`data`.
`params` 为服务实际采用的参数。失败时 `data.error` 含 `type`（稳定不变）、`detail`、`hint`、
`retry_after`、`upstream`。未知值为 `null`。结果不代表平台全量：`coverage_complete` 始终为 false。

设置 `OWN_API_TOKEN` 后，每个请求须携带 `Authorization: Bearer <令牌>` 或 `x-api-key: <令牌>`。
请求体为 JSON，并携带 `Content-Type: application/json`。查询参数中的布尔值为 `true` 或 `false`。
未知参数会被拒绝。各接口均可能返回 401、403、421、429、500；其余错误在各接口下列出。
""",
    operations="## 接口列表",
    own="## 扩展接口",
    errors="## 错误",
    error_columns=("状态码", "`type`", "含义", "处理办法"),
    columns=("参数", "位置", "类型", "必填", "默认值", "取值", "含义"),
    example="示例",
    answers="错误",
    no_parameters="无参数。",
    yes="是",
    span="{} 至 {}",
    least="最小 {}",
    items="{} 项",
    digits="格式 `{}`",
    default_from="同 `{}`",
    full_stop=".",
)
