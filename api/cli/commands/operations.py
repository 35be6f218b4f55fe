"""Commands that call one operation of the service and print its answer.

`sametrack user`, `music`, `hashtag`, `videos`, `search` and `chart history`.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from api.cli.api_access import call_and_print
from api.cli.commands.scan import Track, batch, hot
from api.cli.options import ApiOption, JsonDataOption, given_parameters, parameter_option
from api.cli.rendering import reads
from api.client import ApiRequest, ApiResponse, AsyncClient
from api.client.operations import Operations
from pipelines.parameters import lists
from pipelines.parameters.scan import parameter_table
from pipelines.scan.rules.discovery import DISCOVERY_PARAMETERS

if TYPE_CHECKING:
    from api.client import answers

user = typer.Typer(help="Accounts: id, profile, posts, metrics.", no_args_is_help=True)
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

_User = Annotated[
    str,
    typer.Argument(
        metavar="USER", help="sec_user_id, @handle, profile link, or text with a link in it."
    ),
]
_Keyword = Annotated[str, typer.Argument(help="Search term.")]
_DISCOVERY = parameter_table(*DISCOVERY_PARAMETERS)


@user.command("id")
def user_id(url: _User, *, as_json: JsonDataOption = False, api: ApiOption = None) -> None:
    """Print the sec_user_id of a profile link or a handle."""
    call_and_print(lambda client: client.sec_user_id(url), reads.print_id, api=api, as_json=as_json)


@user.command("profile")
def profile(sec_user_id: _User, *, as_json: JsonDataOption = False, api: ApiOption = None) -> None:
    """Show the profile of an account."""
    call_and_print(
        lambda client: _send_for_account(client, sec_user_id, Operations.user_profile.request),
        reads.print_profile,
        api=api,
        as_json=as_json,
    )


@user.command("posts")
def posts(
    sec_user_id: _User,
    *,
    as_json: JsonDataOption = False,
    api: ApiOption = None,
    max_cursor: Annotated[
        int | None, parameter_option(lists.POSTS_PARAMETERS["max_cursor"])
    ] = None,
    count: Annotated[int | None, parameter_option(lists.POSTS_PARAMETERS["count"])] = None,
    sort_type: Annotated[int | None, parameter_option(lists.POSTS_PARAMETERS["sort_type"])] = None,
) -> None:
    """List the public posts of an account, one page at a time."""

    def build_request(account_id: str) -> "ApiRequest[answers.UserPostsData]":
        return Operations.user_posts.request(
            account_id, max_cursor=max_cursor, count=count, sort_type=sort_type
        )

    call_and_print(
        lambda client: _send_for_account(client, sec_user_id, build_request),
        reads.print_page,
        api=api,
        as_json=as_json,
    )


@user.command("metrics")
def metrics(
    sec_user_id: _User,
    *,
    as_json: JsonDataOption = False,
    api: ApiOption = None,
    days: Annotated[int | None, parameter_option(lists.METRICS_PARAMETERS["days"])] = None,
    count: Annotated[int | None, parameter_option(lists.METRICS_PARAMETERS["count"])] = None,
) -> None:
    """Show followers, likes, and the engagement of recent posts."""

    def build_request(account_id: str) -> "ApiRequest[answers.UserMetricsData]":
        return Operations.user_metrics.request(account_id, days=days, count=count)

    call_and_print(
        lambda client: _send_for_account(client, sec_user_id, build_request),
        reads.print_metrics,
        api=api,
        as_json=as_json,
    )


@music.command("list")
def list_music(
    music_id: Annotated[str, typer.Argument(help="Music id, 5 to 30 digits.")],
    *,
    as_json: JsonDataOption = False,
    api: ApiOption = None,
    cursor: Annotated[int | None, parameter_option(lists.MUSIC_LIST_PARAMETERS["cursor"])] = None,
    count: Annotated[int | None, parameter_option(lists.MUSIC_LIST_PARAMETERS["count"])] = None,
    refresh: Annotated[
        bool | None, parameter_option(lists.MUSIC_LIST_PARAMETERS["refresh"])
    ] = None,
) -> None:
    """List the observed videos of a music id, one page at a time."""
    call_and_print(
        lambda client: client.music_videos(music_id, cursor=cursor, count=count, refresh=refresh),
        reads.print_page,
        api=api,
        as_json=as_json,
    )


music.command("hot")(hot)
music.command(
    "batch",
    help="Show or start the rankings of up to ten tracks, or of the songs of a playlist, album or "
    "artist. Each track succeeds or fails separately.",
)(batch)


@music.command("discover")
def discover(
    track: Track,
    *,
    as_json: JsonDataOption = False,
    api: ApiOption = None,
    author_limit: Annotated[int | None, parameter_option(_DISCOVERY["author_limit"])] = None,
    candidate_limit: Annotated[int | None, parameter_option(_DISCOVERY["candidate_limit"])] = None,
    match_threshold: Annotated[
        float | None, parameter_option(_DISCOVERY["match_threshold"])
    ] = None,
    verify_audio: Annotated[bool | None, parameter_option(_DISCOVERY["verify_audio"])] = None,
    viral_threshold: Annotated[int | None, parameter_option(_DISCOVERY["viral_threshold"])] = None,
) -> None:
    """Find videos related to a track and verify their audio. A worker must be running."""
    parameters = given_parameters(
        author_limit=author_limit,
        candidate_limit=candidate_limit,
        match_threshold=match_threshold,
        verify_audio=verify_audio,
        viral_threshold=viral_threshold,
    )
    call_and_print(
        lambda client: client.related_videos(track, **parameters),
        reads.print_related_videos,
        api=api,
        as_json=as_json,
    )


@hashtag.command("list")
def list_hashtag(
    ch_id: Annotated[str, typer.Argument(help="Hashtag id, 5 to 30 digits.")],
    *,
    as_json: JsonDataOption = False,
    api: ApiOption = None,
    cursor: Annotated[int | None, parameter_option(lists.HASHTAG_LIST_PARAMETERS["cursor"])] = None,
    sort_type: Annotated[
        int | None, parameter_option(lists.HASHTAG_LIST_PARAMETERS["sort_type"])
    ] = None,
    count: Annotated[int | None, parameter_option(lists.HASHTAG_LIST_PARAMETERS["count"])] = None,
    refresh: Annotated[
        bool | None, parameter_option(lists.HASHTAG_LIST_PARAMETERS["refresh"])
    ] = None,
) -> None:
    """List the observed videos of a hashtag, one page at a time."""
    call_and_print(
        lambda client: client.hashtag_videos(
            ch_id, cursor=cursor, sort_type=sort_type, count=count, refresh=refresh
        ),
        reads.print_page,
        api=api,
        as_json=as_json,
    )


def videos(
    aweme_ids: Annotated[list[str], typer.Argument(metavar="ID", help="Up to 50 video ids.")],
    *,
    as_json: JsonDataOption = False,
    api: ApiOption = None,
) -> None:
    """Show videos by id, with all four counts."""
    call_and_print(
        lambda client: client.videos(aweme_ids),
        reads.print_videos_by_id,
        api=api,
        as_json=as_json,
    )


@chart.command("history")
def history(
    start_date: Annotated[str, typer.Argument(help="First day, YYYY-MM-DD, from 2021-01-01 on.")],
    end_date: Annotated[str, typer.Argument(help="Last day, YYYY-MM-DD.")],
    *,
    as_json: JsonDataOption = False,
    api: ApiOption = None,
) -> None:
    """Show the top 20 of the chart for every ten days of a date range."""
    call_and_print(
        lambda client: client.chart_history(start_date, end_date),
        reads.print_chart,
        api=api,
        as_json=as_json,
    )


@search.command("music")
def search_music(
    keyword: _Keyword, *, as_json: JsonDataOption = False, api: ApiOption = None
) -> None:
    """Always refused: the platform demands verification. Prints alternatives."""
    call_and_print(
        lambda client: client.music_search(keyword), _print_nothing, api=api, as_json=as_json
    )


@search.command("video")
def search_video(
    keyword: _Keyword, *, as_json: JsonDataOption = False, api: ApiOption = None
) -> None:
    """Always refused: the platform demands verification. Prints alternatives."""
    call_and_print(
        lambda client: client.video_search(keyword), _print_nothing, api=api, as_json=as_json
    )


def _print_nothing(_console: Console, _data: object) -> None:
    """Print nothing: the refusal was printed as an error."""


async def _send_for_account[Data](
    client: AsyncClient, text: str, build_request: Callable[[str], ApiRequest[Data]]
) -> ApiResponse[Data]:
    """Send a request about an account: an id, `@` and a handle, a link, or text with a link."""
    begun = time.monotonic()
    account_id = text.strip()
    if "/" in account_id or " " in account_id or account_id.startswith("@"):
        account_id = (await client.sec_user_id(account_id)).data["sec_user_id"]
    request = build_request(account_id)
    # Following a link takes its part of the time of the command.
    limit_s = request.timeout_s or client.connection.timeout_s
    left_s = max(1.0, limit_s - (time.monotonic() - begun))
    return await client.send(replace(request, timeout_s=left_s))
