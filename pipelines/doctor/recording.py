"""Writes what the probes of one health check received: a file per body, and an index.

Accounts and videos become the keyed hashes of exports of this home, what users wrote becomes dots,
and what identifies this machine is removed. The index is written last, so that an incomplete folder
has no index; it also lists the responses whose body was omitted, and the surfaces without a body.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.captures.recorded import BodyPseudonymiser
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
"""Result of a probe, and the last response that it received."""


@dataclass(frozen=True, slots=True)
class Recording:
    """How many bodies were written, and how many surfaces have no body."""

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
    for number, (result, response) in enumerate(responses, start=1):
        name = omitted = sha256 = None
        body = pseudonymiser.body(response.body) if response.body else None
        if body is not None:
            start = body.lstrip()[:1]
            suffix = ".html" if start == b"<" else ".json" if start in {b"{", b"["} else ".txt"
            name = f"{BODIES}/{number:02}-{result.surface}{suffix}"
            sha256 = hashlib.sha256(body).hexdigest()
            (folder / name).write_bytes(body)
        else:
            omitted = "it may name somebody" if response.body else "no body was kept of it"

        # The path and the location may name the same entity, or another.
        entity_id = pseudonymiser.entity(result.surface, result.entity_id or "")
        path, location = response.path, response.location
        if result.entity_id:
            path = path.replace(result.entity_id, entity_id)
        if result.surface == "short_link":
            path = "/"  # it is a code that leads to whom the body must not name
        if location is not None:
            scheme, separator, rest = location.partition("?")[0].rpartition("://")
            host, slash, target = rest.partition("/")
            # A part that may be an id or a code becomes a dot.
            location = f"{scheme}{separator}{host}{slash}{_ID_PART.sub('·', target)}"
        entries.append(
            {
                "body": name,
                "sha256": sha256,
                "left_out": omitted,
                **_outcome(result),
                "entity_id": entity_id,
                "received_at": to_utc_text(response.fetched_at),
                "status": response.status,
                "content_type": response.content_type,
                "path": path,
                "location": location,
            }
        )
    # Surfaces without a body are listed with the reason.
    recorded = {entry["surface"] for entry in entries if entry["body"] is not None}
    without = [_outcome(result) for result in health if result.surface not in recorded]
    document = {
        "profile": profile,
        "is_demo_data": is_demo_data,
        "responses": entries,
        "surfaces_without_body": without,
    }
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    (folder / INDEX).write_text(text, encoding="utf-8")
    return Recording(sum(entry["body"] is not None for entry in entries), len(without))


def _outcome(result: SurfaceHealth) -> Document:
    return {
        "surface": result.surface,
        "outcome": result.outcome,
        "error_type": result.error_type,
        "reason": None if result.reason is None else _LONG_NUMBER.sub("#", result.reason),
    }
