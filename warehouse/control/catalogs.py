"""Catalogues and their tracks in the control store.

A track's row holds what outlives its jobs: the newest result, the last failure and what the day
has cost. Which job to submit is decided in `pipelines/catalog`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import batched, count

from sqlalchemy import delete, func, select, update

from warehouse.control.database import ControlStore, StoredRow, from_json, to_json, to_time
from warehouse.control.schema import CATALOG_TRACKS, CATALOGS
from warehouse.records import catalogs

_ROWS_PER_STATEMENT = 500
_IMPORTED = ("input", "label", "priority", "columns")


def change(control: ControlStore, name: str, changes: Mapping[str, object]) -> None:
    """Create a catalogue, or change fields of its `CatalogSettings`; the others stay.

    For example `change(control, "spring", {"fresh_days": 7})`.
    """
    row = CATALOGS.c.name == name
    query = select(CATALOGS.c.settings).where(row).with_for_update()
    now, new = control.now(), to_json(catalogs.CatalogSettings().to_document())
    values = {"name": name, "settings": new, "created_at": now, "updated_at": now}
    with control.write() as connection:
        stored = control.first_or_created(connection, query, CATALOGS, values)
        before = _to_settings(stored.settings)
        after = replace(before, **changes)  # type: ignore[arg-type]  # fields, see above
        text, now = to_json(after.to_document()), control.now()
        connection.execute(update(CATALOGS).where(row).values(settings=text, updated_at=now))


def get(control: ControlStore, name: str) -> catalogs.Catalog | None:
    """Return one catalogue, or None."""
    with control.read() as connection:
        row = connection.execute(select(CATALOGS).where(CATALOGS.c.name == name)).first()
    return None if row is None else _to_catalog(row)


def read_all(control: ControlStore) -> list[catalogs.Catalog]:
    """Return all catalogues, by name."""
    query = select(CATALOGS).order_by(CATALOGS.c.name)
    with control.read() as connection:
        return [_to_catalog(row) for row in connection.execute(query)]


def delete_with_tracks(control: ControlStore, name: str) -> bool:
    """Delete a catalogue with its tracks; False if it does not exist. Jobs and results stay."""
    with control.write() as connection:
        connection.execute(delete(CATALOG_TRACKS).where(CATALOG_TRACKS.c.catalog == name))
        result = connection.execute(delete(CATALOGS).where(CATALOGS.c.name == name))
        return result.rowcount > 0


def read_tracks(control: ControlStore, name: str) -> list[catalogs.CatalogTrack]:
    """Return the tracks of a catalogue, in the order of the imports."""
    query = (
        select(CATALOG_TRACKS)
        .where(CATALOG_TRACKS.c.catalog == name)
        .order_by(CATALOG_TRACKS.c.position, CATALOG_TRACKS.c.track_key)
    )
    with control.read() as connection:
        return [_to_track(row) for row in connection.execute(query)]


def import_tracks(
    control: ControlStore,
    name: str,
    tracks: Sequence[catalogs.ImportedTrack],
    *,
    merge: catalogs.TrackUpdate = lambda _before, new: new,
) -> None:
    """Add tracks behind those of the catalogue, in one transaction.

    A track that is there already gets what `merge` returns for it and the new one; its place and
    its results stay.
    """
    newest = select(func.max(CATALOG_TRACKS.c.position)).where(CATALOG_TRACKS.c.catalog == name)
    insert = control.insert(CATALOG_TRACKS)
    upsert = insert.on_conflict_do_update(
        index_elements=[CATALOG_TRACKS.c.catalog, CATALOG_TRACKS.c.track_key],
        set_={column: insert.excluded[column] for column in _IMPORTED},
    )
    stored = select(CATALOG_TRACKS.c.track_key, *(CATALOG_TRACKS.c[column] for column in _IMPORTED))
    # Of two imports at the same time, the second updates what the first has stored.
    lock = select(CATALOGS.c.name).where(CATALOGS.c.name == name).with_for_update()
    with control.write() as connection:
        connection.execute(lock)
        last = connection.execute(newest).scalar()
        positions = count(0 if last is None else last + 1)
        for batch in batched(tracks, _ROWS_PER_STATEMENT):
            keys = [track.key for track in batch]
            has_key = CATALOG_TRACKS.c.track_key.in_(keys)
            existing = connection.execute(stored.where(CATALOG_TRACKS.c.catalog == name, has_key))
            before = {row.track_key: _to_imported(row) for row in existing}
            rows = []
            for imported in batch:
                old = before.get(imported.key)
                track = imported if old is None else merge(old, imported)
                # The position and the counts are those of a new row; an existing one keeps its own.
                rows.append(
                    {
                        "catalog": name,
                        "position": next(positions),
                        "track_key": track.key,
                        "input": track.input,
                        "label": track.label,
                        "priority": track.priority,
                        "columns": to_json(track.columns),
                        "submission_count": 0,
                        "charged_requests": 0,
                        "charged_scans": 0,
                    }
                )
            connection.execute(upsert, rows)


def remove_tracks(control: ControlStore, name: str, keys: Collection[str]) -> int:
    """Remove tracks from a catalogue; return how many. Their jobs and results stay."""
    removed_count = 0
    with control.write() as connection:
        for batch in batched(keys, _ROWS_PER_STATEMENT):
            has_key = CATALOG_TRACKS.c.track_key.in_(batch)
            rows = delete(CATALOG_TRACKS).where(CATALOG_TRACKS.c.catalog == name, has_key)
            removed_count += connection.execute(rows).rowcount
    return removed_count


def update_track(
    control: ControlStore, name: str, track: catalogs.CatalogTrack, *, job_before: str | None
) -> bool:
    """Store the results of the scans of a track; what was imported stays as it is.

    Returns False, without effect, if the track no longer has the job `job_before`: another process
    has updated it.
    """
    values = {
        column: value
        for column, value in asdict(track).items()
        if column not in {"given", "position"}
    }
    values["error"] = to_json(track.error)
    for column in ("result_at", "failed_at"):
        moment: datetime | None = values[column]
        values[column] = None if moment is None else moment.timestamp()
    job = CATALOG_TRACKS.c.job_id
    unchanged = job.is_(None) if job_before is None else job == job_before
    row = (CATALOG_TRACKS.c.catalog == name) & (CATALOG_TRACKS.c.track_key == track.given.key)
    with control.write() as connection:
        result = connection.execute(update(CATALOG_TRACKS).where(row, unchanged).values(values))
        return result.rowcount > 0


def _to_settings(text: str) -> catalogs.CatalogSettings:
    return catalogs.CatalogSettings(**from_json(text))


def _to_catalog(row: StoredRow) -> catalogs.Catalog:
    return catalogs.Catalog(
        name=row.name,
        settings=_to_settings(row.settings),
        created_at=datetime.fromtimestamp(row.created_at, UTC),
        updated_at=datetime.fromtimestamp(row.updated_at, UTC),
    )


def _to_imported(row: StoredRow) -> catalogs.ImportedTrack:
    return catalogs.ImportedTrack(
        key=row.track_key,
        input=row.input,
        label=row.label,
        priority=row.priority,
        columns=from_json(row.columns),
    )


def _to_track(row: StoredRow) -> catalogs.CatalogTrack:
    # Column by column, for speed: a run reads the whole catalogue after each scan.
    return catalogs.CatalogTrack(
        given=_to_imported(row),
        position=row.position,
        submission_count=row.submission_count,
        job_id=row.job_id,
        charged_day=row.charged_day,
        charged_requests=row.charged_requests,
        charged_scans=row.charged_scans,
        music_id=row.music_id,
        result_job_id=row.result_job_id,
        result_at=to_time(row.result_at),
        previous_job_id=row.previous_job_id,
        failed_at=to_time(row.failed_at),
        error=from_json(row.error),
    )
