"""Every example of the page on analysing runs, as it stands there."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.full

PAGE = Path(__file__).parents[3] / "docs" / "analysis.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(kind: str) -> list[str]:
    return [
        text for found, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")) if found == kind
    ]


def test_every_command_and_program_of_the_page_runs_in_its_order(
    small_store: Any,
    command: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("API_PORT", "1")
    small_store.add_ranking()
    small_store.add_coverage()
    small_store.add_works(
        "MS4wLjABAAAAkaEBGFiZkAVq9UxsEMKBvG2a34wK5jo6VOvOqf99T31",
        nickname="a nickname",
        desc="a text",
    )
    lines = [line for block in examples("sh") for line in block.splitlines()]
    assert len(lines) > 12
    for line in lines:
        said = command(*shlex.split(line)[1:])
        assert said.status == 0, f"{line}: {said.remarks}"
        program = examples("python")[0] if "database" in line else ""
        exec(compile(program, str(PAGE), "exec"), {})  # the page's own program
    assert {"package.zip", "sametrack.duckdb", "rankings.parquet"} <= {
        path.name for path in tmp_path.iterdir()
    }


def test_every_query_of_the_page_is_answered(small_store: Any, command: Callable[..., Any]) -> None:
    small_store.add_coverage()
    small_store.add_works(
        "MS4wLjABAAAAkaEBGFiZkAVq9UxsEMKBvG2a34wK5jo6VOvOqf99T31",
        nickname="a nickname",
        desc="a text",
    )
    for query in examples("sql"):
        assert command("sql", "-", "--json", given=query).document["method"]["row_count"]
    assert len(examples("sql")) == 3
