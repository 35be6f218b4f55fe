"""Settings are shown as they apply, with their origin, without secrets, to operators alone."""

import pytest

from api.server.access.roles import Role, required_role
from api.settings import ApiSettings, applied_settings
from tests.scripted_reads import ReadService

PLACE = "/api/v1/sametrack/settings"


def test_each_setting_says_where_it_comes_from_and_secrets_stay_hidden() -> None:
    settings = ApiSettings(
        _env_file=None, own_api_token="very-secret", api_port=9000,
        control_url="postgresql+psycopg://me:word@db/jobs", allowed_hosts=("a.example",),
    )  # fmt: skip
    shown = {
        one.name: (one.value, one.source)
        for one in applied_settings(
            settings, environment={"api_port": "9000"}, file={"OWN_API_TOKEN": "very-secret"}
        )
    }
    assert shown["API_PORT"] == ("9000", "environment")
    assert shown["OWN_API_TOKEN"] == ("***", "file")
    assert shown["CONTROL_URL"] == ("postgresql+psycopg://***@db/jobs", "default")
    assert shown["ALLOWED_HOSTS"][0] == "a.example"
    assert shown["LAKE_URL"] == (None, "default")
    assert "very-secret" not in str(shown)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (
            "postgresql+psycopg://me:pa/ss@db.example/jobs",
            "postgresql+psycopg://***@db.example/jobs",
        ),
        ("postgresql://me:p?a&s@db.example/jobs", "postgresql://***@db.example/jobs"),
        ("postgresql://db/jobs?user=me&password=pass", "postgresql://db/jobs?***"),
        ("postgresql://db/jobs?user=m@e&password=pass", "postgresql://***@e?***"),
        ("sqlite:////home/me/jobs.sqlite", "sqlite://…/jobs.sqlite"),
    ],
)
def test_no_password_of_a_store_is_shown(address: str, shown: str) -> None:
    settings = ApiSettings(_env_file=None, control_url=address)
    found = {one.name: one.value for one in applied_settings(settings, environment={}, file={})}
    assert found["CONTROL_URL"] == shown


def test_the_service_lists_all_of_them(reads: ReadService) -> None:
    data = reads.client().get(PLACE).json()["data"]
    assert data["returned_count"] == len(ApiSettings.model_fields)
    assert all(one["description"] for one in data["settings"])


def test_applied_settings_need_the_role_operate() -> None:
    assert required_role("GET", PLACE) is Role.OPERATE
