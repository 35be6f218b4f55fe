"""The API description: the framework's document, completed with security, examples and Chinese."""

import copy
from collections.abc import Mapping
from typing import NamedTuple, get_args, get_type_hints

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from api.openapi.chinese_texts import DESCRIPTIONS_ZH, HINTS_ZH, PHRASES_ZH, SUMMARIES_ZH, TAGS_ZH
from api.openapi.reference import SUMMARY_ZH, ZH, operation_name
from api.responses.errors import ACCEPTED, ERROR_SPECS, OK
from api.responses.languages import split_languages
from api.schemas.examples import EXAMPLES, RESPONSE_EXAMPLES, read_example
from warehouse.records.values import Document

# OpenAPI links: which field of a response is a parameter of another operation.
#
# For client generators and for tests that follow links.


class OperationLink(NamedTuple):
    """A link from the response of one operation to the request of another, by short names."""

    source: str
    status: int
    target: str
    parameters: Mapping[str, str]


_JOB = {"job_id": "$response.body#/data/job_id"}
_USER = {"sec_user_id": "$response.body#/data/sec_user_id"}
_PAGED = {
    "fetch_user_post_videos": ("sec_user_id", "max_cursor"),
    "fetch_music_video_list": ("music_id", "cursor"),
    "fetch_hashtag_video_list": ("ch_id", "cursor"),
}
"""Operations that return a page: the id of the list, and the cursor of the next page."""

LINKS = (
    *(
        OperationLink(source, status, target, _JOB)
        for source, status in (
            ("music_collection_jobs", OK),
            ("music_collection_jobs", ACCEPTED),
            ("fetch_music_hot_videos", ACCEPTED),
        )
        for target in ("music_collection_job", "cancel_music_collection_job")
    ),
    OperationLink("music_collection_job", OK, "cancel_music_collection_job", _JOB),
    OperationLink("cancel_music_collection_job", OK, "music_collection_job", _JOB),
    *(
        OperationLink("get_sec_user_id", OK, target, _USER)
        for target in ("handler_user_profile", "fetch_user_post_videos", "fetch_user_metrics")
    ),
    *(
        OperationLink(
            name,
            OK,
            name,
            {list_id: f"$request.query.{list_id}", cursor: f"$response.body#/data/{cursor}"},
        )
        for name, (list_id, cursor) in _PAGED.items()
    ),
)


def add_links(document: Document) -> None:
    """Add the links to the responses in an API description."""
    operations: dict[str, Document] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            name = operation_name(method.upper(), path, operation["operationId"])
            operations[name] = operation
    for link in LINKS:
        response = operations[link.source]["responses"][str(link.status)]
        response.setdefault("links", {})[link.target] = {
            "operationId": operations[link.target]["operationId"],
            "parameters": dict(link.parameters),
        }


OPENAPI_VERSION = "3.1.0"
DESCRIPTION = """\
Find the public videos that really use a recording, confirmed by audio matching and ranked by
engagement, with a report of what could not be seen.

Every JSON response under `/api/v1/` has the same eleven keys. On failure `data.error` says what
went wrong (`detail`) and what to do (`hint`); `type` is stable. Results are never a full
enumeration of the platform: `coverage_complete` is always false.

查找真正使用同一录音的公开作品：通过音频核验确认，按热度排行，并说明未能读取的部分。

所有 `/api/v1/` 下的 JSON 响应使用相同的十一个字段。失败时 `data.error` 说明原因（`detail`）与处理
办法（`hint`），`type` 稳定不变。结果不代表平台全量：`coverage_complete` 始终为 false。
"""
SECURITY_SCHEMES = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "Authorization: Bearer <token>. 设置 OWN_API_TOKEN 后必填。",
    },
    "apiKey": {
        "type": "apiKey",
        "in": "header",
        "name": "x-api-key",
        "description": "The same token in its own header. 也可以用单独的请求头携带同一令牌。",
    },
}
TAGS = {
    "User": "Accounts, their posts and metrics",
    "Music": "Tracks: rankings, related videos, observed lists",
    "Jobs": "Background scans",
    "Search": "The platform's protected search",
    "Video": "Videos by id",
    "Hashtag": "Hashtags: observed lists",
    "Chart": "Chart history",
    "Sametrack": "Extensions beyond the interface",
    "Operation": "For supervisors: no token, no envelope",
}
OPTIONAL_TOKEN: list[dict[str, list[str]]] = [{"bearer": []}, {"apiKey": []}, {}]
PROTECTED = "/api/"
EXTENSIONS_ROOT = "/api/v1/sametrack/"
"""Operations below this path are extensions of the interface."""
_INVALID = str(ERROR_SPECS["invalid_video_ids"].status)
_SUCCESS = str(OK)
_EXAMPLE_ENVELOPE = {
    "request_id": "0b1f3c1e-9c57-4f0a-8d0e-2f6f1a5f7c11",
    "time": "2026-01-31 12:00:00",
    "time_stamp": 1769860800,
    "time_zone": "UTC",
    "docs": "/docs",
    "router": "/api/v1/",
    "params": {},
}
_ANYTHING: Document = {"application/json": {"schema": {}}}
_EXAMPLE_KEYS = {"example", "examples", "default"}
_FRAMEWORK_SCHEMAS = ("HTTPValidationError", "ValidationError")


