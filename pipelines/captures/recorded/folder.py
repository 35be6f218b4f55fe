"""A folder of recorded bodies: its manifest `bodies.json`, and the files that it names.

What belongs here: the form on disk. What the bodies say is decided by the parsers.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pipelines.platform.reparse import ArchivedBody
from warehouse.input_files import folder_problem
from warehouse.records.errors import InvalidParameterError
from warehouse.records.times import to_utc_text

MANIFEST = "bodies.json"
BODIES = "bodies"
FORM = 1
"""Version of the manifest."""
_HINT = f"give the folder that holds {MANIFEST}, as `sametrack doctor --live-check` wrote"
_FACTS = (
    "surface", "entity_id", "observed_at", "status", "content_type", "path", "outcome", "reason",
    "location", "cursor",
)  # fmt: skip
"""What the manifest says of a body, in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedBody(ArchivedBody):
    """One response as it was received.

    `outcome` is the type of the error that it caused, or `ok`. `location` is set when a redirect
    was the answer.
    """

    outcome: str
    reason: str | None = None
    location: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFolder:
    """The bodies of one folder. `is_pseudonymised`: accounts and videos are keyed hashes."""

    profile: str
    is_pseudonymised: bool
    bodies: tuple[RecordedBody, ...]


def write_folder(place: Path, folder: RecordedFolder) -> None:
    """Write bodies and manifest; the manifest is last, so that half a folder has none.

    Raises:
        OSError: The folder cannot be written.
    """
    (place / BODIES).mkdir(parents=True, exist_ok=True)
    entries: list[dict[str, object]] = []
    for number, kept in enumerate(folder.bodies, start=1):
        name = f"{BODIES}/{number:02}-{kept.surface}{file_ending(kept.body)}"
        (place / name).write_bytes(kept.body)
        entries.append({"file": name, **_facts(kept)})
    document = {
        "form": FORM,
        "profile": folder.profile,
        "is_pseudonymised": folder.is_pseudonymised,
        "bodies": entries,
    }
    text = json.dumps(document, ensure_ascii=False, indent=2)
    (place / MANIFEST).write_text(text + "\n", encoding="utf-8")


def read_folder(place: Path) -> RecordedFolder:
    """Read a folder and check every body against its hash.

    Raises:
        InvalidParameterError: It is no such folder, or a body differs from the manifest.
    """
    problem = folder_problem(place)
    if problem is not None:
        raise InvalidParameterError(problem, hint=_HINT)
    try:
        document = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
        return RecordedFolder(
            profile=document["profile"],
            is_pseudonymised=document["is_pseudonymised"],
            bodies=tuple(_body(place, entry) for entry in document["bodies"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise InvalidParameterError(
            f"{place.name!r} is not a folder of recorded bodies: {_why(exc)}", hint=_HINT
        ) from exc


def _why(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"it has no {Path(error.filename).name}"
    return f"{MANIFEST} or a body that it names is damaged ({error})"


def file_ending(body: bytes) -> str:
    """Return the ending of a body's file, by its first character."""
    first = body.lstrip()[:1]
    return ".html" if first == b"<" else ".json" if first in {b"{", b"["} else ".txt"


def _facts(kept: RecordedBody) -> dict[str, Any]:
    facts = {name: getattr(kept, name) for name in _FACTS}
    sha256 = hashlib.sha256(kept.body).hexdigest()
    return {**facts, "observed_at": to_utc_text(kept.observed_at), "sha256": sha256}


def _body(place: Path, entry: dict[str, Any]) -> RecordedBody:
    facts = dict(entry)
    path, sha256 = (place / facts.pop("file")).resolve(), facts.pop("sha256")
    if not path.is_relative_to(place.resolve()):
        raise ValueError(path.name)
    body = path.read_bytes()
    if hashlib.sha256(body).hexdigest() != sha256:
        raise InvalidParameterError(
            f"{path.name!r} was changed after it was recorded",
            hint="restore the file: expected values are only of use for what was really received",
        )
    observed_at = datetime.fromisoformat(facts.pop("observed_at"))
    return RecordedBody(**facts, observed_at=observed_at, body=body)


def of_surfaces(folder: RecordedFolder, surfaces: Iterable[str]) -> tuple[RecordedBody, ...]:
    """Return the bodies of these surfaces; all if none is named."""
    wanted = set(surfaces)
    return tuple(kept for kept in folder.bodies if not wanted or kept.surface in wanted)
