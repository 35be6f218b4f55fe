"""What `make follow-readme` runs: which blocks, as which commands, with which exit status."""

import shlex

from tests.follow_pages import commands_of, stated_status, steps
from tests.house.page_examples import ROOT, Example, has_placeholder


def test_readme_comes_first_and_every_page_has_its_five_minutes_alone() -> None:
    pages = [block.page for block in steps(ROOT)]
    assert pages[0] == "README.md"
    assert {
        "docs/analysis.md", "docs/api-guide.md", "docs/catalog.md", "docs/chart.md",
        "docs/reports.md", "docs/watchlists.md",
    } == {*pages} - {"README.md"}  # fmt: skip
    assert len(pages) < 15


def test_every_step_can_be_typed_as_it_stands() -> None:
    commands = [
        command for block in steps(ROOT) if block.kind == "sh" for command in commands_of(block)
    ]
    assert len(commands) > 20
    words = [
        [word for word in shlex.split(each, comments=True) if word != "POST"] for each in commands
    ]
    assert [each for each in words if has_placeholder(each)] == []
    programs = {each[0] for each in words}
    assert programs == {"make", "curl", ".venv/bin/sametrack"}


def test_continued_lines_are_one_command_and_a_program_is_one() -> None:
    shell = Example("page", 1, "sh", "curl a \\\n  -d b\n\nmake c\n")
    assert commands_of(shell) == ["curl a \\\n  -d b", "make c"]
    assert commands_of(Example("page", 1, "python", "a\nb\n")) == ["a\nb\n"]


def test_a_page_may_state_an_exit_status() -> None:
    assert stated_status("sametrack doctor   # exit status 3: no surface answers") == 3
    assert stated_status("sametrack doctor   # checks 3 surfaces") == 0
