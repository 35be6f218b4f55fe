"""The API description: what the framework writes, completed with security and examples."""

from typing import Any, get_args, get_type_hints

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from api.chinese import DESCRIPTIONS_ZH, PHRASES_ZH, SUMMARIES_ZH
from api.errors import ANSWERS
from api.languages import split_languages
from api.reference import SUMMARY_ZH, ZH, operation_name
from api.schemas.examples import ANSWERS_SHOWN, EXAMPLES, read_example

OPENAPI_VERSION = "3.1.0"
DESCRIPTION = """\
Find the public videos that really carry a recording: confirmed by listening, ranked by
engagement, honest about what was not seen.

Every JSON answer under `/api/v1/` has the same eleven keys. On failure `data.error` says what was
wrong (`detail`) and what to do (`hint`); `type` is stable. Results are never a full enumeration of
the platform: `coverage_complete` is always false.

所有 `/api/v1/` 下的 JSON 响应使用同一信封结构; 失败时 `data.error` 说明原因与处理办法。
"""
SECURITY_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "Authorization: Bearer <token>"},
    "apiKey": {"type": "apiKey", "in": "header", "name": "x-api-key"},
}
OPTIONAL_TOKEN: list[dict[str, list[str]]] = [{"bearer": []}, {"apiKey": []}, {}]
PROTECTED = "/api/"
_INVALID = str(ANSWERS["invalid_video_ids"].status)
_SHOWN = {"example", "examples", "default"}
_FRAMEWORK_SHAPES = ("HTTPValidationError", "ValidationError")


def describe(app: FastAPI) -> None:
    """Give the application its description, made once."""
    document: dict[str, Any] = {}

    def openapi() -> dict[str, Any]:
        if not document:
            document.update(_build(app))
        return document

    app.openapi = openapi  # type: ignore[method-assign]  # the framework's own way to replace it


def parameter_names(route: object) -> frozenset[str]:
    """Names that an operation has: the fields of its query and body models."""
    endpoint = getattr(route, "endpoint", None)
    if endpoint is None:
        return frozenset()
    hints = get_type_hints(endpoint).values()
    kinds = [kind for hint in hints for kind in (hint, *get_args(hint))]
    models = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]
    return frozenset(name for model in models for name in model.model_fields)


def _build(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title,
        version=app.version,
        openapi_version=OPENAPI_VERSION,
        description=DESCRIPTION,
        routes=app.routes,
    )
    document["components"]["securitySchemes"] = SECURITY_SCHEMES
    for name in _FRAMEWORK_SHAPES:
        document["components"]["schemas"].pop(name, None)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            _complete(operation, is_protected=path.startswith(PROTECTED))
            name = operation_name(method.upper(), path, operation["operationId"])
            _say_in_both(operation, name)
    _part_languages({key: document[key] for key in ("paths", "components")})
    return document


def _say_in_both(operation: dict[str, Any], name: str) -> None:
    words = split_languages(operation["description"])
    short = words.zh.partition("\n")[0].rstrip(".。")
    operation["description"] = words.en
    operation[ZH] = DESCRIPTIONS_ZH.get(name, words.zh)
    operation[SUMMARY_ZH] = SUMMARIES_ZH.get(name, short)


def _part_languages(node: object) -> None:
    """Descriptions in English, with the Chinese beside them; answers that are shown stay."""
    if isinstance(node, list):
        for one in node:
            _part_languages(one)
    if not isinstance(node, dict):
        return
    said = node.get("description")
    if isinstance(said, str):
        words = split_languages(said)
        chinese = words.zh or PHRASES_ZH.get(said)
        node.update({"description": words.en, ZH: chinese} if chinese and ZH not in node else {})
    for key, value in node.items():
        if key not in _SHOWN:
            _part_languages(value)


def _complete(operation: dict[str, Any], *, is_protected: bool) -> None:
    if _FRAMEWORK_SHAPES[0] in str(operation["responses"].get(_INVALID)):
        del operation["responses"][_INVALID]  # the framework's own answer, which is never given
    operation["security"] = OPTIONAL_TOKEN if is_protected else []
    examples = EXAMPLES.get(operation["operationId"], {})
    for parameter in operation.get("parameters", []):
        if parameter["name"] in examples:
            parameter["example"] = examples[parameter["name"]]
    if "body" in examples:
        operation["requestBody"]["content"]["application/json"]["example"] = examples["body"]
    for status, name in ANSWERS_SHOWN.get(operation["operationId"], {}).items():
        content = operation["responses"][str(status)]["content"]["application/json"]
        content["example"] = read_example(name)
