"""Alerts: the channels that messages about runs of watchlists go to, and each attempt to send one.

A channel is an Apprise URL with a name. The URL contains a secret: it is stored and sent with, and
never shown.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

AlertLanguage = Literal["en", "zh"]
ALERT_LANGUAGES: tuple[AlertLanguage, ...] = get_args(AlertLanguage)
AlertOutcome = Literal[
    "sent", "refused", "unreachable", "special_address", "timeout", "invalid_channel", "unknown"
]
"""`refused`: the server answered with an error. `special_address`: an address inside the machine or
its network that `ALERT_NETWORKS` does not list. `unknown`: the process ended while it was sending.
"""
DeliveryStatus = Literal["waiting", "sent", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertAttempt:
    """One attempt to send a message; `status` is that of HTTP, if there was a response."""

    at: datetime
    outcome: AlertOutcome
    status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertChannel:
    """Where messages go. `service` names what Apprise makes of the URL, such as Slack."""

    name: str
    url: str = field(repr=False)
    service: str
    language: AlertLanguage
    created_at: datetime
    test: AlertAttempt | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertDelivery:
    """The message about a run to one channel, with every attempt to send it."""

    run_id: str
    channel: str
    status: DeliveryStatus
    attempts: tuple[AlertAttempt, ...]
    next_at: datetime | None
