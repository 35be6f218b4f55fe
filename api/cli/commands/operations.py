"""Commands that call one operation of the service and print its answer: one row each.

`sametrack user`, `music`, `hashtag`, `videos`, `search` and `chart history`.
"""

import inspect
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Annotated

import typer
from rich.console import Console

from api.cli.api_access import call_and_print
from api.cli.options import ApiOption, JsonDataOption
from api.cli.rendering import reads
from api.cli.rendering.parameter_options import (
    KEYWORDS,
    given_parameters,
    parameter_options,
    scan_options,
    with_signature,
)
from api.client import ApiResponse, AsyncClient
from api.client.operation import Operation
from api.client.operations import Operations
from pipelines.parameters.lists import (
    HASHTAG_LIST_PARAMETERS,
    METRICS_PARAMETERS,
    MUSIC_LIST_PARAMETERS,
    POSTS_PARAMETERS,
)
from pipelines.scan.rules.discovery import DISCOVERY_PARAMETERS

_LINKED_ID = "sec_user_id"
"""The one argument that may be a link although the operation takes an id."""
_COMMON = tuple(
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    for name, default, annotation in (("as_json", False, JsonDataOption), ("api", None, ApiOption))
)


def _argument(
    name: str, meaning: str, metavar: str | None = None, *, many: bool = False
) -> inspect.Parameter:
    kind = list[str] if many else str
    return inspect.Parameter(
        name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        annotation=Annotated[kind, typer.Argument(metavar=metavar, help=meaning)],
    )


def _command[Data](
    summary: str,
    operation: Operation[..., Data],
    view: Callable[[Console, Data], None],
    *arguments: inspect.Parameter,
    options: Iterable[inspect.Parameter] = (),
) -> Callable[..., None]:
    """Return the command of an operation; `arguments` are named as the operation's."""

    def command(*, as_json: bool, api: str | None, **typed: object) -> None:
        given = given_parameters(typed)
        if KEYWORDS in given:
            given["keywords"] = given.pop(KEYWORDS)

        async def question(client: AsyncClient) -> ApiResponse[Data]:
            begun = time.monotonic()
            if _LINKED_ID in given:
                given[_LINKED_ID] = await _id_of(client, str(given[_LINKED_ID]))
            request = operation.request(**given)
            # Following the link took its part of the time of the command.
            limit_s = request.timeout_s or client.connection.timeout_s
            left_s = max(1.0, limit_s - (time.monotonic() - begun))
            return await client.send(replace(request, timeout_s=left_s))

        call_and_print(question, view, api=api, as_json=as_json)

    command.__doc__ = summary
    return with_signature(command, [*arguments, *_COMMON, *options])


async def _id_of(client: AsyncClient, text: str) -> str:
    """Return an id unchanged; resolve `@` and a handle, a link, or text with a link in it."""
    text = text.strip()
    if "/" not in text and " " not in text and not text.startswith("@"):
        return text
    return (await client.sec_user_id(text)).data["sec_user_id"]


def _print_nothing(_console: Console, _data: object) -> None:
    """Print nothing: this search is always refused."""


def _group(summary: str, **commands: Callable[..., None]) -> typer.Typer:
    group = typer.Typer(help=summary, no_args_is_help=True)
    for name, command in commands.items():
        group.command(name)(command)
    return group


_USER = "sec_user_id, @handle, profile link, or text with a link in it."
_ACCOUNT = _argument(_LINKED_ID, _USER, "USER")
_TRACK = _argument("music", "Link, text with a link in it, or music id.", "INPUT")
_KEYWORD = _argument("keyword", "Search term.")
_REFUSED = "Always refused: the platform demands verification. Prints alternatives."

user = _group(
    "Accounts: id, profile, posts, metrics.",
    id=_command(
        "Print the sec_user_id of a profile link or a handle.",
        Operations.sec_user_id, reads.print_id, _argument("url", _USER, "USER"),
    ),
    profile=_command(
        "Show the profile of an account.",
        Operations.user_profile, reads.print_profile, _ACCOUNT,
    ),
    posts=_command(
        "List the public posts of an account, one page at a time.",
        Operations.user_posts, reads.print_page, _ACCOUNT,
        options=parameter_options(POSTS_PARAMETERS.values()),
    ),
    metrics=_command(
        "Show followers, likes, and the engagement of recent posts.",
        Operations.user_metrics, reads.print_metrics, _ACCOUNT,
        options=parameter_options(METRICS_PARAMETERS.values()),
    ),
)  # fmt: skip
music = _group(
    "Tracks: list, hot, batch, discover.",
    list=_command(
        "List the observed videos of a music id, one page at a time.",
        Operations.music_videos, reads.print_page,
        _argument("music_id", "Music id, 5 to 30 digits."),
        options=parameter_options(MUSIC_LIST_PARAMETERS.values()),
    ),
    hot=_command(
        "Show the stored ranking of a track, or start a job that creates it.",
        Operations.hot_videos, reads.print_hot_videos, _TRACK, options=scan_options(),
    ),
    batch=_command(
        "Show or start the rankings of up to ten tracks, or of the songs of a playlist, album or "
        "artist. Each track succeeds or fails separately.",
        Operations.hot_videos_batch, reads.print_batch,
        _argument("inputs", "Up to ten tracks.", "INPUT", many=True), options=scan_options(),
    ),
    discover=_command(
        "Find videos related to a track and verify their audio. A worker must be running.",
        Operations.related_videos, reads.print_related_videos, _TRACK,
        options=parameter_options(DISCOVERY_PARAMETERS),
    ),
)  # fmt: skip
hashtag = _group(
    "Hashtags: list.",
    list=_command(
        "List the observed videos of a hashtag, one page at a time.",
        Operations.hashtag_videos, reads.print_page,
        _argument("ch_id", "Hashtag id, 5 to 30 digits."),
        options=parameter_options(HASHTAG_LIST_PARAMETERS.values()),
    ),
)  # fmt: skip
videos = _command(
    "Show videos by id, with all four counts.",
    Operations.videos, reads.print_videos_by_id,
    _argument("aweme_ids", "Up to 50 video ids.", "ID", many=True),
)  # fmt: skip
chart = _group(
    "The chart: history, backfill, judge, song, link, unlink, withdraw, links.",
    history=_command(
        "Show the top 20 of the chart for every ten days of a date range.",
        Operations.chart_history, reads.print_chart,
        _argument("start_date", "First day, YYYY-MM-DD, from 2021-01-01 on."),
        _argument("end_date", "Last day, YYYY-MM-DD."),
    ),
)  # fmt: skip
search = _group(
    "The platform's search, which demands verification: always refused.",
    music=_command(_REFUSED, Operations.music_search, _print_nothing, _KEYWORD),
    video=_command(_REFUSED, Operations.video_search, _print_nothing, _KEYWORD),
)
