"""Where a module is not mutated, because no test should care.

- annotations, `Literal[...]`, type aliases, the first argument of `cast`, and what stands under
  `if TYPE_CHECKING`: the type checker holds these, nothing runs them;
- docstrings, `__all__`, and texts for people: whatever has a blank in it or is not ASCII is prose
  and no name (`operators.IDENTIFIER`), and a keyword argument that holds prose is not left out;
- what a log is told, and an `assert`, which states what cannot happen;
- decorators: `@dataclass(frozen=True, slots=True)` says how a record is declared, not what it does.
  The body of what is decorated is mutated.
"""

import ast
from collections.abc import Iterator

from benchmarks.mutants.operators import Span

LOGS = frozenset({"log", "_log", "logger", "LOG"})
EVERYTHING_OF = (ast.Assert, ast.TypeAlias)


def excluded_spans(source: str) -> list[Span]:
    """The stretches of a module that stay as they are, in parso's lines and columns."""
    lines = source.splitlines()

    def place(line: int, column: int) -> tuple[int, int]:
        # ast counts bytes, parso characters
        return line, len(lines[line - 1].encode()[:column].decode())

    return [
        (
            place(node.lineno, node.col_offset),
            place(node.end_lineno or node.lineno, node.end_col_offset or 0),
        )
        for top in ast.walk(ast.parse(source))
        for node in _excluded_parts(top)
    ]


def is_excluded(span: Span, excluded: list[Span]) -> bool:
    """True when the stretch lies within one that stays as it is."""
    return any(start <= span[0] and span[1] <= end for start, end in excluded)


def _excluded_parts(node: ast.AST) -> Iterator[ast.expr | ast.stmt | ast.arg | ast.keyword]:
    yield from getattr(node, "decorator_list", [])
    if isinstance(node, EVERYTHING_OF):
        yield node
    if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        yield from node.body
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
        yield node
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield node
    yield from _annotations(node)
    yield from _parts_of_call(node)


def _annotations(node: ast.AST) -> Iterator[ast.expr]:
    for name in ("annotation", "returns"):
        found = getattr(node, name, None)
        if found is not None:
            yield found
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) in {"Literal", "Callable"}:
        yield node


def _parts_of_call(node: ast.AST) -> Iterator[ast.expr | ast.keyword]:
    if not isinstance(node, ast.Call):
        return
    name = ast.unparse(node.func)
    if name.split(".")[0] in LOGS:
        yield node
    if name == "cast":
        yield node.args[0]
    yield from (keyword for keyword in node.keywords if _is_prose(keyword.value))


def _is_prose(node: ast.expr) -> bool:
    if isinstance(node, ast.JoinedStr):
        return True
    text = node.value if isinstance(node, ast.Constant) else None
    return isinstance(text, str) and (" " in text or not text.isascii())
