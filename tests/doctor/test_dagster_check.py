"""What the doctor says of Dagster: its storage, and whether its daemons are alive."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from api.cli.commands.system.doctor import check_orchestrator


class FakeInstance:
    """An instance with some runs, and daemons that send heartbeats or do not."""

    def __init__(self, **healthy: bool) -> None:
        self._healthy = healthy

    def get_runs_count(self) -> int:
        return 1234

    def get_required_daemon_types(self) -> list[str]:
        return list(self._healthy)

    def get_daemon_statuses(self, names: list[str]) -> dict[str, Any]:
        return {name: SimpleNamespace(healthy=self._healthy[name]) for name in names}


def look(instance: FakeInstance) -> Any:
    @contextmanager
    def opened() -> Iterator[Any]:
        yield instance

    return check_orchestrator(opened)


def test_runs_and_daemons_that_are_alive_are_counted() -> None:
    found = look(FakeInstance(SENSOR=True, SCHEDULER=True))
    assert (found.state, found.advice) == ("ok", None)
    assert found.says == "opens, 1,234 runs; 2 daemons alive"


@pytest.mark.parametrize("healthy", [True, False], ids=["one is silent", "all are silent"])
def test_a_daemon_without_heartbeat_is_a_warning(healthy: bool) -> None:
    found = look(FakeInstance(SENSOR=healthy, SCHEDULER=False))
    assert found.state == "warn"
    assert "no heartbeat" in found.says
    assert found.advice


def test_a_storage_that_does_not_open_is_named_by_its_error_alone() -> None:
    def broken() -> Any:
        raise ConnectionError("password of the database")

    found = check_orchestrator(broken)
    assert (found.state, found.says) == ("fail", "does not open (ConnectionError)")
    assert "the folder `dagster`" in str(found.advice)
    found = check_orchestrator(broken, has_server=True)
    assert found.advice == "check DAGSTER_STORAGE_URL and its server"
