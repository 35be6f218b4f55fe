"""Alerts as servers on loopback receive them: by HTTP and by mail, and what is never contacted."""

import json
import os
import socketserver
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_string
from email.header import decode_header, make_header
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from pipelines.watchlists.alert_sender import ConnectionGuard
from pipelines.watchlists.alerts import AlertMessage, AlertSender
from warehouse.records.errors import InvalidParameterError

pytestmark = pytest.mark.full

LOOPBACK = AlertSender(networks=("127.0.0.0/8",))
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(64)
MESSAGE = AlertMessage(title="Sametrack · songs: 1 alert", body="- “纸船” has reached 10,000 likes")


class Hook(BaseHTTPRequestHandler):
    """Answers with the status in the path; keeps what was sent."""

    received: ClassVar[list[dict[str, Any]]] = []
    paths: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        status = int(self.path.rpartition("/")[2])
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.paths.append(self.path)
        self.received.append(json.loads(body))
        self.send_response(status)
        if status == 302:
            self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/moved/200")  # type: ignore[attr-defined]  # of a server of the internet
        self.send_header("Content-Length", "6")
        self.end_headers()
        self.wfile.write(b"secret")

    do_GET = do_POST  # noqa: N815 -- the name that the server calls

    def log_message(self, *_words: object) -> None:
        """Print nothing."""


@pytest.fixture
def hook() -> Iterator[str]:
    Hook.received.clear()
    Hook.paths.clear()
    with _running(ThreadingHTTPServer(("127.0.0.1", 0), Hook)) as port:
        yield f"127.0.0.1:{port}"


@contextmanager
def _running(server: socketserver.TCPServer) -> Iterator[int]:
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class MailBox(socketserver.StreamRequestHandler):
    """The least of a mail server: takes every message and keeps it."""

    mails: ClassVar[list[str]] = []

    def handle(self) -> None:
        self._say("220 mail.example ready")
        for raw in self.rfile:
            verb = raw.decode().strip().upper()
            if verb.startswith("DATA"):
                self._say("354 go on")
                lines = iter(self.rfile.readline, b".\r\n")
                self.mails.append(b"".join(lines).decode())
            if verb.startswith("QUIT"):
                self._say("221 bye")
                return
            self._say("250 fine")

    def _say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


def test_a_webhook_receives_title_text_and_picture(hook: str) -> None:
    with_picture = AlertMessage(title=MESSAGE.title, body=MESSAGE.body, picture=PICTURE)
    attempt = LOOPBACK(f"json://{hook}/200", with_picture)
    assert (attempt.outcome, attempt.status) == ("sent", None)
    (sent,) = Hook.received
    assert (sent["title"], sent["message"]) == (MESSAGE.title, MESSAGE.body)
    assert [file["mimetype"] for file in sent["attachments"]] == ["image/png"]


def test_a_mail_has_the_message_and_the_picture() -> None:
    MailBox.mails.clear()
    with _running(socketserver.ThreadingTCPServer(("127.0.0.1", 0), MailBox)) as port:
        url = (
            f"mailto://127.0.0.1:{port}?from=sametrack@example.com&to=label@example.com"
            "&smtp=127.0.0.1&mode=insecure"
        )
        with_picture = AlertMessage(title=MESSAGE.title, body=MESSAGE.body, picture=PICTURE)
        assert LOOPBACK(url, with_picture).outcome == "sent"
    mail = message_from_string(MailBox.mails[0])
    assert str(make_header(decode_header(mail["Subject"]))) == MESSAGE.title
    parts = [part.get_content_type() for part in mail.walk()]
    assert "image/png" in parts
    texts = [
        part.get_payload(decode=True)
        for part in mail.walk()
        if part.get_content_type() in {"text/plain", "text/html"}
    ]
    assert any("纸船".encode() in text for text in texts if isinstance(text, bytes))


@pytest.mark.parametrize("status", [400, 404, 500])
def test_a_refusal_has_its_status_and_no_word_of_the_server(hook: str, status: int) -> None:
    attempt = LOOPBACK(f"json://{hook}/{status}", MESSAGE)
    assert (attempt.outcome, attempt.status) == ("refused", status)


@pytest.mark.parametrize("wish", ["", "?redirect=yes"])
def test_a_redirect_is_not_followed(hook: str, wish: str) -> None:
    attempt = LOOPBACK(f"json://{hook}/302{wish}", MESSAGE)
    assert attempt.outcome == "refused"
    assert Hook.paths == ["/302"]


def test_an_address_inside_the_machine_is_refused_in_any_form(hook: str) -> None:
    port = hook.partition(":")[2]
    assert AlertSender()(f"json://{hook}/200", MESSAGE).outcome == "special_address"
    for host in ("localhost", "[::ffff:127.0.0.1]", "2130706433"):
        assert AlertSender()(f"json://{host}:{port}/200", MESSAGE).outcome != "sent", host
    assert Hook.received == []


def test_an_allowed_network_allows_no_other(hook: str) -> None:
    sender = AlertSender(networks=("10.0.0.0/8",))
    assert sender(f"json://{hook}/200", MESSAGE).outcome == "special_address"
    assert Hook.received == []


def test_a_proxy_of_the_environment_is_not_used(hook: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://{hook}")
    sender = AlertSender(networks=("127.0.0.0/8",))
    assert sender("json://127.0.0.2:9/200", MESSAGE).outcome == "unreachable"
    assert Hook.received == []


def test_a_url_has_the_name_of_its_service_and_nothing_is_contacted(hook: str) -> None:
    assert LOOPBACK.service_of(f"json://{hook}/200") == "JSON"
    assert Hook.received == []
    for url, service in {
        "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#general": "Slack",
        "feishu://abcdef0123456789": "Feishu",
        "dingtalk://abcdef0123456789": "DingTalk",
        "wecombot://abcdef0123456789": "WeCom Bot",
        "mailtos://user:secret@example.com": "E-Mail",
    }.items():
        assert LOOPBACK.service_of(url) == service


@pytest.mark.parametrize("url", ["", "nonsense", "https://", "file:///etc/passwd", "syslog://"])
def test_what_apprise_cannot_send_to_is_refused(url: str) -> None:
    with pytest.raises(InvalidParameterError, match="`url`"):
        LOOPBACK.service_of(url)


@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("open", ("/etc/hostname", "r", 0)),
        ("open", (f"{sys.prefix}/note", None, os.O_WRONLY | os.O_CREAT)),
        ("open", (f"{sys.prefix}/../secret", "r", 0)),
        ("subprocess.Popen", ("sh", [], None, None)),
        ("os.system", ("sh",)),
        ("syslog.syslog", (1, "text")),
        ("socket.connect", (None, "/run/dbus/system_bus_socket")),
        ("socket.connect", (None, ("169.254.169.254", 80))),
        ("socket.connect", (None, ("fe80::1%eth0", 80, 0, 2))),
        ("socket.sendto", (None, ("10.0.0.5", 514))),
        ("socket.connect", (None, ("name.example", 80))),
    ],
)
def test_the_process_that_sends_reaches_nothing_else(
    event: str, arguments: tuple[object, ...]
) -> None:
    guard = ConnectionGuard(networks=["192.168.7.0/24"], readable=[sys.prefix])
    with pytest.raises(PermissionError):
        guard(event, arguments)
    guard("open", (f"{sys.prefix}/pyvenv.cfg", "r", 0))
    guard("socket.connect", (None, ("192.168.7.9", 25)))
    guard("socket.connect", (None, ("93.184.216.34", 443)))
    guard("socket.sendmsg", (None, None))
