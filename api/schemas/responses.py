"""Responses for the API description: statuses, bodies, headers, and the errors of operations."""

from api.responses.documents import Envelope, ErrorData
from api.responses.errors import ERROR_SPECS, NOT_MODIFIED, OK
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
BODY_ERRORS = (*PARAMETER_ERRORS, "malformed_json", "body_too_large", "unsupported_media_type")
STORE_ERRORS = ("profile_not_chosen", "warehouse_unavailable")
READ_ERRORS = ("unknown_parameter", *STORE_ERRORS)
"""Of a read of the stores without parameters but in its path."""
JOB_ERRORS = ("job_not_found", "unknown_parameter", "warehouse_unavailable")
"""Of an operation on a job. Without a profile there are none, so none is found."""
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


def success(model: type, description: str, *headers: str) -> Document:
    """Return a response with `data` of this model in the envelope."""
    envelope = Envelope.__class_getitem__(model)
    return {"model": envelope, "description": description, "headers": header_specs(*headers)}


def unchanged(*headers: str) -> ResponseSpecs:
    """Return the response of a read whose `data` the client has already."""
    description, specs = "`data` matches If-None-Match", header_specs("ETag", *headers)
    return {NOT_MODIFIED: {"description": description, "headers": specs}}


def read_responses(
    model: type, description: str, *errors: str, headers: tuple[str, ...] = ()
) -> ResponseSpecs:
    """Return the responses of a read that answers 304 to a client that has its `data` already."""
    return {
        OK: success(model, description, "ETag", *headers),
        **unchanged(*headers),
        **error_responses(*errors),
    }


def action_responses(model: type, description: str, *errors: str) -> ResponseSpecs:
    """Return the responses of an operation that changes something, or of an uncached read."""
    return {OK: success(model, description), **error_responses(*errors)}


def file(media_type: str, description: str) -> Document:
    """Return a response that is a file, not an envelope."""
    schema = {"type": "string", "contentMediaType": media_type}
    return {
        "description": description,
        "headers": header_specs(),
        "content": {media_type: {"schema": schema}},
    }


def exported_file(description: str, json_schema: Document, *headers: str) -> ResponseSpecs:
    """Return the response with a table in the format that was asked for."""
    content = {
        media_type.partition(";")[0]: {
            "schema": json_schema if form == "json" else {"type": "string"}
        }
        for form, media_type in MEDIA_TYPES.items()
    }
    return {
        OK: {
            "description": f"{description}, named by `Content-Disposition`",
            "headers": header_specs(*headers),
            "content": content,
        }
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
