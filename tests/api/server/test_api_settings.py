"""Settings of the front door."""

from typing import Any

import pytest
from pydantic import ValidationError

from api.settings import ApiSettings, is_loopback


def settings(**values: Any) -> ApiSettings:
    return ApiSettings(_env_file=None, **values)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "box.example", ""])
def test_a_wider_bind_needs_a_token(host: str) -> None:
    with pytest.raises(ValidationError, match="OWN_API_TOKEN"):
        settings(api_host=host)
    assert settings(api_host=host, own_api_token="t").api_host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.0.0.2"])
def test_loopback_host_needs_no_api_token(host: str) -> None:
    assert settings(api_host=host).own_api_token is None
    assert is_loopback(host)


@pytest.mark.parametrize("blank", ["", "  "])
def test_a_blank_token_is_none_and_opens_nothing(blank: str) -> None:
    assert settings(own_api_token=blank).own_api_token is None
    with pytest.raises(ValidationError):
        settings(own_api_token=blank, api_host="0.0.0.0")


def test_host_names_come_as_a_list_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOWED_HOSTS", "Box.example, other.example,")
    found = settings()
    assert {"box.example", "other.example", "localhost", "127.0.0.1", "::1"} <= found.served_hosts


def test_an_unknown_time_zone_is_refused() -> None:
    with pytest.raises(ValidationError, match="time zone"):
        settings(time_zone="Mars/Olympus")


def test_a_token_is_not_shown() -> None:
    assert "sesam" not in repr(settings(own_api_token="sesam"))
