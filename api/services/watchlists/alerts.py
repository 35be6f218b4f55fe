"""Channels for alerts: creating, listing, testing and deleting them. The URL is never returned."""

from dataclasses import dataclass

from api.params.fields import check_printable
from api.params.watchlists import MAX_CHANNEL_URL_LENGTH
from api.responses.errors import NotFoundError
from api.schemas.extensions import watchlists as schemas
from pipelines.documents.videos import to_document
from pipelines.watchlists.alerts import AlertSender, send_test
from warehouse.control import ControlStore, watchlists
from warehouse.records.alerts import AlertChannel, AlertLanguage
from warehouse.records.errors import InvalidParameterError
from warehouse.records.watchlists import check_name

ALERTS_PATH = "/api/v1/sametrack/alert_channels"


@dataclass(frozen=True, eq=False)
class AlertService:
    """Channels for alerts.

    Every method with the name of a channel raises `NotFoundError` if no channel has the name.

    Attributes:
        store: The control store.
        sender: Checks and contacts channels.
        is_demo: True if observations are demo data.
    """

    store: ControlStore
    sender: AlertSender
    is_demo: bool

    def listed(self) -> schemas.AlertChannelList:
        """Return all channels, sorted by name."""
        channels = [self._document(stored) for stored in watchlists.read_channels(self.store)]
        return {
            "channels": channels,
            "returned_count": len(channels),
            "is_demo_data": self.is_demo,
        }

    def create(self, name: str, url: str, language: AlertLanguage) -> schemas.AlertChannelDocument:
        """Store a channel. Nothing is sent to it.

        Raises:
            InvalidParameterError: Apprise does not understand the URL, or the name is taken.
        """
        check_name(name, of="channel")
        try:
            check_printable(url)
        except ValueError as error:
            raise InvalidParameterError("`url` has signs that cannot be part of a URL") from error
        if len(url) > MAX_CHANNEL_URL_LENGTH:
            raise InvalidParameterError(f"`url` has more than {MAX_CHANNEL_URL_LENGTH} signs")
        channel = AlertChannel(
            name=name,
            url=url.strip(),
            service=self.sender.service_of(url.strip()),
            language=language,
            created_at=self.sender.clock(),
        )
        if not watchlists.create_channel(self.store, channel):
            raise InvalidParameterError(
                f"`name`: channel {name!r} already exists",
                hint="Delete it first, or choose another name",
            )
        return self._document(self._find(name))

    def test(self, name: str) -> schemas.AlertChannelDocument:
        """Send a test message; how it ended is in the channel."""
        send_test(self.store, self._find(name), send=self.sender)
        return self._document(self._find(name))

    def delete(self, name: str) -> schemas.AlertChannelDeleted:
        """Delete a channel, and what waits to be sent to it."""
        if not watchlists.delete_channel(self.store, name):
            raise self._missing(name)
        return {"name": name, "deleted": True, "is_demo_data": self.is_demo}

    def _find(self, name: str) -> AlertChannel:
        channel = watchlists.get_channel(self.store, name)
        if channel is None:
            raise self._missing(name)
        return channel

    def _document(self, channel: AlertChannel) -> schemas.AlertChannelDocument:
        test = channel.test
        return to_document(
            schemas.AlertChannelDocument,
            channel,
            test=None if test is None else to_document(schemas.AlertAttemptDocument, test),
            is_demo_data=self.is_demo,
        )

    def _missing(self, name: str) -> NotFoundError:
        names = [channel.name for channel in watchlists.read_channels(self.store)]
        existing = ", ".join(names[:10])
        return NotFoundError(
            f"Alert channel {name[:64]!r} was not found",
            hint=f"Existing channels: {existing}" if existing else "There is no channel yet",
        )
