"""`sametrack catalog match`: what the scans of a catalogue's tracks found for one another."""

import typer

from api.cli.commands.audio.progress import audio_progress
from api.cli.commands.catalog.catalog import AsJson, Name, app
from api.cli.terminal import EXIT_FAILED, out, print_json, print_message, safe


@app.command("match")
def match(name: Name, *, as_json: AsJson = False) -> None:
    """Compare the sounds that scans have fetched with the likeliest tracks of the catalogue.

    A run does this itself, and at its end. Nothing is read from the platform.
    """
    from api.settings import ApiSettings  # noqa: PLC0415 -- loads pydantic
    from pipelines.catalog.open_service import look_up_sounds  # noqa: PLC0415 -- loads SQLAlchemy

    with audio_progress() as progress:
        task = progress.add_task("looking up sounds", total=None)
        counts = look_up_sounds(
            ApiSettings(),
            name,
            on_done=lambda done, total: progress.update(task, completed=done, total=total),
        )
    if counts is None:
        print_message("another process looks them up: wait for it")
        raise typer.Exit(EXIT_FAILED)
    if as_json:
        print_json({
            "name": name, "sound_count": counts.sounds, "compared_count": counts.compared,
            "match_count": counts.matches,
        })  # fmt: skip
        return
    out.print(
        f"[bold]{safe(name)}[/] {counts.sounds} sounds looked up, "
        f"{counts.compared} pairs compared, {counts.matches} match"
    )
