"""`sametrack track`: the page of a track, from the stores of this machine or of a service."""

from typing import Annotated

import typer

from api.cli import terminal
from api.cli.options import JsonOption, ServiceOption
from api.cli.rendering.results import print_banner
from api.cli.rendering.tracks import print_track
from api.cli.stores import call_service_or_stores, read_stored_track, stored_settings
from pipelines.captures.inputs import check_music_form, read_music_input
from pipelines.platform.providers import choose_profile
from warehouse.records.errors import InvalidMusicInputError
from warehouse.records.values import ReadOnlyDocument


def track(
    music: Annotated[
        str,
        typer.Argument(
            metavar="MUSIC_ID_OR_LINK", help="Music id, 5 to 30 digits, or a link of the track."
        ),
    ],
    *,
    as_json: JsonOption = False,
    api: ServiceOption = None,
) -> None:
    """Show the page of a track: usage count over time, scans, creators, regions, variants.

    Reads what is stored. Scan the track to read the platform again.
    """
    music_id = _read_music_id(music)
    document: ReadOnlyDocument = call_service_or_stores(
        api, lambda client: client.track(music_id), lambda: read_stored_track(music_id)
    )
    if document["is_demo_data"] and not as_json:
        print_banner(terminal.err)
    terminal.print_document(document, lambda: print_track(terminal.out, document), as_json=as_json)


def _read_music_id(text: str) -> str:
    """Return a music id as given, or the one that a link of a track names.

    Raises:
        InvalidMusicInputError: It is neither.
    """
    text = check_music_form(text)
    if text.isdecimal():
        return text
    profile = choose_profile(stored_settings())  # its hosts decide which links lead to a track
    music = read_music_input(text, find_target=profile.find_target)
    if music.kind != "music":
        raise InvalidMusicInputError(
            "The link names no music id",
            hint="`sametrack scan LINK` finds the track behind the link and shows its music id",
        )
    return music.value
