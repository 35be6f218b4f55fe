"""The mutation gate changes what matters, leaves alone what does not, and names real tests."""

from pathlib import Path

import pytest
from cosmic_ray.mutating import mutate_code

from benchmarks.mutants.modules import MODULES
from benchmarks.mutants.mutants import ROOT, equivalent_ones, mutants_of
from benchmarks.mutants.operators import OPERATORS
from benchmarks.mutants.places import excluded_spans, is_excluded


def changes(source: str) -> set[str]:
    """Every mutant of a source, without the blanks."""
    found = set()
    for operator in OPERATORS:
        occurrence = 0
        while (changed := mutate_code(source, operator, occurrence)) is not None:
            found.add(changed.replace(" ", "").strip())
            occurrence += 1
    return found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a = b + c", {"a=b-c"}),
        ("a = b <= c", {"a=b<c", "a=b>c"}),
        ("a = b and c", {"a=borc"}),
        ("a = b in c", {"a=bnotinc"}),
        ("a = b not in c", {"a=binc"}),
        ("a = (b, c)", {"a=(b,)", "a=(c,)"}),
        ("a = {b, c}", {"a={b,}", "a={c}"}),
        ("a = b(c=d, e=f)", {"a=b(c=d,)", "a=b(e=f)"}),
        ("a.b(c)", {"pass"}),
        ("a[b] = c", {"pass"}),
        ("a = 7", {"a=8", "a=6"}),
        ("a = 0.5", {"a=0.65", "a=0.35"}),
        ("a = min(b)", {"a=max(b)"}),
        ("a = x['one'], y['two']", {"a=x['two'],y['two']", "a=x['one'],y['one']"}),
        ("def f(*, a, **b): ...", set()),
        ("a = [b for b in c]", set()),
    ],
)
def test_each_operator_makes_the_slip_that_it_is_for(source: str, expected: set[str]) -> None:
    assert changes(source + "\n") == expected


LEFT_ALONE = '''
"""A charter."""
from typing import TYPE_CHECKING, Literal
__all__ = ["work", "rest"]
Kind = Literal["one", "two"]
@dataclass(frozen=True)
class Work:
    count: int | None
    def named(self, other: "Work") -> "Work | None":
        assert self.count == 3
        log.info("read", count=7)
        raise Refused(hint="Ask again", why=f"of {other}")
'''


def test_mutation_gate_excludes_types_assertions_and_log_lines() -> None:
    excluded = excluded_spans(LEFT_ALONE)
    line = LEFT_ALONE.splitlines().index
    for text, column in [
        ('__all__ = ["work", "rest"]', 11), ('Kind = Literal["one", "two"]', 15),
        ("@dataclass(frozen=True)", 18), ("    count: int | None", 15),
        ("        assert self.count == 3", 26), ('        log.info("read", count=7)', 31),
        ('        raise Refused(hint="Ask again", why=f"of {other}")', 22),
    ]:  # fmt: skip
        place = (line(text) + 1, column)
        assert is_excluded((place, place), excluded), text


def test_columns_are_counted_in_characters() -> None:
    source = 'def f(name="作品", *, other: int | None): pass\n'
    assert [source[start[1] : end[1]] for start, end in excluded_spans(source)] == ["int | None"]


def test_the_table_names_modules_and_tests_that_exist() -> None:
    named = [Path(path) for path in MODULES] + [Path(t) for ts in MODULES.values() for t in ts]
    assert [path for path in named if not (ROOT / path).is_file()] == []


def test_every_mutant_that_is_let_off_says_why() -> None:
    assert [entry for entry in equivalent_ones() if len(entry.reason) < 20] == []


@pytest.mark.soak
def test_every_mutant_that_is_let_off_is_one_of_its_module() -> None:
    """An entry goes stale when its line changes, and would let off nothing."""
    entries = equivalent_ones()
    mutants = {path: mutants_of(path) for path in {entry.path for entry in entries}}
    unfit = [one for one in entries if not any(one.is_of(mutant) for mutant in mutants[one.path])]
    assert unfit == []
