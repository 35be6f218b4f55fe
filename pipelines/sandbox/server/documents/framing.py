"""Framing of several JSON documents in one body: hex length and document each, ended by 0."""

import json
from collections.abc import Iterable

from pipelines.sandbox.server.documents.pages import Document

_LINE = b"\r\n"


def to_frames(documents: Iterable[Document]) -> bytes:
    """Encode documents as one body; lengths count bytes."""
    body = b""
    for document in documents:
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
        body += f"{len(text):x}".encode() + _LINE + text + _LINE
    return body + b"0" + _LINE + _LINE


def read_frames(body: bytes) -> list[Document]:
    """Decode a body of `to_frames`."""
    documents: list[Document] = []
    while True:
        length, _, body = body.partition(_LINE)
        size = int(length, 16)
        if size == 0:
            return documents
        documents.append(json.loads(body[:size]))
        body = body[size + len(_LINE) :]
