"""Errors of the HTTP interface, and the status, message and hint of every error type.

The only module that knows HTTP status codes. Errors shared by all packages are in
`warehouse/records/errors.py`; those here exist only because of HTTP.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from api.responses.documents import ErrorDocument
from warehouse.records.errors import InputError, SametrackError

OK = 200
ACCEPTED = 202
NO_CONTENT = 204
PARTIAL_CONTENT = 206
SEE_OTHER = 303
NOT_MODIFIED = 304
METHOD_NOT_ALLOWED = 405
NOT_READY = 503


@dataclass(frozen=True, slots=True)
class ErrorSpec:
    """Status, message in both languages, and default hint of one error `type`."""

    status: int
    message: str
    message_zh: str
    hint: str


class MissingParameterError(InputError):
    """A required parameter is missing."""

    type = "missing_parameter"


class UnknownParameterError(InputError):
    """The operation has no such parameter."""

    type = "unknown_parameter"


class MalformedJsonError(InputError):
    """The body is not a single JSON document in UTF-8."""

    type = "malformed_json"


class MalformedRequestError(SametrackError):
    """The request ended before it was complete."""

    type = "malformed_request"


class RequestTimeoutError(SametrackError):
    """The request did not arrive in time."""

    type = "request_timeout"


class UnauthorizedError(SametrackError):
    """A token is configured and the request has no valid one."""

    type = "unauthorized"


class RoleRequiredError(SametrackError):
    """The caller's token or session has too low a role."""

    type = "role_required"


class CrossSiteRequestError(SametrackError):
    """A page of another site sent the request through a browser."""

    type = "cross_site_request"


class NotFoundError(SametrackError):
    """The path or the requested object does not exist."""

    type = "not_found"


class MethodNotAllowedError(SametrackError):
    """The path does not support the method."""

    type = "method_not_allowed"


class BodyTooLargeError(SametrackError):
    """The body exceeds the limit of this service."""

    type = "body_too_large"


class UnsupportedMediaTypeError(SametrackError):
    """The body is not declared as JSON."""

    type = "unsupported_media_type"


class HostNotAllowedError(SametrackError):
    """The Host header is missing, repeated or not served here."""

    type = "host_not_allowed"


class LocalRateLimitError(SametrackError):
    """An address exceeds its request rate; `retry_after` says when to retry."""

    type = "local_rate_limit"


class QueryLimitError(SametrackError):
    """A statement exceeds its limit of time, memory or size of the result."""

    type = "query_limit_exceeded"


class VerificationRequiredError(SametrackError):
    """The platform protects this search by verification, which is never bypassed."""

    type = "platform_verification_required"


