"""Responses of each operation for the API description: statuses, bodies, headers."""

from api.responses.documents import Envelope, ErrorData
from api.responses.errors import (
    ACCEPTED,
    ERROR_SPECS,
    NO_CONTENT,
    NOT_MODIFIED,
    OK,
    PARTIAL_CONTENT,
)
from api.schemas.chart import ChartHistoryDocument
from api.schemas.extensions.evidence import AnnotationList, ComparisonDocument
from api.schemas.extensions.exports import ComparisonList, JobReads, Series, Storage
from api.schemas.lists import CreatorMetrics, CursorList, PostList, ResolvedUser, UserProfile
from api.schemas.many_videos import ManyVideos
from api.schemas.result import (
    BatchResult,
    DiscoveryResponse,
    HotVideosResponse,
    JobDocument,
    JobList,
    JobPreview,
)
from warehouse.exports.table_files import MEDIA_TYPES
from warehouse.records.values import Document

type ResponseSpecs = dict[int | str, Document]

COMMON_ERRORS = (
    "unauthorized",
    "role_required",
    "cross_site_request",
    "host_not_allowed",
    "local_rate_limit",
    "internal_error",
)
PARAMETER_ERRORS = ("missing_parameter", "invalid_parameter", "unknown_parameter")
BODY_ERRORS = ("malformed_json", "body_too_large", "unsupported_media_type")
STORE_ERRORS = ("profile_not_chosen", "warehouse_unavailable")
WRITE_ERRORS = (*STORE_ERRORS, "capacity_exhausted")
PLATFORM_ERRORS = (*WRITE_ERRORS, "provider_unsupported")
"""Of operations that may read the platform; what is read is stored."""
UPSTREAM_ERRORS = tuple(name for name in ERROR_SPECS if name.startswith("upstream_"))
DEVICE_ERRORS = ("mobile_device_unavailable", "mobile_app_unreadable")
_HEADERS = {
    "X-Request-ID": ("same as `request_id`", "string"),
    "Location": ("path to poll the job", "string"),
    "Retry-After": ("recommended seconds to wait before a retry", "integer"),
    "ETag": ("weak ETag of `data`", "string"),
    "WWW-Authenticate": ("Bearer", "string"),
}


def header_specs(*names: str) -> Document:
    """Return descriptions of response headers."""
    return {
        name: {"description": _HEADERS[name][0], "schema": {"type": _HEADERS[name][1]}}
        for name in ("X-Request-ID", *names)
    }


def error_responses(*types: str) -> ResponseSpecs:
    """Return error responses by status; their descriptions list the error types."""
    by_status: dict[int, list[str]] = {}
    for name in sorted({*types, *COMMON_ERRORS}, key=list(ERROR_SPECS).index):
        by_status.setdefault(ERROR_SPECS[name].status, []).append(name)
    return {status: _failure(names) for status, names in by_status.items()}


def _failure(names: list[str]) -> Document:
    lines = [
        f"`{name}`: {ERROR_SPECS[name].message}. {ERROR_SPECS[name].message_zh}." for name in names
    ]
    more: tuple[str, ...] = ("WWW-Authenticate",) if "unauthorized" in names else ()
    may_wait = "local_rate_limit" in names or set(names) & {*UPSTREAM_ERRORS, *PLATFORM_ERRORS}
    more += ("Retry-After",) if may_wait else ()
    return {
        "model": Envelope[ErrorData],
        "description": "\n\n".join(lines),
        "headers": header_specs(*more),
    }


def _success(model: object, description: str, *names: str) -> Document:
    return {"model": model, "description": description, "headers": header_specs(*names)}


def _file(media_type: str, description: str) -> Document:
    schema = {"type": "string", "contentMediaType": media_type}
    return {
        "description": description,
        "headers": header_specs(),
        "content": {media_type: {"schema": schema}},
    }


_JOB = Envelope[JobDocument]


def _unchanged(*names: str) -> ResponseSpecs:
    description, headers = "`data` matches If-None-Match", header_specs("ETag", *names)
    return {NOT_MODIFIED: {"description": description, "headers": headers}}


_UNCHANGED = _unchanged()
_UNCHANGED_YET = _unchanged("Retry-After")


def read_responses(model: object, description: str, *errors: str) -> ResponseSpecs:
    """Return the responses of a read that may be unchanged; `model` is its envelope."""
    return {OK: _success(model, description, "ETag"), **_UNCHANGED, **error_responses(*errors)}


_STARTED = _success(_JOB, "Started or joined job", "Location", "Retry-After")

