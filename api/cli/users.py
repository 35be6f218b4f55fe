"""`sametrack user`: an account by its id or a link, its works and how they fare."""

from enum import StrEnum
from typing import Annotated

import typer

from api.cli.answer_tables import print_id, print_metrics, print_page, print_profile
from api.cli.caller import Api, AsJson, show
from api.client import Answer, AsyncClient
from api.client.shapes import UserMetricsData, UserPostsData, UserProfileData


class Order(StrEnum):
    """Orders of an account's works; the place of each is its `sort_type`."""

    NEWEST = "newest"
    HOTTEST = "hottest"


app = typer.Typer(help="Accounts: id, profile, posts, metrics.", no_args_is_help=True)
_Whom = Annotated[
    str, typer.Argument(metavar="USER", help="sec_user_id, profile link, or text around a link.")
]


@app.command("id")
def user_id(text: _Whom, *, as_json: AsJson = False, api: Api = None) -> None:
    """Read the sec_user_id from a link."""
    show(lambda client: client.sec_user_id(text), print_id, api=api, as_json=as_json)


@app.command("profile")
def profile(user: _Whom, *, as_json: AsJson = False, api: Api = None) -> None:
    """Show what an account tells of itself."""

    async def question(client: AsyncClient) -> Answer[UserProfileData]:
        return await client.user_profile(await _id_of(client, user))

    show(question, print_profile, api=api, as_json=as_json)


@app.command("posts")
def posts(
    user: _Whom,
    *,
    count: Annotated[int | None, typer.Option(help="Works per page, 1 to 20. Default: 20.")] = None,
    cursor: Annotated[int, typer.Option(help="Page to begin at, as the last one told.")] = 0,
    sort: Annotated[Order, typer.Option(help="Which works first.")] = Order.NEWEST,
    as_json: AsJson = False,
    api: Api = None,
) -> None:
    """List the public works of an account, a page at a time."""

    async def question(client: AsyncClient) -> Answer[UserPostsData]:
        whom = await _id_of(client, user)
        place = list(Order).index(sort)
        return await client.user_posts(whom, max_cursor=cursor, count=count, sort_type=place)

    show(question, print_page, api=api, as_json=as_json)


@app.command("metrics")
def metrics(
    user: _Whom,
    *,
    days: Annotated[int | None, typer.Option(help="Window, 1 to 365 days. Default: 10.")] = None,
    count: Annotated[
        int | None, typer.Option(help="Works looked at, 1 to 20. Default: 20.")
    ] = None,
    as_json: AsJson = False,
    api: Api = None,
) -> None:
    """Tell followers, likes, and how the works of the last days fared."""

    async def question(client: AsyncClient) -> Answer[UserMetricsData]:
        return await client.user_metrics(await _id_of(client, user), days=days, count=count)

    show(question, print_metrics, api=api, as_json=as_json)


async def _id_of(client: AsyncClient, text: str) -> str:
    """An id as it is; a link, or text around one, is resolved first."""
    if "/" not in text and " " not in text.strip():
        return text.strip()
    found: str = (await client.sec_user_id(text)).data["sec_user_id"]
    return found
