"""Restore of a backup as the home of its world; everything is verified before it is put in place.

Stores are opened in a temporary folder first, so that they refuse another world or a newer version
before the home exists. Writing a backup is in `backup`.
"""

import json
import shutil
from contextlib import closing
from pathlib import Path, PurePosixPath

from warehouse.control import open_control, sessions
from warehouse.control.captures import sequences
from warehouse.engine.duckdb_engine import Engine
from warehouse.home.folder import PSEUDONYMS_KEY, Home, open_home
from warehouse.input_files import folder_problem
from warehouse.lake.store import open_lake
from warehouse.maintenance.backup import (
    CONTROL,
    FORMAT,
    LAKE,
    MANIFEST,
    CopiedFile,
    Manifest,
    backup_errors,
    copy_secret,
    file_sha256,
)
from warehouse.records.errors import (
    InvalidParameterError,
    StoreTooNewError,
    WarehouseUnavailableError,
    WrongWorldError,
)

_HINT = f"give a folder that `sametrack backup` wrote; it holds {MANIFEST}"
_SEQUENCES = """
    select surface, entity_id, max(sequence) as value from raw.captures group by all
"""


def restore_backup(source: Path, data_home: Path, *, world: str) -> Manifest:
    """Create `data_home/<world>/` from the backup in the folder `source`.

    Raises:
        InvalidParameterError: There is no backup, or the world already has stores.
        WrongWorldError: The backup belongs to another world.
        StoreTooNewError: A newer Sametrack wrote it or one of its stores.
        WarehouseUnavailableError: It is damaged or cannot be written. Nothing is left behind.
    """
    problem = folder_problem(source.expanduser())
    if problem is not None:
        raise InvalidParameterError(problem, hint=_HINT)
    source = source.expanduser().resolve()
    root = data_home.expanduser().resolve() / world
    manifest = read_manifest(source)
    _check(manifest, root, world=world)
    with backup_errors("restoring the backup"):
        _verify(source, manifest)
        draft_home = root.with_name(f".{root.name}.unfinished")
        shutil.rmtree(draft_home, ignore_errors=True)
        try:
            home = open_home(draft_home, world)
            for file in manifest.files:
                place = home.root / file.path
                place.parent.mkdir(parents=True, exist_ok=True)
                copy = copy_secret if file.path == PSEUDONYMS_KEY else shutil.copyfile
                copy(source / file.path, place)
            _open_all(home)
            if root.exists():
                shutil.rmtree(root)  # checked above: it contains no store
            home.root.rename(root)
        finally:
            shutil.rmtree(draft_home, ignore_errors=True)
    return manifest


def raise_sequences(*, control_url: str, lake_url: str, world: str) -> int:
    """Raise the capture sequences of a control store to those of a lake; returns how many it has.

    Captures in a lake that is newer than its control store have numbers that this would give again.

    Raises:
        WarehouseUnavailableError: One of them cannot be opened, read or written.
        WrongWorldError, StoreTooNewError: One of them is of another world or a newer Sametrack.
    """
    with closing(Engine(open_lake(lake_url, world=world))) as engine:
        rows = engine.rows(_SEQUENCES)
    with closing(open_control(control_url, world=world)) as control:
        sequences.raise_to(
            control,
            {(str(row["surface"]), str(row["entity_id"])): int(str(row["value"])) for row in rows},
        )
    return len(rows)


def read_manifest(source: Path) -> Manifest:
    """Read the manifest of a backup.

    Raises:
        InvalidParameterError: There is no backup in this folder.
        StoreTooNewError: A newer Sametrack wrote it.
    """
    try:
        document = json.loads((source / MANIFEST).read_text(encoding="utf-8"))
        files = [CopiedFile(**file) for file in document.pop("files")]
        manifest = Manifest(files=files, **document)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidParameterError(
            f"there is no readable backup in the folder {source.name}", hint=_HINT
        ) from error
    if manifest.format > FORMAT:
        raise StoreTooNewError(
            f"the backup has format {manifest.format}, this Sametrack supports {FORMAT}",
            hint="update Sametrack",
        )
    return manifest


def _check(manifest: Manifest, root: Path, *, world: str) -> None:
    if manifest.world != world:
        raise WrongWorldError(
            f"this is a backup of world {manifest.world!r}, not of {world!r}",
            hint="choose the profile or source of the backup",
        )
    found = [file for file in root.rglob("*") if file.is_file()] if root.exists() else []
    if any(file.parent != root or file.name in (CONTROL, PSEUDONYMS_KEY) for file in found):
        raise InvalidParameterError(
            f"the world {world!r} already has stores, which are not overwritten",
            hint="choose another DATA_HOME, or move the old stores",
        )


def _verify(source: Path, manifest: Manifest) -> None:
    for file in manifest.files:
        parts = PurePosixPath(file.path)
        # A backup may come from elsewhere: its manifest must not write outside the new home.
        if parts.is_absolute() or ".." in parts.parts:
            raise WarehouseUnavailableError("the backup refers to a file outside its folder")
        copied = source / file.path
        if not copied.is_file() or file_sha256(copied) != file.sha256:
            raise WarehouseUnavailableError(
                f"the backup is damaged: {file.path} is missing or changed",
                hint="use another backup",
            )


def _open_all(home: Home) -> None:
    """Open the stores, which check and migrate themselves, and raise the capture sequences.

    The control store was copied first, so the lake has the captures written meanwhile. Sessions
    end, because somebody may have signed out since the backup.
    """
    with closing(open_control(home.control_url, world=home.world)) as control:
        sessions.end_all(control)
    if (home.root / LAKE).exists():
        raise_sequences(control_url=home.control_url, lake_url=home.lake_url, world=home.world)
