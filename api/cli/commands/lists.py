"""`sametrack music`, `hashtag`, `videos`, `chart` and `search`: single API calls.

`sametrack scan` starts a scan and follows it to its end.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console

from api.cli.api_access import ApiOption, JsonOption, call_and_print
from api.cli.rendering.parameter_options import (
    given_parameters,
    with_options_of,
    with_parameter_options,
)
from api.cli.rendering.reads import (
    print_batch,
    print_chart,
    print_hot_videos,
    print_page,
    print_related_videos,
    print_videos_by_id,
)
from pipelines.parameters.lists import HASHTAG_LIST_PARAMETERS, MUSIC_LIST_PARAMETERS
from pipelines.scan.rules.discovery import DISCOVERY_PARAMETERS

music = typer.Typer(help="Tracks: list, hot, batch, discover.", no_args_is_help=True)
hashtag = typer.Typer(help="Hashtags: list.", no_args_is_help=True)
chart = typer.Typer(
    help="The chart: history, backfill, judge, song, link, unlink, withdraw, links.",
    no_args_is_help=True,
)
search = typer.Typer(
    help="The platform's search, which demands verification: always refused.",
    no_args_is_help=True,
)
_Track = Annotated[
    str, typer.Argument(metavar="INPUT", help="Link, text with a link in it, or music id.")
]
_Keyword = Annotated[str, typer.Argument(help="Search term.")]


@music.command("list")
@with_options_of(MUSIC_LIST_PARAMETERS.values())
def music_list(
    music_id: Annotated[str, typer.Argument(help="Music id, 5 to 30 digits.")],
    *,
    as_json: JsonOption = False,
    api: ApiOption = None,
    **given: Any,
) -> None:
    """List the observed videos of a music id, one page at a time."""
    options: Any = given_parameters(given)
    call_and_print(
        lambda client: client.music_videos(music_id, **options),
        print_page,
        api=api,
        as_json=as_json,
    )


@music.command("hot")
@with_parameter_options
def music_hot(
    text: _Track, *, as_json: JsonOption = False, api: ApiOption = None, **given: Any
) -> None:
    """Show the stored ranking of a track, or start a job that creates it."""
    options, keywords = _scan_options(given)
    call_and_print(
        lambda client: client.hot_videos(text, keywords=keywords, **options),
        print_hot_videos,
        api=api,
        as_json=as_json,
    )


@music.command("batch")
@with_parameter_options
def music_batch(
    inputs: Annotated[list[str], typer.Argument(metavar="INPUT", help="Up to ten tracks.")],
    *,
    as_json: JsonOption = False,
    api: ApiOption = None,
    **given: Any,
) -> None:
    """Show or start the rankings of up to ten tracks. Each input succeeds or fails separately."""
    options, keywords = _scan_options(given)
    call_and_print(
        lambda client: client.hot_videos_batch(inputs, keywords=keywords, **options),
        print_batch,
        api=api,
        as_json=as_json,
    )


@music.command("discover")
@with_options_of(DISCOVERY_PARAMETERS)
def music_discover(
    text: _Track, *, as_json: JsonOption = False, api: ApiOption = None, **given: Any
) -> None:
    """Find videos related to a track and verify their audio. A worker must be running."""
    options: Any = given_parameters(given)
    call_and_print(
        lambda client: client.related_videos(text, **options),
        print_related_videos,
        api=api,
        as_json=as_json,
    )


@hashtag.command("list")
@with_options_of(HASHTAG_LIST_PARAMETERS.values())
def hashtag_list(
    ch_id: Annotated[str, typer.Argument(help="Hashtag id, 5 to 30 digits.")],
    *,
    as_json: JsonOption = False,
    api: ApiOption = None,
    **given: Any,
) -> None:
    """List the observed videos of a hashtag, one page at a time."""
    options: Any = given_parameters(given)
    call_and_print(
        lambda client: client.hashtag_videos(ch_id, **options),
        print_page,
        api=api,
        as_json=as_json,
    )


def videos(
    aweme_ids: Annotated[list[str], typer.Argument(metavar="ID", help="Up to 50 video ids.")],
    *,
    as_json: JsonOption = False,
    api: ApiOption = None,
) -> None:
    """Show videos by id, with all four counts."""
    call_and_print(
        lambda client: client.videos(aweme_ids), print_videos_by_id, api=api, as_json=as_json
    )


@chart.command("history")
def chart_history(
    start_date: Annotated[str, typer.Argument(help="First day, YYYY-MM-DD, from 2021-01-01 on.")],
    end_date: Annotated[str, typer.Argument(help="Last day, YYYY-MM-DD.")],
    *,
    as_json: JsonOption = False,
    api: ApiOption = None,
) -> None:
    """Show the top 20 of the chart for every ten days of a date range."""
    call_and_print(
        lambda client: client.chart_history(start_date, end_date),
        print_chart,
        api=api,
        as_json=as_json,
    )


@search.command("music")
def search_music(keyword: _Keyword, *, as_json: JsonOption = False, api: ApiOption = None) -> None:
    """Always refused: the platform demands verification. Prints alternatives."""
    call_and_print(
        lambda client: client.music_search(keyword), _print_nothing, api=api, as_json=as_json
    )


@search.command("video")
def search_video(keyword: _Keyword, *, as_json: JsonOption = False, api: ApiOption = None) -> None:
    """Always refused: the platform demands verification. Prints alternatives."""
    call_and_print(
        lambda client: client.video_search(keyword), _print_nothing, api=api, as_json=as_json
    )


def _print_nothing(_console: Console, _data: Mapping[str, Any]) -> None:
    """Print nothing: this search is always refused."""


def _scan_options(given: dict[str, Any]) -> tuple[Any, list[str]]:
    """Return the given parameters, and the keywords separately."""
    options: Any = given_parameters(given)
    return options, options.pop("search_keywords", [])
