"""The mutants of one module: what each would change, and its source."""

import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from benchmarks.mutants.operators import OPERATORS
from benchmarks.mutants.places import excluded_spans, is_excluded

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Mutant:
    """One change to one module: the so-manieth place of an operator."""

    path: str
    line: int
    operator: int
    occurrence: int
    original: str = field(repr=False)

    @cached_property
    def source(self) -> str:
        """The module with the change in it."""
        changed = mutate_code(self.original, OPERATORS[self.operator], self.occurrence)
        if changed is None:
            raise LookupError(f"no such mutant of {self.path}")
        return str(changed)

    @cached_property
    def change(self) -> tuple[str, str]:
        """The lines before and after, each without its indentation and joined."""
        before = self.original.splitlines()
        after = self.source.splitlines()
        begins = _same(before, after)
        ends = _same(before[begins:][::-1], after[begins:][::-1])
        return _joined(before[begins : len(before) - ends]), _joined(
            after[begins : len(after) - ends]
        )

    def __str__(self) -> str:
        before, after = self.change
        return f"{self.path}:{self.line}\n    - {before}\n    + {after}"


@dataclass(frozen=True)
class Equivalent:
    """A mutant that behaves as the original does: no test can notice it."""

    path: str
    before: str
    after: str
    reason: str

    def is_of(self, mutant: Mutant) -> bool:
        """Whether this is the mutant; looks at its line first, because making it takes time."""
        if mutant.path != self.path:
            return False
        line = mutant.original.splitlines()[mutant.line - 1]
        return line.strip() in self.before and mutant.change == (self.before, self.after)


def to_module_name(path: str) -> str:
    """The dotted name that an import asks for."""
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def equivalent_ones() -> list[Equivalent]:
    """The entries of `equivalent.toml`."""
    text = Path(__file__).with_name("equivalent.toml").read_text(encoding="utf-8")
    return [Equivalent(**entry) for entry in tomllib.loads(text).get("mutant", [])]


def mutants_of(path: str) -> list[Mutant]:
    """All mutants of a module, in the order of its lines."""
    source = (ROOT / path).read_text(encoding="utf-8")
    excluded = excluded_spans(source)
    found = []
    seen: dict[int, int] = {}
    for node in _nodes(source):
        for number, operator in enumerate(OPERATORS):
            for span in operator.mutation_positions(node):
                occurrence = seen.get(number, 0)
                seen[number] = occurrence + 1
                if not is_excluded(span, excluded):
                    found.append(Mutant(path, span[0][0], number, occurrence, source))
    return sorted(found, key=lambda mutant: (mutant.line, mutant.operator, mutant.occurrence))


def _same(left: list[str], right: list[str]) -> int:
    """How many lines are equal from the first on."""
    pairs = zip(left, right, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _joined(lines: list[str]) -> str:
    return " ".join(line.strip() for line in lines)


def _nodes(source: str) -> list[Any]:
    # a string on a line of its own is walked too: the count of occurrences is cosmic-ray's
    return list(ast_nodes(get_ast(source)))
