"""The command `sametrack sandbox`, also `python -m sandbox`."""

from pathlib import Path
from typing import Annotated

import typer

from pipelines.settings import Settings
from sandbox.server.app import SandboxOptions, serve
from sandbox.server.switches import MODES, switch_help, switches_of
from warehouse.home import open_home


def sandbox(
    *,
    seed: Annotated[int, typer.Option(help="Seed of the sandbox.")] = 7,
    size: Annotated[float, typer.Option(min=0.1, help="Size; 1 is 5,000 videos.")] = 1.0,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port on loopback. Default: SANDBOX_PORT."),
    ] = None,
    cache: Annotated[Path | None, typer.Option(help="Folder for rendered sounds.")] = None,
    latency_ms: Annotated[
        int, typer.Option(min=0, max=60_000, help="Delay of every response.")
    ] = 0,
    tracks: Annotated[
        int | None,
        typer.Option(min=1, help="Number of tracks; fewer tracks have more videos each."),
    ] = None,
    adb_port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Also serve the stand-in device by adb, here."),
    ] = None,
    mode: Annotated[
        str, typer.Option(help=f"One of {', '.join(MODES)}; the last: as the platform is today.")
    ] = "generous",
    switch: Annotated[
        list[str] | None,
        typer.Option(help="NAME or NAME=VALUE, repeatable; `list` prints them all."),
    ] = None,
    today: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="Day on which it ends. Default: SANDBOX_CALENDAR."),
    ] = None,
) -> None:
    """Serve the sandbox: a simulated platform with generated audio, on loopback."""
    if switch == ["list"]:
        typer.echo(switch_help())
        return
    try:
        switches = switches_of(mode, switch or ())
    except ValueError as exc:
        raise typer.BadParameter(str(exc)) from exc
    settings = Settings() if today is None else Settings(sandbox_calendar=today)
    options = SandboxOptions(
        seed=seed,
        size=size,
        port=settings.sandbox_port if port is None else port,
        cache_dir=cache or open_home(settings.data_home, "sandbox").cache_dir / "sounds",
        latency_ms=latency_ms,
        tracks=tracks,
        adb_port=adb_port,
        switches=switches,
        calendar=settings.sandbox_calendar,
    )
    serve(options)
