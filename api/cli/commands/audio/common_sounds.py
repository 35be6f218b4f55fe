"""`sametrack audio common-sounds` and `audio dismiss-sound`: sounds that make no excerpt."""

from typing import Annotated

import typer

from api.cli.stores import stored_settings
from api.cli.terminal import out, safe
from api.settings import ApiSettings
from pipelines.documents.messages import counted
from pipelines.open_stores import open_chosen_home, open_engine_of, open_lake_of


def common_sounds() -> None:
    """List the sounds that unrelated tracks share, and that make no excerpt.

    Scans learn them. `sametrack audio dismiss-sound ID` dismisses a wrong one.
    """
    from pipelines.scan.common_sounds import DISMISSED  # noqa: PLC0415 -- loads DuckDB and Delta, 0.5 s
    from warehouse.queries.results import read_common_sounds  # noqa: PLC0415 -- as above

    settings = stored_settings()
    with open_engine_of(settings, open_chosen_home(settings)) as engine:
        rows = read_common_sounds(engine)
    for row in rows:
        place = f"{row['duration_s']:.1f} s at {row['start_s']:.1f} s of {safe(row['aweme_id'])}"
        tracks = counted(len(row["track_music_ids"]), "track")
        status = ", dismissed" if row["status"] == DISMISSED else ""
        out.print(
            f"[bold]{row['common_sound_id']}[/] {place}, {tracks}, "
            f"learnt {row['learnt_at']:%Y-%m-%d}{status}",
            soft_wrap=True,
        )
    out.print(counted(len(rows), "common sound"))


def dismiss_sound(
    common_sound_id: Annotated[
        str, typer.Argument(metavar="ID", help="Id of a common sound, see `audio common-sounds`.")
    ],
) -> None:
    """Dismiss a common sound: it counts no more, and is not learnt again.

    Stored verdicts stay as they are; the next scan of a track judges its videos anew.
    """
    from pipelines.scan.common_sounds import dismiss  # noqa: PLC0415 -- as above

    settings = ApiSettings()
    home = open_chosen_home(settings)
    with open_engine_of(settings, home) as engine:
        dismiss(open_lake_of(settings, home), engine, common_sound_id)
    out.print(f"[bold]{safe(common_sound_id)}[/] dismissed")
