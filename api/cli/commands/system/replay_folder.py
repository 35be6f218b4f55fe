"""`sametrack replay --from`: a folder of the live check becomes shape files for tests."""

from dataclasses import asdict, replace
from pathlib import Path

import typer
from rich import box
from rich.table import Table

from api.cli.terminal import EXIT_FAILED, format_count, out, print_json, print_message, safe
from pipelines.captures.recorded.folder import RecordedFolder, of_surfaces, read_folder
from pipelines.captures.recorded.pseudonymised import BodyPseudonymiser
from pipelines.captures.recorded.shape_files import (
    RecordedReader,
    ShapeReading,
    WrittenShape,
    summarise,
    to_document,
    write_shapes,
)
from pipelines.platform.profiles import KNOWN_PROFILES, PlatformProfile, load_profile
from pipelines.platform.providers import choose_profile
from pipelines.platform.reparse import BodyParser
from pipelines.settings import Settings
from warehouse.exports.pseudonyms import open_pseudonyms
from warehouse.home.folder import open_home

SHAPES = "shapes"


def replay_folder(
    place: Path, to_folder: Path | None, *, surfaces: tuple[str, ...], as_json: bool
) -> None:
    """Show what the parsers read from each body, and write the shape files. Offline.

    Raises:
        typer.Exit: Status 1 if a body is read differently from when it was received.
    """
    folder = read_folder(place)
    folder = replace(folder, bodies=of_surfaces(folder, surfaces))
    settings = Settings()
    reader = RecordedReader(BodyParser(_profile_of(folder, settings)))
    found = [reader.read(kept) for kept in folder.bodies]
    shapes_at = to_folder or place / SHAPES
    shapes_at.mkdir(parents=True, exist_ok=True)
    shapes = write_shapes(shapes_at, folder, reader, _pseudonymiser(folder, settings))
    if as_json:
        document = {
            "summary": summarise(found),
            "bodies": [to_document(one) for one in found],
            "shapes": [asdict(shape) for shape in shapes],
            "folder": str(shapes_at),
        }
        print_json(document)
    else:
        _print(found, shapes, shapes_at)
    if any(one.has_changed for one in found):
        raise typer.Exit(EXIT_FAILED)


def _profile_of(folder: RecordedFolder, settings: Settings) -> PlatformProfile:
    """Return the profile that the folder was recorded with; an own file must be chosen again."""
    if folder.profile in KNOWN_PROFILES:
        return load_profile(folder.profile, sandbox_port=settings.sandbox_port)
    return choose_profile(settings)


def _pseudonymiser(folder: RecordedFolder, settings: Settings) -> BodyPseudonymiser | None:
    """Return what hides accounts and videos, with the key of the world; None if it is done."""
    if folder.is_pseudonymised:
        return None
    return BodyPseudonymiser(open_pseudonyms(open_home(settings.data_home, folder.profile)))


def _print(found: list[ShapeReading], shapes: list[WrittenShape], place: Path) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("surface", "received", "read now", "shape file"):
        table.add_column(heading, overflow="fold")
    for heading in ("records", "known", "bytes"):
        table.add_column(heading, justify="right")
    for one, shape in zip(found, shapes, strict=True):
        document = to_document(one)
        known = document["completeness"]
        table.add_row(
            safe(one.body.surface),
            safe(one.then),
            _now(one),
            safe(shape.file or f"none: {shape.left_out}"),
            format_count(one.record_count),
            "—" if known is None else f"{known:.0%}",
            f"{shape.size_before:,} → {shape.size:,}",
        )
    out.print(table)
    out.print(summarise(found))
    print_message(f"review, then copy into tests/shapes: {safe(place)}")


def _now(one: ShapeReading) -> str:
    shown = safe(one.outcome or "not read")
    return f"[yellow]{shown}[/]" if one.has_changed else shown
