"""The webhook: one listed public host, by https, at the address that was checked."""

import json

import httpx2
import pytest

from pipelines.platform.http.link_gate import DIAL
from pipelines.settings import Settings
from pipelines.watchlists.digest import (
    WebhookNotifier,
    build_notifier,
    check_webhook,
    webhook_address,
)
from warehouse.records.errors import InvalidParameterError

URL = "https://hooks.example.com/sametrack?key=1"
DIGEST = {"run_id": "3f1c9a52-6d0e-4b7a-9c54-0a7d3f2b8e61", "is_demo_data": True}
PUBLIC = "93.184.216.34"


class Receiver(httpx2.AsyncBaseTransport):
    """Answers with a status; keeps what it was sent."""

    def __init__(self, status: int = 204, *, error: Exception | None = None) -> None:
        self.status = status
        self.error = error
        self.requests: list[httpx2.Request] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        if self.error is not None:
            raise self.error
        headers = {"Location": "https://127.0.0.1/"} if self.status == 302 else {}
        return httpx2.Response(self.status, headers=headers, content=b"secret")


def webhook(receiver: Receiver, *addresses: str) -> WebhookNotifier:
    looked_up: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        assert (host, port) == ("hooks.example.com", 443)
        assert not looked_up, "a name is looked up once"
        looked_up.append(host)
        return list(addresses)

    address = check_webhook(URL, hosts=["hooks.example.com"])
    return WebhookNotifier(address=address, resolve=resolve, transport=lambda: receiver)


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.com/", "https://hooks.example.com:8443/", "https://127.0.0.1/",
        "https://[::1]/", "https://a@hooks.example.com/", "https://hooks.example.com.evil.example/",
        "https://other.example/", "https://hooks.example.com\\@evil.example/", "ftp://x", "",
        "https://2130706433/", "https://hooks.example.com./",
    ],
)  # fmt: skip
def test_only_a_plain_https_address_of_a_listed_host_is_taken(url: str) -> None:
    with pytest.raises(InvalidParameterError, match="DIGEST_WEBHOOK_URL"):
        check_webhook(url, hosts=["hooks.example.com"])


def test_digest_webhook_is_off_without_an_address() -> None:
    assert build_notifier(Settings(_env_file=None))(DIGEST) is None
    listed = Settings(
        _env_file=None,
        digest_webhook_url=URL,
        digest_webhook_hosts="a.example, HOOKS.example.com",
    )
    assert getattr(build_notifier(listed), "__self__", None) == WebhookNotifier(
        address=check_webhook(URL, hosts=["hooks.example.com"])
    )


@pytest.mark.parametrize(
    ("url", "host"),
    [
        (URL, "hooks.example.com"),
        ("https://hooks.example.com:8443/", "hooks.example.com"),
        ("nowhere", None),
    ],
)
def test_a_wrong_setting_tells_nobody_and_is_the_outcome_of_each_digest(
    url: str, host: str | None
) -> None:
    unlisted = Settings(_env_file=None, digest_webhook_url=url)
    reported = build_notifier(unlisted)(DIGEST)
    assert reported == {"host": host, "status": None, "error": "invalid_setting"}
    assert "key=1" not in repr(unlisted)
    with pytest.raises(InvalidParameterError):
        webhook_address(unlisted)


def test_a_digest_travels_to_the_checked_address_under_its_own_name() -> None:
    receiver = Receiver()
    reported = webhook(receiver, PUBLIC).notify(DIGEST)
    assert reported == {"host": "hooks.example.com", "status": 204, "error": None}
    (request,) = receiver.requests
    assert request.extensions[DIAL] == PUBLIC
    assert (request.method, str(request.url)) == ("POST", URL)
    assert request.headers["idempotency-key"] == DIGEST["run_id"]
    assert json.loads(request.content) == DIGEST


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"], ["10.0.0.1"], ["169.254.169.254"], ["::1"], ["fe80::1%eth0"], ["0.0.0.0"],
        ["::ffff:127.0.0.1"], ["64:ff9b::7f00:1"], ["224.0.0.1"], [PUBLIC, "192.168.1.1"],
    ],
)  # fmt: skip
def test_a_name_that_leads_to_a_special_address_is_not_dialled(addresses: list[str]) -> None:
    receiver = Receiver()
    assert webhook(receiver, *addresses).notify(DIGEST)["error"] == "special_address"
    assert receiver.requests == []


@pytest.mark.parametrize(
    ("receiver", "status", "error"),
    [
        (Receiver(302), 302, "refused"),
        (Receiver(500), 500, "refused"),
        (Receiver(error=httpx2.ConnectError("at 10.0.0.1")), None, "unreachable"),
        (Receiver(error=httpx2.ReadTimeout("slow")), None, "timeout"),
    ],
)
def test_digest_webhook_reports_failures_and_follows_no_redirect(
    receiver: Receiver, status: int | None, error: str
) -> None:
    reported = webhook(receiver, PUBLIC).notify(DIGEST)
    assert reported == {"host": "hooks.example.com", "status": status, "error": error}
    assert len(receiver.requests) == 1


def test_a_name_without_an_address_is_unreachable() -> None:
    assert webhook(Receiver()).notify(DIGEST)["error"] == "unreachable"
