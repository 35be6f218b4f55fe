"""`sametrack link`: read-only links to results and tracks, for readers without a token."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from api.cli import terminal
from api.cli.api_access import call_and_print
from api.cli.job_client import expand_job_id
from api.cli.options import ApiOption, JsonDataOption
from api.cli.processes.child_processes import service_url
from api.client import ApiResponse, AsyncClient
from api.params.fields import field_parameter
from api.params.shared_links import SharedLinkBody
from api.settings import ApiSettings

if TYPE_CHECKING:
    from api.client import answers

LISTED_JOBS = 200
"""Most jobs in one answer of a service, among which a prefix is looked up."""
TO_THE_MINUTE = 16
_DAYS = field_parameter(SharedLinkBody, "days")

app = typer.Typer(
    help="Read-only links to results and tracks, for readers without a token.",
    no_args_is_help=True,
)


@app.command("create")
def create(
    entity_id: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="Id of a completed job, or a unique prefix; with --track the music id of a track.",
        ),
    ],
    *,
    is_track: Annotated[
        bool, typer.Option("--track", help="Show the page of a track, as stored when opened.")
    ] = False,
    days: Annotated[
        int, typer.Option(min=_DAYS.minimum, max=_DAYS.maximum, help="Days until it ends.")
    ] = _DAYS.default,
    as_json: JsonDataOption = False,
    api: ApiOption = None,
) -> None:
    """Create a link to the report of a job, which is kept until the link ends, or to a track."""

    async def send(client: AsyncClient) -> "ApiResponse[answers.SharedLinkData]":
        if is_track:
            return await client.create_shared_link(entity_id, kind="track", days=days)
        jobs = (await client.jobs(limit=LISTED_JOBS)).data["jobs"]
        whole_id = expand_job_id(entity_id, [job["job_id"] for job in jobs])
        return await client.create_shared_link(whole_id, days=days)

    def view(console: Console, link: "answers.SharedLinkData") -> None:
        console.print(_address(api, link["path"]), soft_wrap=True)
        until = link["expires_at"][:TO_THE_MINUTE].replace("T", " ")
        terminal.print_message(
            f"valid until {until} UTC; "
            f"[bold]sametrack link revoke {link['link_id']}[/] ends it before"
        )

    call_and_print(send, view, api=api, as_json=as_json)


@app.command("list")
def list_all(*, as_json: JsonDataOption = False, api: ApiOption = None) -> None:
    """List the valid links with who created them, until when, and their last use."""

    def view(console: Console, document: "answers.SharedLinksData") -> None:
        if not document["links"]:
            terminal.print_message("no links; [bold]sametrack link create ID[/] creates one")
            return
        table = Table("link", "of", "created by", "until", "last used", box=box.SIMPLE_HEAD)
        for link in document["links"]:
            table.add_row(
                link["link_id"],
                f"{link['kind']} {terminal.safe(link['id'])}",
                terminal.safe(link["created_by"] or "—"),
                link["expires_at"][:TO_THE_MINUTE],
                (link["last_used_at"] or "—")[:TO_THE_MINUTE],
            )
        console.print(table)

    call_and_print(lambda client: client.shared_links(), view, api=api, as_json=as_json)


@app.command("revoke")
def revoke(
    link_id: Annotated[str, typer.Argument(metavar="LINK", help="Id of a link, from `link list`.")],
    *,
    as_json: JsonDataOption = False,
    api: ApiOption = None,
) -> None:
    """End a link at once."""
    call_and_print(
        lambda client: client.revoke_shared_link(link_id),
        lambda console, revoked: console.print(f"[bold]{revoked['link_id']}[/] revoked"),
        api=api,
        as_json=as_json,
    )


def _address(api: str | None, path: str) -> str:
    """Return the address of a page: of the service that created the link, else of the local one."""
    settings = ApiSettings()
    service = api or service_url(settings.api_host, settings.api_port)
    return f"{service.rstrip('/')}{path}"
