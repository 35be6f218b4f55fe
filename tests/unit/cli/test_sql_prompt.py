"""The prompt of `sametrack sql` completes names, survives errors, and keeps its history apart."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from api.cli.sql_prompt import SqlCompleter, answer_lines, complete_sql, history_file
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.store import open_lake
from warehouse.tables import BY_NAME


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    table = BY_NAME["marts.coverage"]
    lake = open_lake(str(tmp_path_factory.mktemp("lake")), world="sandbox", tables=[table])
    row: dict[str, object] = {
        "job_id": "a-job", "surface": "music_list", "requests": 2, "pages": 2, "items": 20,
        "new_items": 18, "stop_reason": "exhausted", "foreign_rows": 0,
    }  # fmt: skip
    lake.append("marts.coverage", [row])
    with closing(Engine(lake)) as opened:
        yield opened


def typed(*lines: str | type[BaseException]) -> Callable[[str], str]:
    """A reader that types these lines, presses these keys, and ends."""
    left = iter(lines)

    def read_line(_: str) -> str:
        found = next(left, EOFError)
        if isinstance(found, str):
            return found
        raise found

    return read_line


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("select * from mar", "mar", "marts.rankings"),
        ("select * from rank", "rank", "marts.rankings"),
        ("from marts.ra", "marts.ra", "marts.rankings"),
        ("describe ", "", "seen.videos"),
        ("select digg from marts.rankings where di", "di", "digg_count"),
        ("sel", "sel", "select"),
        (".de", ".de", ".describe"),
        (".describe marts.cov", "marts.cov", "marts.coverage"),
    ],
)
def test_what_may_follow_is_offered(text: str, word: str, expected: str) -> None:
    assert complete_sql(text)[0] == word
    assert expected in complete_sql(text)[1]


def test_columns_of_other_tables_are_not_offered() -> None:
    assert "follower_count" not in complete_sql("select x from marts.rankings where fol")[1]
    assert complete_sql("select * from nothing")[1] == []


def test_a_completion_replaces_the_word_before_the_cursor() -> None:
    found = list(SqlCompleter().get_completions(Document("from marts.variant"), CompleteEvent()))
    assert [(one.text, one.start_position) for one in found] == [("marts.variants", -13)]


def test_statements_of_several_lines_are_answered_and_an_error_ends_nothing(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = typed(
        "select nothing from marts.coverage;", "drop table marts.coverage;",
        "select surface,", "  new_items from marts.coverage;", ".help",
    )  # fmt: skip
    answer_lines(lines, engine, rows=10)
    said = capsys.readouterr()
    assert "music_list" in said.out
    assert "18" in said.out
    assert "Referenced column" in said.err
    assert "read-only" in said.err
    assert said.out.count("A statement ends with") == 2


def test_commands_tell_tables_and_columns_and_quit(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = typed(".tables", ".describe marts.coverage", ".describe nothing", ".quit", "select 1;")
    answer_lines(lines, engine, rows=10)
    said = capsys.readouterr()
    assert "seen.videos" in said.out
    assert "reason why reading stopped" in said.out
    assert "no table 'nothing'" in said.err
    assert "1 row" not in said.err


def test_an_interrupt_discards_what_was_typed(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    answer_lines(typed("select 41 as x", KeyboardInterrupt, "select 42 as y;"), engine, rows=10)
    said = capsys.readouterr()
    assert "42" in said.out
    assert "41" not in said.out
    assert said.err.count("row") == 1


def test_the_history_is_its_owners_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = history_file()
    assert path == tmp_path / "sametrack" / "sql_history"
    assert os.stat(path).st_mode & 0o777 == 0o600  # noqa: PTH116  # the mode as the system keeps it
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert history_file().is_relative_to(tmp_path / ".local" / "state")