ERROR_SPECS: dict[str, ErrorSpec] = {
    "missing_parameter": ErrorSpec(
        400, "A required parameter is missing", "缺少必填参数", "Add the parameter named in detail"
    ),
    "invalid_parameter": ErrorSpec(
        400,
        "A parameter is invalid",
        "参数无效",
        "Correct the value named in detail; limits are in the API description",
    ),
    "unknown_parameter": ErrorSpec(
        400,
        "A parameter is unknown",
        "存在未知参数",
        "Remove or correct the name; the API description lists all of them",
    ),
    "unresolvable_sec_user_id": ErrorSpec(
        400,
        "The input does not lead to a sec_user_id",
        "无法解析 sec_user_id",
        "Pass a profile link, a short link to a profile, the handle, or the id itself",
    ),
    "invalid_music_input": ErrorSpec(
        400,
        "The music input is invalid",
        "音乐输入无效",
        "Pass a music id (5 to 30 digits), a link to the track, or a link to a video that uses it",
    ),
    "invalid_inputs": ErrorSpec(
        400, "The list of inputs is invalid", "批量输入无效", "Pass 1 to 10 ids or links as text"
    ),
    "invalid_date_range": ErrorSpec(
        400,
        "The date range is invalid",
        "日期范围无效",
        "Pass start_date and end_date as YYYY-MM-DD, not before 2021-01-01",
    ),
    "query_limit_exceeded": ErrorSpec(
        400,
        "The statement exceeds a limit",
        "查询超出限制",
        "Add a condition, select less, or use `sametrack sql`",
    ),
    "malformed_json": ErrorSpec(
        400, "The body is not valid JSON", "请求体不是有效的 JSON", "Send a single JSON document"
    ),
    "malformed_request": ErrorSpec(
        400,
        "The request is incomplete",
        "请求不完整",
        "Send the whole body before the connection is closed",
    ),
    "unauthorized": ErrorSpec(
        401,
        "A valid token is required",
        "需要有效的访问令牌",
        "Send Authorization: Bearer <token> or x-api-key: <token>",
    ),
    "role_required": ErrorSpec(
        403,
        "The role of this token does not allow it",
        "该令牌的权限不足",
        "Use a token with the role named in detail; docs/operation.md lists them",
    ),
    "cross_site_request": ErrorSpec(
        403,
        "Requests from other sites are refused",
        "拒绝跨站请求",
        "Call the service from its own pages or from a program",
    ),
    "job_not_found": ErrorSpec(
        404,
        "The job does not exist",
        "任务不存在",
        "Check the job_id; jobs are deleted after their retention time",
    ),
    "not_found": ErrorSpec(
        404, "The requested resource does not exist", "请求的资源不存在", "See /docs for all paths"
    ),
    "method_not_allowed": ErrorSpec(
        405,
        "The method is not allowed",
        "不支持该请求方法",
        "Use a method named in the Allow header",
    ),
    "request_timeout": ErrorSpec(
        408,
        "The request took too long",
        "请求传输超时",
        "Send the whole body at once; REQUEST_TIMEOUT_S is the limit",
    ),
    "body_too_large": ErrorSpec(413, "The body is too large", "请求体过大", "Send at most 64 kB"),
    "unsupported_media_type": ErrorSpec(
        415, "The body must be JSON", "请求体必须为 JSON", "Send Content-Type: application/json"
    ),
    "host_not_allowed": ErrorSpec(
        421,
        "The host name is not served here",
        "不接受该主机名",
        "Use the address that the service listens on, or add the host name to ALLOWED_HOSTS",
    ),
    "invalid_video_ids": ErrorSpec(
        422,
        "The body must be an array of video ids",
        "请求体必须是视频 ID 数组",
        "Send a top-level JSON array of strings of 5 to 30 digits",
    ),
    "local_rate_limit": ErrorSpec(
        429, "Too many requests", "请求过于频繁", "Retry after the time in Retry-After"
    ),
    "internal_error": ErrorSpec(
        500,
        "An internal error occurred",
        "服务内部错误",
        "Try again; the log has the details under this request_id",
    ),
    "platform_verification_required": ErrorSpec(
        501,
        "The platform requires verification for this search",
        "平台要求验证，不提供该搜索",
        "Start a scan with search_enabled=true: it reads the search results that guests see",
    ),
    "provider_unsupported": ErrorSpec(
        501,
        "The configured data source does not support this operation",
        "当前数据源不支持该操作",
        "Use a supported operation, such as POST music_collection_jobs with `input`",
    ),
    "upstream_empty": ErrorSpec(
        502, "The platform sent an empty response", "平台返回空内容", "Try again later"
    ),
    "upstream_page_without_data": ErrorSpec(
        502, "The platform's page contained no data", "平台页面不含数据", "Try again later"
    ),
    "upstream_verification": ErrorSpec(
        502,
        "The platform requires verification",
        "平台要求验证",
        "Verification is never bypassed; try again later or from another network",
    ),
    "upstream_login_required": ErrorSpec(
        502, "The platform requires a login", "平台要求登录", "Guests cannot read this"
    ),
    "upstream_signature_demanded": ErrorSpec(
        502,
        "The platform answers signed requests only",
        "平台只响应带签名的请求",
        "Signatures are never made; another source is read where there is one, so try again later",
    ),
    "upstream_forbidden": ErrorSpec(
        502, "The platform refused the request", "平台拒绝访问", "Try again later"
    ),
    "upstream_rate_limited": ErrorSpec(
        502,
        "The platform limits the request rate",
        "平台限制访问频率",
        "Retry after the time in Retry-After",
    ),
    "upstream_region_blocked": ErrorSpec(
        502,
        "The platform does not serve this region",
        "平台不向该地区提供内容",
        "Use another network",
    ),
    "upstream_substitution": ErrorSpec(
        502, "The platform returned a different item", "平台返回了其他内容", "Check the id"
    ),
    "upstream_structure_changed": ErrorSpec(
        502,
        "The platform's response has an unknown structure",
        "平台数据结构已变化",
        "Update Sametrack, or report the keys in upstream.reason",
    ),
    "upstream_refused_lately": ErrorSpec(
        502,
        "The platform refused its latest answers, so it was not asked",
        "平台近期一直拒绝该内容，本次未再请求",
        "Try again later: one request in ten minutes probes whether it answers again",
    ),
    "upstream_unreachable": ErrorSpec(
        502, "The platform is unreachable", "无法连接平台", "Check the network and try again"
    ),
    "audio_unavailable": ErrorSpec(
        502,
        "The audio could not be read",
        "无法读取音频",
        "Try again later or with verify_audio=false",
    ),
    "chart_unavailable": ErrorSpec(
        502, "The chart is unavailable", "历史榜单暂不可用", "Try again later"
    ),
    "mobile_device_unavailable": ErrorSpec(
        503,
        "The Android device is unavailable",
        "安卓设备不可用",
        "Run `sametrack doctor` to check the device",
    ),
    "mobile_app_unreadable": ErrorSpec(
        503,
        "The app on the device could not be read",
        "无法读取设备上的应用",
        "Run `sametrack doctor`; docs/providers.md lists supported app versions",
    ),
    "profile_not_chosen": ErrorSpec(
        503,
        "No platform profile is chosen",
        "尚未选择平台配置",
        "Set PROFILE=sandbox to use the sandbox, or run `sametrack init`",
    ),
    "warehouse_unavailable": ErrorSpec(
        503, "The data store is unavailable", "数据存储不可用", "Check /readyz, then try again"
    ),
    "worker_unavailable": ErrorSpec(
        503, "No worker is running", "没有运行中的后台进程", "Start one with `sametrack worker`"
    ),
    "capacity_exhausted": ErrorSpec(
        503, "The service is at capacity", "当前无法接受更多任务", "Free disk space or try later"
    ),
    "upstream_budget_spent": ErrorSpec(
        503,
        "Today's request budget is used up",
        "今日请求预算已用完",
        "Wait until midnight UTC or raise DAILY_REQUEST_BUDGET",
    ),
}

