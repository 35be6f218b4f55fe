"""`sametrack user`: profile, posts and metrics of an account."""

from typing import Annotated, Any

import typer

from api.cli.api_access import ApiOption, JsonOption, call_and_print
from api.cli.rendering.parameter_options import given_parameters, with_options_of
from api.cli.rendering.reads import print_id, print_metrics, print_page, print_profile
from api.client import ApiResponse, AsyncClient
from api.client.types.answers import UserMetricsData, UserPostsData, UserProfileData
from pipelines.parameters.lists import METRICS_PARAMETERS, POSTS_PARAMETERS

app = typer.Typer(help="Accounts: id, profile, posts, metrics.", no_args_is_help=True)
_User = Annotated[
    str,
    typer.Argument(metavar="USER", help="sec_user_id, profile link, or text with a link in it."),
]


@app.command("id")
def user_id(text: _User, *, as_json: JsonOption = False, api: ApiOption = None) -> None:
    """Print the sec_user_id of a profile link."""
    call_and_print(lambda client: client.sec_user_id(text), print_id, api=api, as_json=as_json)


@app.command("profile")
def profile(user: _User, *, as_json: JsonOption = False, api: ApiOption = None) -> None:
    """Show the profile of an account."""

    async def question(client: AsyncClient) -> ApiResponse[UserProfileData]:
        return await client.user_profile(await _id_of(client, user))

    call_and_print(question, print_profile, api=api, as_json=as_json)


@app.command("posts")
@with_options_of(POSTS_PARAMETERS.values())
def posts(user: _User, *, as_json: JsonOption = False, api: ApiOption = None, **given: Any) -> None:
    """List the public posts of an account, one page at a time."""
    options: Any = given_parameters(given)

    async def question(client: AsyncClient) -> ApiResponse[UserPostsData]:
        return await client.user_posts(await _id_of(client, user), **options)

    call_and_print(question, print_page, api=api, as_json=as_json)


@app.command("metrics")
@with_options_of(METRICS_PARAMETERS.values())
def metrics(
    user: _User, *, as_json: JsonOption = False, api: ApiOption = None, **given: Any
) -> None:
    """Show followers, likes, and the engagement of recent posts."""
    options: Any = given_parameters(given)

    async def question(client: AsyncClient) -> ApiResponse[UserMetricsData]:
        return await client.user_metrics(await _id_of(client, user), **options)

    call_and_print(question, print_metrics, api=api, as_json=as_json)


async def _id_of(client: AsyncClient, text: str) -> str:
    """Return an id unchanged; resolve a link, or text with a link in it."""
    if "/" not in text and " " not in text.strip():
        return text.strip()
    found: str = (await client.sec_user_id(text)).data["sec_user_id"]
    return found
