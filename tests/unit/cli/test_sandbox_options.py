"""`sametrack sandbox` names its switches and refuses unknown ones before it starts."""

from typer.testing import CliRunner

from api.cli.main import app
from pipelines.sandbox.server.switches import MODES, SWITCHES


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
