"""`sametrack alerts`: channels for messages about runs of watchlists."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from api.cli import terminal
from api.cli.options import JsonOption, ServiceOption
from api.cli.rendering.watchlists import print_channels
from api.cli.stores import call_service_or_stores, stored_settings
from api.client import ApiResponse, AsyncClient
from api.services.watchlists.alerts import AlertService
from api.settings import ApiSettings
from pipelines.open_stores import open_control_of
from pipelines.platform.providers import choose_profile
from pipelines.watchlists.alerts import AlertSender
from warehouse.home import is_demo_world, open_home
from warehouse.records.alerts import AlertLanguage
from warehouse.records.values import ReadOnlyDocument

app = typer.Typer(help="Alerts: list, add, test, remove channels.", no_args_is_help=True)
_Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of a channel.")]


@app.command("list")
def list_all(*, as_json: JsonOption = False, api: ServiceOption = None) -> None:
    """List all channels with their newest test. Their URLs are never shown."""
    document = _call(
        api, lambda client: client.alert_channels(), lambda alerts: alerts.listed(), reads=True
    )
    if not as_json and not document["channels"]:
        terminal.print_message("no channels yet; [bold]sametrack alerts add NAME[/] creates one")
        return
    terminal.print_document(
        document, lambda: print_channels(terminal.out, document["channels"]), as_json=as_json
    )


@app.command("add")
def add(
    name: _Name,
    *,
    url: Annotated[
        str | None,
        typer.Option(
            envvar="ALERT_URL",
            help="URL of the service in the form of Apprise. Better typed when asked for, or in "
            "the environment: other users see arguments.",
        ),
    ] = None,
    language: Annotated[AlertLanguage, typer.Option(help="Language of the messages.")] = "en",
    as_json: JsonOption = False,
    api: ServiceOption = None,
) -> None:
    """Create a channel by its Apprise URL, which is asked for. Nothing is sent yet."""
    secret: str = typer.prompt("Apprise URL", hide_input=True) if url is None else url
    channel = _call(
        api,
        lambda client: client.create_alert_channel(name, url=secret, language=language),
        lambda alerts: alerts.create(name, secret, language),
    )
    service = terminal.safe(channel["service"])
    terminal.print_document(
        channel, f"[bold]{terminal.safe(name)}[/] created · {service}", as_json=as_json
    )


@app.command("test")
def send_test(name: _Name, *, as_json: JsonOption = False, api: ServiceOption = None) -> None:
    """Send a test message. The exit status is 1 if it was not sent."""
    channel = _call(
        api, lambda client: client.test_alert_channel(name), lambda alerts: alerts.test(name)
    )
    terminal.print_document(
        channel, lambda: print_channels(terminal.out, [channel]), as_json=as_json
    )
    if channel["test"]["outcome"] != "sent":
        raise typer.Exit(terminal.EXIT_FAILED)


@app.command("remove")
def remove(name: _Name, *, as_json: JsonOption = False, api: ServiceOption = None) -> None:
    """Delete a channel, and what waits to be sent to it."""
    document = _call(
        api, lambda client: client.delete_alert_channel(name), lambda alerts: alerts.delete(name)
    )
    terminal.print_document(document, f"[bold]{terminal.safe(name)}[/] removed", as_json=as_json)


def _call(
    api: str | None,
    remote: Callable[[AsyncClient], Awaitable[ApiResponse[Any]]],
    local: Callable[[AlertService], ReadOnlyDocument],
    *,
    reads: bool = False,
) -> ReadOnlyDocument:
    """Call the service at `api`, or the stores of this machine; `reads`: it changes nothing."""

    def call_here() -> ReadOnlyDocument:
        with _open_alerts(reads=reads) as alerts:
            return local(alerts)

    document: ReadOnlyDocument = call_service_or_stores(api, remote, call_here)
    return document


@contextmanager
def _open_alerts(*, reads: bool) -> Iterator[AlertService]:
    settings = stored_settings() if reads else ApiSettings()
    profile = choose_profile(settings)
    home = open_home(settings.data_home, profile.name)
    with open_control_of(settings, home) as control:
        sender = AlertSender(networks=settings.alert_networks)
        yield AlertService(control, sender=sender, is_demo=is_demo_world(home.world))
