"""The page on providers shows the table of sources as it is declared."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers.chart_public import CHART_ISSUES, CHART_LATEST, CHART_SONGS
from pipelines.platform.sources.table import QUESTIONS, Question

PAGE = Path(__file__).parents[3] / "docs" / "providers.md"


def rows(question: Question[Any, Any], profile: PlatformProfile) -> Iterator[str]:
    """Return the rows of a question; a source that gives every field gives `all`."""
    for place, one in enumerate(question.sources):
        host = next(name for name, value in profile.hosts if value == profile.host_of(one.surface))
        missing = sorted(question.fields - one.gives)
        gives = "all" if not missing else f"all but {', '.join(f'`{name}`' for name in missing)}"
        notes = [f"{one.pages} pages"] if one.pages != "all" else []
        notes += ["`vidplat-web` only"] if one.is_web else []
        notes += [one.needs] if one.needs else []
        yield (
            f"| {f'`{question.name}`' if place == 0 else ''} | `{one.surface}` ({host}) | {gives} "
            f"| {one.prior:.0%} | {one.batch} | {'; '.join(notes)} |"
        )


def test_every_source_stands_on_the_page_in_its_declared_place(profile: PlatformProfile) -> None:
    questions: list[Question[Any, Any]] = [*QUESTIONS, CHART_ISSUES, CHART_LATEST, CHART_SONGS]
    declared = [row for question in questions for row in rows(question, profile)]
    shown = PAGE.read_text(encoding="utf-8").partition("### The table of sources")[2]
    table = [line for line in shown.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    assert table[1:] == declared