SUCCESS: dict[int, tuple[str, str]] = {
    OK: ("Request successful", "请求成功"),
    ACCEPTED: ("Job accepted; poll data.poll_url", "任务已受理，请轮询 data.poll_url"),
}

# The framework itself raises these, before or instead of an operation.
_STATUS_ERRORS: dict[int, tuple[type[SametrackError], str]] = {
    400: (MalformedJsonError, "The request body could not be read"),
    404: (NotFoundError, "No operation has this path"),
    405: (MethodNotAllowedError, "This path does not support this method"),
    413: (BodyTooLargeError, "The request body is too large"),
}


def error_of_status(status: int) -> SametrackError:
    """Return the error for a bare HTTP status of the framework; an unlisted status is internal."""
    if status not in _STATUS_ERRORS:
        return SametrackError("The request could not be processed")
    kind, detail = _STATUS_ERRORS[status]
    return kind(detail)


def error_spec(error_type: object) -> ErrorSpec:
    """Return how a `type` is reported; an unlisted type is reported as an internal error."""
    return ERROR_SPECS.get(str(error_type), ERROR_SPECS["internal_error"])


def with_hint(error: Mapping[str, object]) -> ErrorDocument:
    """Return the error document, with the default hint of its type if it has none.

    Args:
        error: `SametrackError.to_document()`, of this request or stored with a job.
    """
    # The hint is looked up now and not when the job failed: a release may have improved it.
    document = {**error, "hint": error.get("hint") or error_spec(error.get("type")).hint}
    return cast("ErrorDocument", document)
