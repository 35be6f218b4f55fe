"""`sametrack alerts` on stores of its own: a channel is added by a hidden URL, tested, removed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from api.cli.commands.alerts import app
from api.cli.terminal import out
from warehouse.records.errors import InvalidParameterError, SametrackError

pytestmark = pytest.mark.full

type Run = Callable[..., Result]
URL = "json://127.0.0.1:9/s3cr3t"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    monkeypatch.setattr(out, "_width", 160)  # the width of a terminal that shows all columns

    def command(*words: str, typed: str | None = None) -> Result:
        return CliRunner().invoke(app, list(words), input=typed, catch_exceptions=True)

    return command


def test_a_channel_is_added_by_a_url_that_is_asked_for_tested_and_removed(run: Run) -> None:
    assert "no channels yet" in run("list").output
    added = run("add", "team-chat", "--language", "zh", typed=f"{URL}\n")
    assert added.exit_code == 0, added.output
    assert "team-chat created · JSON" in added.output
    tested = run("test", "team-chat")
    assert (tested.exit_code, "special_address" in tested.output) == (1, True)
    listed = run("list", "--json")
    (channel,) = json.loads(listed.stdout)["channels"]
    assert (channel["service"], channel["language"]) == ("JSON", "zh")
    assert "team-chat" in run("list").output
    assert "team-chat removed" in run("remove", "team-chat").output
    for printed in (added, tested, listed):
        assert "s3cr3t" not in printed.output


def test_a_url_of_the_environment_is_taken_and_a_wrong_one_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALERT_URL", "nonsense-s3cr3t")
    refused = run("add", "team-chat")
    assert isinstance(refused.exception, InvalidParameterError)
    assert "s3cr3t" not in refused.exception.detail
    monkeypatch.setenv("ALERT_URL", URL)
    assert run("add", "team-chat").exit_code == 0
    missing = run("test", "nobody")
    assert isinstance(missing.exception, SametrackError)
    assert missing.exception.type == "not_found"
