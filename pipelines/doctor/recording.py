"""Writes what the probes of one health check received: a file per body, and an index.

Accounts and videos become the keyed hashes of exports of this home, what users wrote becomes dots,
and what identifies this machine is removed. The index is written last, so that half a folder has
none; it also lists the responses whose body was left out, and the surfaces without a body.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.captures.recorded.pseudonymised import BodyPseudonymiser
from pipelines.platform.call_trace import HttpResponse
from warehouse.records.errors import InvalidParameterError
from warehouse.records.health import SurfaceHealth
from warehouse.records.times import to_utc_text
from warehouse.records.values import Document

INDEX = "index.json"
BODIES = "bodies"
_ID_PART = re.compile(r"[^/]*[0-9A-Z][^/]*")
_LONG_NUMBER = re.compile("[0-9]{5,}")

type ProbeResponse = tuple[SurfaceHealth, HttpResponse]
"""What a probe concluded, and the last response that it received."""


@dataclass(frozen=True, slots=True)
class Recording:
    """How many bodies were written, and of how many surfaces there is none."""

    body_count: int
    surfaces_without_body: int


def prepare_folder(folder: Path) -> None:
    """Create the folder; refuse one that has files, because a recording never replaces another.

    Raises:
        InvalidParameterError: The folder has files, or it cannot be created or read.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        has_files = any(folder.iterdir())
    except OSError as error:
        raise InvalidParameterError(
            f"the folder {str(folder)!r} cannot be written: {error.strerror}",
            hint="name a new folder",
        ) from error
    if has_files:
        raise InvalidParameterError(
            f"the folder {str(folder)!r} has files", hint="name a new or an empty folder"
        )


def record_responses(
    folder: Path,
    health: Sequence[SurfaceHealth],
    responses: Sequence[ProbeResponse],
    pseudonymiser: BodyPseudonymiser,
    *,
    profile: str,
    is_demo_data: bool,
) -> Recording:
    """Write the bodies of the responses and the index of all probed surfaces.

    Raises:
        OSError: The folder cannot be written.
    """
    (folder / BODIES).mkdir()
    entries: list[Document] = []
    for number, (line, response) in enumerate(responses, start=1):
        body = pseudonymiser.body(response.body) if response.body else None
        name = left_out = sha256 = None
        if body is not None:
            name = f"{BODIES}/{number:02}-{line.surface}{_file_ending(body)}"
            sha256 = hashlib.sha256(body).hexdigest()
            (folder / name).write_bytes(body)
        else:
            left_out = "it may name somebody" if response.body else "no body was kept of it"
        files = {"body": name, "sha256": sha256, "left_out": left_out}
        entries.append({**files, **_facts(line, response, pseudonymiser)})
    recorded = {entry["surface"] for entry in entries if entry["body"] is not None}
    without = [_outcome(line) for line in health if line.surface not in recorded]
    document = {
        "profile": profile,
        "is_demo_data": is_demo_data,
        "responses": entries,
        "surfaces_without_body": without,
    }
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    (folder / INDEX).write_text(text, encoding="utf-8")
    return Recording(sum(entry["body"] is not None for entry in entries), len(without))


def _facts(line: SurfaceHealth, response: HttpResponse, hidden: BodyPseudonymiser) -> Document:
    entity_id = hidden.entity(line.surface, line.entity_id or "")
    path = response.path.replace(line.entity_id, entity_id) if line.entity_id else response.path
    if line.surface == "short_link":
        path = "/"  # it is a code that leads to whom the body must not name
    location = response.location
    return {
        **_outcome(line),
        "entity_id": entity_id,
        "received_at": to_utc_text(response.fetched_at),
        "status": response.status,
        "content_type": response.content_type,
        "path": path,
        "location": None if location is None else _without_ids(location.partition("?")[0]),
    }


def _outcome(line: SurfaceHealth) -> Document:
    return {
        "surface": line.surface,
        "outcome": line.outcome,
        "error_type": line.error_type,
        "reason": None if line.reason is None else _LONG_NUMBER.sub("#", line.reason),
    }


def _without_ids(address: str) -> str:
    """Return a URL with a dot for each part of its path that may be an id or a code."""
    scheme, separator, rest = address.rpartition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host}{slash}{_ID_PART.sub('·', path)}"


def _file_ending(body: bytes) -> str:
    first = body.lstrip()[:1]
    return ".html" if first == b"<" else ".json" if first in {b"{", b"["} else ".txt"
