"""`sametrack maintain` as people read it."""

import pytest
from typer.testing import CliRunner

from api.cli.commands.system import maintain as command
from api.cli.main import app
from pipelines.orchestration.worker.maintenance import MaintenanceReport


def test_every_count_is_printed_with_its_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    done = MaintenanceReport(jobs=3, results=2, links_and_leases=17, files_merged=1234)
    monkeypatch.setattr(command, "maintain_once", lambda _settings: done)
    said = CliRunner().invoke(app, ["maintain"], catch_exceptions=False)
    assert said.exit_code == 0
    lines = [line.split(maxsplit=1) for line in said.stdout.splitlines()]
    counts = {meaning: count for count, meaning in lines}
    assert counts["jobs past their retention"] == "3"
    assert counts["their results"] == "2"
    assert counts["expired links, leases and workers"] == "17"
    assert counts["small table files merged"] == "1234"
    assert sorted(counts.values()) == ["0"] * 7 + ["1234", "17", "2", "3"]
