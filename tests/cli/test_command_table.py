"""The table of commands agrees with the commands themselves."""

import pytest

from api.cli.command_table import COMMANDS, CommandEntry


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_the_summary_is_the_first_paragraph_of_the_commands_own_help(entry: CommandEntry) -> None:
    first = (entry.loaded.help or "").strip().split("\n\n")[0]
    assert entry.summary == " ".join(first.split())
