"""The process that sends one alert with Apprise: `python -m pipelines.watchlists.alert_sender`.

Apprise opens its own connections, so each is checked where Python opens it, in a process that does
nothing else: whatever a name resolves to, and wherever a redirect leads, an address that is not
public is not contacted unless `networks` lists it. The process reads and writes no file but the
attachment and those of Python itself, starts no other process, and has no proxy, as its caller
gives it an environment without any. It reads one request from standard input and writes one answer;
nothing that Apprise logs leaves it.

What the checks cannot see is a connection that a library makes without Python's sockets; no
service of Apprise does so with the libraries that Sametrack installs.
"""

import ipaddress
import json
import logging
import mimetypes
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apprise

from pipelines.platform.http.link_gate import is_public

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_TIME_ZONES = "/usr/share/zoneinfo"
_STATUS = re.compile(r"\berror=([1-5][0-9]{2})\b")
_SENDING = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_STARTING = ("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.startfile")
_LOCAL = ("syslog.", "ctypes.", "winreg.")
"""Audit events of what reaches this machine without a connection."""


class ConnectionGuard:
    """An audit hook: refuses connections, files and processes. A hook cannot be removed again."""

    def __init__(self, networks: Sequence[str], readable: Sequence[str]) -> None:
        self._networks = [ipaddress.ip_network(network) for network in networks]
        self._readable = [Path(path).resolve() for path in readable]
        self.has_refused_address = False

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in _SENDING:
            self._check_address(arguments[-1])
        elif event == "open":
            self._check_file(arguments[0], arguments[2])
        elif event.startswith((*_STARTING, *_LOCAL)):
            raise PermissionError(f"{event} is refused")

    def _check_address(self, address: object) -> None:
        if address is None:  # of a socket that is connected, and was checked then
            return
        # A path is a socket of this machine; a name would be resolved out of sight.
        host = str(address[0]) if isinstance(address, tuple) else ""
        try:
            ip = ipaddress.ip_address(host.partition("%")[0])
        except ValueError:
            ip = None
        if ip is None or not (is_public(ip) or any(ip in network for network in self._networks)):
            self.has_refused_address = True
            raise PermissionError("the address is not public")

    def _check_file(self, path: object, flags: int) -> None:
        if not isinstance(path, str | bytes):  # a file descriptor
            return
        file = Path(os.fsdecode(path)).resolve()
        if flags & _WRITING or not any(file.is_relative_to(place) for place in self._readable):
            raise PermissionError("the file is refused")


def _service_of(url: str) -> Any | None:  # a notification service of Apprise
    asset = apprise.AppriseAsset(
        app_id="Sametrack",
        app_desc="Sametrack",
        # Nothing is written to the disk, and no code is loaded from it.
        storage_mode="memory",
        plugin_paths=[],
        async_mode=False,
        pgp_autogen=False,
        pem_autogen=False,
        http_redirects=False,
        timezone="UTC",
    )
    service = apprise.Apprise.instantiate(url, asset=asset)
    if service is not None:
        service.redirects = False  # also if the URL asks for them
    return service


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return the service of a URL, and how sending to it ended if there is a message."""
    attachment = request.get("attachment")
    mimetypes.init()  # reads files of the system
    guard = ConnectionGuard(
        request["networks"],
        [sys.prefix, sys.base_prefix, _TIME_ZONES, *([attachment] if attachment else [])],
    )
    sys.addaudithook(guard)
    service = _service_of(request["url"])
    if service is None:
        return {"service": None, "outcome": "invalid_channel", "status": None}
    name = str(service.service_name)
    if request.get("body") is None:
        return {"service": name, "outcome": None, "status": None}
    messages: list[str] = []
    channel = apprise.Apprise()
    channel.add(service)
    is_sent = channel.notify(
        request["body"],
        title=request["title"],
        body_format=apprise.NotifyFormat.TEXT,
        attach=attachment if service.attachment_support else None,
        log_callback=lambda entry, _service: messages.append(str(entry.message)),
        log_level=logging.WARNING,
    )
    statuses = [int(match[1]) for text in messages if (match := _STATUS.search(text))]
    if is_sent:
        outcome = "sent"
    elif guard.has_refused_address:
        outcome = "special_address"
    else:
        outcome = "refused" if statuses else "unreachable"
    return {"service": name, "outcome": outcome, "status": statuses[-1] if statuses else None}


def main() -> None:
    """Answer the request on standard input."""
    sys.stdout.write(json.dumps(answer(json.load(sys.stdin))))


if __name__ == "__main__":
    main()
