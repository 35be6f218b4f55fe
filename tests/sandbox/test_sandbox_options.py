"""`sametrack sandbox` names its switches and refuses unknown ones before it starts."""

from typer.testing import CliRunner

from api.cli.main import app
from sandbox.server.switches import MODES, SWITCHES


def test_the_switches_and_modes_are_printed() -> None:
    printed = CliRunner().invoke(app, ["sandbox", "--switch", "list"], catch_exceptions=False)
    text = " ".join(printed.output.split())
    assert printed.exit_code == 0
    assert [switch.name for switch in SWITCHES if switch.effect not in text] == []
    assert [name for name in MODES if f"{name}:" not in text] == []


def test_an_unknown_switch_or_mode_is_refused_with_the_known_ones() -> None:
    for arguments, known in (
        (["--switch", "shells"], "page_shells"),
        (["--mode", "old"], "generous"),
    ):
        refused = CliRunner().invoke(app, ["sandbox", *arguments])
        assert refused.exit_code == 2
        assert known in refused.output


def test_a_day_outside_of_its_calendar_is_refused_by_both_commands() -> None:
    for command in (["sandbox"], ["up", "--sandbox"]):
        for day in ("2025-09-30", "2046-01-01", "2026-02-30", "yesterday"):
            refused = CliRunner().invoke(app, [*command, "--today", day])
            assert "a date from 2025-10-01 to 2045-12-31" in str(refused.exception)


def test_dagster_ui_without_a_code_server_says_what_it_needs() -> None:
    refused = CliRunner().invoke(app, ["dagster-ui"])
    assert refused.exit_code == 2
    assert "`sametrack up` starts all of Dagster" in refused.stderr
    assert "--code-server HOST:PORT" in refused.stderr
