"""`sametrack backup` and `sametrack restore`: copy the stores, and restore a copy."""

from pathlib import Path
from typing import Annotated

import typer

from api.cli.stores import stored_settings
from api.cli.terminal import out, safe
from pipelines.documents.messages import counted
from pipelines.platform.providers import choose_profile
from pipelines.settings import Settings
from warehouse.home import open_home
from warehouse.maintenance.backup import raise_sequences, restore_backup, write_backup
from warehouse.records.errors import InvalidParameterError

MEGABYTE = 1_000_000
Destination = Annotated[Path, typer.Argument(help="New folder for the backup.")]
Source = Annotated[Path | None, typer.Argument(help="Folder written by `backup`.")]
Sequences = Annotated[
    bool,
    typer.Option(
        "--sequences",
        help="Instead of a backup, after a control store or a lake was restored by its own tools: "
        "let the numbers of captures go on after those in the lake.",
    ),
]


def backup(dest: Destination) -> None:
    """Back up control store, Dagster storage and lake. Other processes may keep writing.

    The key of the pseudonyms is in it, too: keep the folder where only you can read it.
    """
    settings = stored_settings()
    home = open_home(settings.data_home, choose_profile(settings).name)
    manifest = write_backup(
        home,
        dest,
        control_url=settings.control_url or home.control_url,
        lake_url=settings.lake_url or home.lake_url,
        dagster_url=settings.dagster_storage_url,
    )
    size = manifest.size_bytes / MEGABYTE
    out.print(
        f"[green]copied[/] world {safe(manifest.world)}: {counted(len(manifest.files), 'file')}, "
        f"{size:.1f} MB"
    )
    for reason in manifest.left_out:
        out.print(f"[yellow]left out[/] {safe(reason)}")


def restore(source: Source = None, *, sequences: Sequences = False) -> None:
    """Restore a backup as the data home of the chosen profile. Never overwrites files."""
    if (source is None) is not sequences:
        raise InvalidParameterError("Give either the folder of a backup or --sequences")
    settings = Settings()
    # The stores are restored already; only the numbers of captures may lag behind the lake.
    if source is None:
        home = open_home(settings.data_home, choose_profile(settings).name)
        count = raise_sequences(
            control_url=settings.control_url or home.control_url,
            lake_url=settings.lake_url or home.lake_url,
            world=home.world,
        )
        out.print(
            f"[green]raised[/] {counted(count, 'sequence')} of lists and entities to those in the "
            "lake"
        )
        return
    if settings.control_url or settings.lake_url or settings.dagster_storage_url:
        raise InvalidParameterError(
            "A backup is restored into DATA_HOME, but CONTROL_URL, LAKE_URL or "
            "DAGSTER_STORAGE_URL point elsewhere",
            hint="unset them; a store that lives elsewhere is restored by its own tools, and then "
            "`sametrack restore --sequences`",
        )
    world = choose_profile(settings).name
    manifest = restore_backup(source, settings.data_home, world=world)
    out.print(
        f"[green]restored[/] world {safe(world)} of {safe(manifest.created_at)}: "
        f"{counted(len(manifest.files), 'file')}, all checked"
    )
    for reason in manifest.left_out:
        out.print(f"[yellow]was left out[/] {safe(reason)}")
