"""`sametrack backup` and `sametrack restore`: a copy of the stores, and putting it back.

The work is in `warehouse.maintenance.backup` and `warehouse.maintenance.restore`; here it is
chosen and told.
"""

from pathlib import Path
from typing import Annotated

import typer

from api.cli.terminal import out, safe
from warehouse.records.errors import InvalidParameterError

MEGABYTE = 1_000_000
Destination = Annotated[Path, typer.Argument(help="A new folder for the copy.")]
Source = Annotated[Path, typer.Argument(help="A folder that `backup` made.")]


def backup(dest: Destination) -> None:
    """Copy control store, orchestrator and lake of the chosen world; others may go on writing."""
    from pipelines.platform.providers import choose_profile  # noqa: PLC0415 -- as above
    from pipelines.settings import Settings  # noqa: PLC0415 -- loads pydantic
    from warehouse.home.folder import open_home  # noqa: PLC0415 -- as above
    from warehouse.maintenance.backup import write_backup  # noqa: PLC0415 -- loads Delta

    settings = Settings()
    home = open_home(settings.data_home, choose_profile(settings).name)
    manifest = write_backup(
        home,
        dest,
        control_url=settings.control_url or home.control_url,
        lake_url=settings.lake_url or home.lake_url,
    )
    size = manifest.size_bytes / MEGABYTE
    out.print(
        f"[green]copied[/] world {safe(manifest.world)}: {len(manifest.files)} files, {size:.1f} MB"
    )
    for reason in manifest.left_out:
        out.print(f"[yellow]left out[/] {safe(reason)}")


def restore(source: Source) -> None:
    """Put a copy back as the home of the chosen world; nothing is ever overwritten."""
    from pipelines.platform.providers import choose_profile  # noqa: PLC0415 -- as above
    from pipelines.settings import Settings  # noqa: PLC0415 -- loads pydantic
    from warehouse.maintenance.restore import restore_backup  # noqa: PLC0415 -- loads Delta

    settings = Settings()
    if settings.control_url or settings.lake_url:
        raise InvalidParameterError(
            "a backup is restored into DATA_HOME, but CONTROL_URL or LAKE_URL point elsewhere",
            hint="unset them, or restore that store by its own means",
        )
    world = choose_profile(settings).name
    manifest = restore_backup(source, settings.data_home, world=world)
    out.print(
        f"[green]restored[/] world {safe(world)} of {safe(manifest.created_at)}: "
        f"{len(manifest.files)} files, all checked"
    )
    for reason in manifest.left_out:
        out.print(f"[yellow]was left out[/] {safe(reason)}")