def describe(app: FastAPI) -> None:
    """Give the application its API description, built on first use."""
    document: Document = {}

    def openapi() -> Document:
        if not document:
            document.update(build(app))
        return document

    app.openapi = openapi  # type: ignore[method-assign]  # the documented way to replace it


def parameter_names(route: object) -> frozenset[str]:
    """Return the parameter names of an operation: the fields of its query and body models."""
    endpoint = getattr(route, "endpoint", None)
    if endpoint is None:
        return frozenset()
    # `Annotated[Query, ...]` hides the model one level deeper.
    hints = get_type_hints(endpoint).values()
    kinds = [kind for hint in hints for kind in (hint, *get_args(hint))]
    models = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]
    return frozenset(name for model in models for name in model.model_fields)


def build(app: FastAPI) -> Document:
    """Return the description of an application's routes."""
    document = get_openapi(
        title=app.title,
        version=app.version,
        openapi_version=OPENAPI_VERSION,
        description=DESCRIPTION,
        routes=app.routes,
    )
    document["components"]["securitySchemes"] = copy.deepcopy(SECURITY_SCHEMES)
    document["tags"] = [
        {"name": name, "description": text, ZH: TAGS_ZH[name]} for name, text in TAGS.items()
    ]
    # No response refers to the framework's own error schemas.
    for name in _FRAMEWORK_SCHEMAS:
        document["components"]["schemas"].pop(name, None)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            name = operation_name(method.upper(), path, operation["operationId"])
            operation["security"] = OPTIONAL_TOKEN if path.startswith(PROTECTED) else []
            if path.startswith(EXTENSIONS_ROOT):
                operation["x-extension"] = True
            _complete(operation, name)
    add_links(document)
    _split_descriptions(document)
    return document


def in_chinese(document: Document) -> Document:
    """Return a copy of the description with Chinese texts in place of the English ones."""
    translated = copy.deepcopy(document)
    _translate(translated)
    return translated


def _translate(node: object) -> None:
    if isinstance(node, list):
        for item in node:
            _translate(item)
    if not isinstance(node, dict):
        return
    for place, chinese in (("description", ZH), ("summary", SUMMARY_ZH)):
        if node.get(chinese):
            node[place] = node[chinese]
    for key, value in node.items():
        if key not in _EXAMPLE_KEYS:
            _translate(value)


def _complete(operation: Document, name: str) -> None:
    """Remove what the framework assumes; add examples and Chinese texts to an operation."""
    responses = operation["responses"]
    # The framework lists its own validation error, which this service never returns, and a success
    # without content for operations that never succeed.
    if _FRAMEWORK_SCHEMAS[0] in str(responses.get(_INVALID)):
        del responses[_INVALID]
    if responses.get(_SUCCESS, {}).get("content") == _ANYTHING:
        del responses[_SUCCESS]

    # Examples: of parameters and body, then of successful responses.
    examples = EXAMPLES.get(name, {})
    for parameter in operation.get("parameters", []):
        if parameter["name"] in examples:
            parameter["example"] = examples[parameter["name"]]
    if "body" in examples:
        operation["requestBody"]["content"]["application/json"]["example"] = examples["body"]
    for status, file in RESPONSE_EXAMPLES.get(name, {}).items():
        responses[str(status)]["content"]["application/json"]["example"] = read_example(file)

    # The docstring of the handler holds both languages; longer Chinese texts are in the tables.
    text = split_languages(operation["description"])
    operation["description"] = text.en
    operation[ZH] = DESCRIPTIONS_ZH.get(name, text.zh)
    first_line = text.zh.partition("\n")[0].rstrip(".。")
    operation[SUMMARY_ZH] = SUMMARIES_ZH.get(name, first_line)

    # One status stands for several error types: translate all, and show the first as an example.
    for response in responses.values():
        kinds = [kind for kind in ERROR_SPECS if f"`{kind}`" in response["description"]]
        if kinds:
            response[ZH] = "\n\n".join(
                f"`{kind}`: {ERROR_SPECS[kind].message_zh}. {HINTS_ZH[kind]}." for kind in kinds
            )
            response["content"]["application/json"]["example"] = _error_example(kinds[0])


def _error_example(kind: str) -> Document:
    """Return an example response of this error type; the real `detail` varies."""
    spec = ERROR_SPECS[kind]
    error = {
        "type": kind,
        "detail": spec.message,
        "hint": spec.hint,
        "retry_after": None,
        "upstream": None,
    }
    return {
        **_EXAMPLE_ENVELOPE,
        "code": spec.status,
        "message": spec.message,
        "message_zh": spec.message_zh,
        "data": {"error": error},
    }


def _split_descriptions(node: object) -> None:
    """Split bilingual descriptions into English and Chinese. Examples are left as they are."""
    if isinstance(node, list):
        for item in node:
            _split_descriptions(item)
    if not isinstance(node, dict):
        return
    description = node.get("description")
    if isinstance(description, str) and ZH not in node:
        text = split_languages(description)
        chinese = text.zh or PHRASES_ZH.get(description)
        if chinese:
            node.update({"description": text.en, ZH: chinese})
    for key, value in node.items():
        if key not in _EXAMPLE_KEYS:
            _split_descriptions(value)
