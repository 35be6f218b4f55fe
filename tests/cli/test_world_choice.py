"""Which world `sametrack up` works in."""

from typing import Any

import pytest
import typer

from api.cli.commands.system.up import choose_world
from pipelines.settings import Settings


def settings(**values: Any) -> Settings:
    return Settings(_env_file=None, **values)


@pytest.mark.parametrize(
    ("values", "sandbox", "profile"),
    [
        ({"profile": "public"}, False, "public"),
        ({"profile": "public"}, True, "sandbox"),
        ({}, True, "sandbox"),
        ({"data_provider": "mock"}, False, ""),
        ({"data_provider": "file"}, False, ""),
    ],
)
def test_a_profile_or_a_source_with_a_world_of_its_own(
    values: dict[str, Any], sandbox: bool, profile: str
) -> None:
    assert choose_world(settings(**values), sandbox=sandbox) == profile


@pytest.mark.parametrize("name", ["mock", "file"])
def test_a_source_that_never_reads_the_stand_in_platform_is_no_reason_to_start_it(
    name: str,
) -> None:
    with pytest.raises(typer.Exit):
        choose_world(settings(data_provider=name), sandbox=True)