HOT_VIDEOS_RESPONSES: ResponseSpecs = {
    OK: _success(Envelope[HotVideosResponse], "Ranking from a stored result", "ETag"),
    ACCEPTED: _STARTED,
    **_UNCHANGED,
    **error_responses(
        *PARAMETER_ERRORS, "invalid_music_input", *PLATFORM_ERRORS, "worker_unavailable",
        *UPSTREAM_ERRORS, *DEVICE_ERRORS, "audio_unavailable",
    ),
}  # fmt: skip
DISCOVERY_RESPONSES: ResponseSpecs = {
    OK: _success(Envelope[DiscoveryResponse], "Verified matches and all candidates", "ETag"),
    **_UNCHANGED,
    **error_responses(
        *PARAMETER_ERRORS, "invalid_music_input", *PLATFORM_ERRORS, "worker_unavailable",
        *UPSTREAM_ERRORS, *DEVICE_ERRORS, "audio_unavailable",
    ),
}  # fmt: skip
CREATE_JOB_RESPONSES: ResponseSpecs = {
    OK: _success(_JOB, "Completed job with a valid stored result", "Location"),
    ACCEPTED: _STARTED,
    **error_responses(*PARAMETER_ERRORS, *BODY_ERRORS, "invalid_music_input", *PLATFORM_ERRORS),
}
BATCH_RESPONSES: ResponseSpecs = {
    OK: _success(Envelope[BatchResult], "Each item with its job, stored result or error"),
    **error_responses(*PARAMETER_ERRORS, *BODY_ERRORS, "invalid_inputs", *PLATFORM_ERRORS),
}
_JOB_FAILURES = error_responses(
    "unknown_parameter", "job_not_found", "profile_not_chosen", "warehouse_unavailable"
)
JOB_RESPONSES: ResponseSpecs = {
    OK: _success(_JOB, "Current state of the job", "ETag", "Retry-After"),
    **_UNCHANGED_YET,
    **_JOB_FAILURES,
}
RANKING_RESPONSES: ResponseSpecs = {
    OK: _success(_JOB, "The job with its result in the requested view", "ETag", "Retry-After"),
    **_UNCHANGED_YET,
    **error_responses(
        "invalid_parameter",
        "unknown_parameter",
        "job_not_found",
        "profile_not_chosen",
        "warehouse_unavailable",
    ),
}
CANCEL_RESPONSES: ResponseSpecs = {
    OK: _success(_JOB, "Job after the cancellation request"),
    **_JOB_FAILURES,
}
JOB_EVENTS_RESPONSES: ResponseSpecs = {
    OK: _file("text/event-stream", "Events with the `data` of the polling operation"),
    NO_CONTENT: {
        "description": "The client already has the final state",
        "headers": header_specs(),
    },
    **error_responses(
        "unknown_parameter",
        "job_not_found",
        "warehouse_unavailable",
        "profile_not_chosen",
        "capacity_exhausted",
    ),
}
JOB_LIST_RESPONSES: ResponseSpecs = {
    OK: _success(Envelope[JobList], "Newest jobs", "ETag"),
    **_UNCHANGED,
    **error_responses(
        "invalid_parameter", "unknown_parameter", "profile_not_chosen", "warehouse_unavailable"
    ),
}
_COMPARISON_FAILURES = error_responses(
    "unknown_parameter", "not_found", "profile_not_chosen", "warehouse_unavailable"
)
COMPARISON_RESPONSES: ResponseSpecs = {
    OK: _success(Envelope[ComparisonDocument], "Stored measurements", "ETag"),
    **_UNCHANGED,
    **_COMPARISON_FAILURES,
}
ANNOTATIONS_RESPONSES: ResponseSpecs = {
    OK: _success(Envelope[AnnotationList], "Annotations of the pair", "ETag"),
    **_UNCHANGED,
    **_COMPARISON_FAILURES,
}
ANNOTATE_RESPONSES: ResponseSpecs = {
    OK: _success(Envelope[AnnotationList], "Annotations of the pair, including the new one"),
    **error_responses(*PARAMETER_ERRORS, *BODY_ERRORS, "not_found", *WRITE_ERRORS),
}
_PLOT_FAILURES = _COMPARISON_FAILURES | error_responses("invalid_parameter", "unknown_parameter")
SVG_RESPONSES: ResponseSpecs = {OK: _file("image/svg+xml", "Evidence plot"), **_PLOT_FAILURES}
PNG_RESPONSES: ResponseSpecs = {OK: _file("image/png", "Evidence plot"), **_PLOT_FAILURES}
EXCERPT_RESPONSES: ResponseSpecs = {
    OK: _file("audio/mpeg", "Audio excerpt of at most ten seconds, mono"),
    PARTIAL_CONTENT: _file("audio/mpeg", "The bytes requested by `Range`"),
    **_PLOT_FAILURES,
    **error_responses("provider_unsupported", "audio_unavailable", *UPSTREAM_ERRORS),
}
REPORT_RESPONSES: ResponseSpecs = {
    OK: _file("text/html", "Page without script that contacts nobody"),
    **error_responses(
        "invalid_parameter", "unknown_parameter", "job_not_found", "not_found",
        "profile_not_chosen", "warehouse_unavailable",
    ),
}  # fmt: skip
PICTURE_RESPONSES: ResponseSpecs = {
    OK: _file("image/jpeg", "Picture of at most 144 by 192 pixels"),
    **error_responses("invalid_parameter", "unknown_parameter", "not_found"),
}
VIDEOS_RESPONSES: ResponseSpecs = {
    OK: _success(Envelope[ManyVideos], "Videos that were read, and reasons for the others"),
    **error_responses(
        "invalid_video_ids", "unknown_parameter", "body_too_large", "unsupported_media_type",
        *PLATFORM_ERRORS,
    ),
}  # fmt: skip
CHART_RESPONSES: ResponseSpecs = {
    OK: _success(Envelope[ChartHistoryDocument], "One issue per node", "ETag", "Retry-After"),
    **_UNCHANGED_YET,
    **error_responses(
        *PARAMETER_ERRORS,
        "invalid_date_range",
        *PLATFORM_ERRORS,
        "chart_unavailable",
        *UPSTREAM_ERRORS,
    ),
}
COMPARISONS_RESPONSES: ResponseSpecs = {
    OK: _success(Envelope[ComparisonList], "Compared pairs", "ETag"),
    **_UNCHANGED,
    **error_responses(
        "unknown_parameter", "job_not_found", "profile_not_chosen", "warehouse_unavailable"
    ),
}
JOB_PREVIEW_RESPONSES: ResponseSpecs = {
    OK: _success(Envelope[JobPreview], "Videos confirmed so far", "ETag"),
    **_UNCHANGED,
    **_JOB_FAILURES,
}
JOB_READS_RESPONSES: ResponseSpecs = {
    OK: _success(Envelope[JobReads], "Reads by surface and outcome", "ETag"),
    **_UNCHANGED,
    **error_responses(
        "unknown_parameter", "job_not_found", "profile_not_chosen", "warehouse_unavailable"
    ),
}
SERIES_RESPONSES: ResponseSpecs = {
    OK: _success(Envelope[Series], "Points over time, oldest first", "ETag"),
    **_UNCHANGED,
    **error_responses(
        "invalid_parameter",
        "unknown_parameter",
        "not_found",
        "profile_not_chosen",
        "warehouse_unavailable",
    ),
}
STORAGE_RESPONSES: ResponseSpecs = {
    OK: _success(Envelope[Storage], "Storage and request budget", "ETag"),
    **_UNCHANGED,
    **error_responses("unknown_parameter", "profile_not_chosen", "warehouse_unavailable"),
}
_OBJECTS: Document = {"type": "array", "items": {"type": "object"}}
_JSON_FILE: Document = {
    "type": "object",
    "required": ["table", "method", "rows"],
    "properties": {
        "table": {"type": "string"},
        "method": {"type": "object", "additionalProperties": {"type": "string"}},
        "rows": _OBJECTS,
        "coverage": _OBJECTS,
    },
}
EXPORT_RESPONSES: ResponseSpecs = {
    OK: {
        "description": "The exported file, named by `Content-Disposition`",
        "headers": header_specs("Retry-After"),
        "content": {
            media_type.partition(";")[0]: {
                "schema": _JSON_FILE if form == "json" else {"type": "string"}
            }
            for form, media_type in MEDIA_TYPES.items()
        },
    },
    **error_responses(
        *PARAMETER_ERRORS, "job_not_found", "not_found", "invalid_date_range", *PLATFORM_ERRORS,
        "chart_unavailable", *UPSTREAM_ERRORS, *DEVICE_ERRORS,
    ),
}  # fmt: skip
_USER_FAILURES = error_responses(
    *PARAMETER_ERRORS, "unresolvable_sec_user_id", *PLATFORM_ERRORS, *UPSTREAM_ERRORS
)
RESOLVE_RESPONSES: ResponseSpecs = {
    OK: _success(Envelope[ResolvedUser], "Resolved account", "ETag"),
    **_UNCHANGED,
    **_USER_FAILURES,
}
PROFILE_RESPONSES: ResponseSpecs = {
    OK: _success(Envelope[UserProfile], "Account profile", "ETag"),
    **_UNCHANGED,
    **_USER_FAILURES,
}
POSTS_RESPONSES: ResponseSpecs = {
    OK: _success(Envelope[PostList], "Page of posts", "ETag"),
    **_UNCHANGED,
    **_USER_FAILURES,
}
METRICS_RESPONSES: ResponseSpecs = {
    OK: _success(Envelope[CreatorMetrics], "Engagement of the newest videos in the window", "ETag"),
    **_UNCHANGED,
    **_USER_FAILURES,
}
MUSIC_LIST_RESPONSES: ResponseSpecs = {
    OK: _success(Envelope[CursorList], "Page of the observed union", "ETag"),
    **_UNCHANGED,
    **error_responses(
        *PARAMETER_ERRORS,
        "invalid_music_input",
        *PLATFORM_ERRORS,
        *UPSTREAM_ERRORS,
        *DEVICE_ERRORS,
    ),
}
HASHTAG_LIST_RESPONSES: ResponseSpecs = {
    OK: _success(Envelope[CursorList], "Page of the observed union", "ETag"),
    **_UNCHANGED,
    **error_responses(*PARAMETER_ERRORS, *PLATFORM_ERRORS, *UPSTREAM_ERRORS),
}
PROTECTED_RESPONSES: ResponseSpecs = error_responses(
    "platform_verification_required", "body_too_large"
)
