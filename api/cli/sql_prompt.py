"""The prompt of `sametrack sql`: several statements with completion, history and short commands."""

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory

from api.cli.query_output import show_answer
from api.cli.terminal import out, safe, show_error
from warehouse.analysis.description import NAMES, describe_table
from warehouse.engine.duckdb_engine import Engine
from warehouse.engine.user_sql import run_user_sql
from warehouse.exports.export_table import to_table
from warehouse.records.errors import SametrackError

HELP = "A statement ends with `;`. .tables  .describe TABLE  .help  .quit (or Ctrl-D)"
COMMANDS = (".describe", ".help", ".quit", ".tables")
KEY_WORDS = (
    "and", "as", "asc", "between", "by", "case", "desc", "describe", "distinct", "else", "end",
    "from", "group by all", "having", "in", "is not null", "is null", "join", "left join", "like",
    "limit", "not", "nulls last", "on", "or", "order by", "qualify", "select", "then", "union all",
    "using", "when", "where", "with",
    "any_value(", "arg_max(", "arg_min(", "avg(", "coalesce(", "contains(", "count(*)",
    "count(distinct ", "date_trunc(", "lower(", "max(", "median(", "min(", "row_number()", "sum(",
)  # fmt: skip
_WORD = re.compile(r"[\w.]*$")
_TABLE_EXPECTED = re.compile(r"\b(?:from|join|describe)\s+[\w.]*$", re.IGNORECASE)
_NAMED = re.compile(r"\b(?:raw|marts|seen)\.\w+")
_PROMPT, _MORE = "sametrack> ", "       ... "


class SqlCompleter(Completer):
    """Completes tables, columns, key words and the short commands."""

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        del complete_event  # completions do not depend on how they were asked for
        word, found = complete_sql(document.text_before_cursor)
        return [Completion(text, start_position=-len(word)) for text in found]


def run_prompt(engine: Engine, *, rows: int) -> None:
    """Answer statements until the user quits."""
    session: PromptSession[str] = PromptSession(
        history=FileHistory(str(history_file())), completer=SqlCompleter()
    )
    answer_lines(session.prompt, engine, rows=rows)


def answer_lines(read_line: Callable[[str], str], engine: Engine, *, rows: int) -> None:
    """Answer the lines of a reader, which raises EOFError at the end. An error ends nothing."""
    out.print(f"[dim]{HELP}[/]")
    statement = ""
    while True:
        try:
            line = read_line(_MORE if statement else _PROMPT).rstrip()
        except KeyboardInterrupt:  # Ctrl-C discards what was typed
            statement = ""
            continue
        except EOFError:
            return
        if not statement and line.startswith("."):
            if line == ".quit":
                return
            _answer(_run_command, line)
            continue
        statement = f"{statement}\n{line}".strip()
        if statement.endswith(";"):
            _answer(lambda text: _run_statement(engine, text, rows), statement)
            statement = ""


def history_file() -> Path:
    """Return the file of the history, readable by its owner only.

    It is not in the data home, because a statement may name an account: an erasure could then not
    prove that no file of the world does.
    """
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    path = Path(state) / "sametrack" / "sql_history"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    return path


def _answer(run: Callable[[str], None], text: str) -> None:
    try:
        run(text)
    except SametrackError as error:
        show_error(error.type, error.detail, error.hint)


def _run_statement(engine: Engine, statement: str, rows: int) -> None:
    show_answer(to_table("answer", run_user_sql(engine, statement)), rows)


def _run_command(line: str) -> None:
    command, _, argument = line.partition(" ")
    if command == ".tables":
        out.print("\n".join(NAMES))
    elif command == ".describe":
        out.print(safe(describe_table(argument.strip())), soft_wrap=True)
    else:
        out.print(f"[dim]{HELP}[/]")


def complete_sql(text: str) -> tuple[str, list[str]]:
    """Return the word before the cursor, and what it may become."""
    found = _WORD.search(text)
    word = found.group() if found else ""
    if text.startswith("."):
        command, has_argument, _ = text.partition(" ")
        names = NAMES if has_argument and command == ".describe" else COMMANDS
    elif _TABLE_EXPECTED.search(text):
        names = NAMES
    else:
        names = (*_columns(text), *KEY_WORDS, *NAMES)
    wanted = word.lower()
    return word, [name for name in dict.fromkeys(names) if _fits(name, wanted)]


def _columns(text: str) -> tuple[str, ...]:
    """Return the columns of the tables that the text names."""
    named = [name for name in _NAMED.findall(text) if name in NAMES]
    return tuple(column.name for name in named for column in describe_table(name).columns)


def _fits(name: str, word: str) -> bool:
    """Accept the noun of a table for its full name."""
    return name.startswith(word) or (bool(word) and name.partition(".")[2].startswith(word))
