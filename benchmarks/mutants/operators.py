"""The operators of the mutation gate: a choice of cosmic-ray's, and some more of its kind.

Of cosmic-ray's operators one or two replacements per sign are taken: twelve for each `+` would only
count the same lucky kill twelve times. Its set knows nothing of an element that is missing from a
tuple, of a name taken for its neighbour, or of a call that is never made; those are added here, as
subclasses of its `Operator`, because errors of that kind survived the most.
"""

import re
from collections.abc import Iterator
from typing import Any

from cosmic_ray.ast import get_ast
from cosmic_ray.operators import (
    binary_operator_replacement,
    boolean_replacer,
    break_continue,
    comparison_operator_replacement,
    number_replacer,
    unary_operator_replacement,
    zero_iteration_for_loop,
)
from cosmic_ray.operators.operator import Operator

Span = tuple[tuple[int, int], tuple[int, int]]
Node = Any  # parso's nodes are as dynamic as the grammar

CHOSEN_SIGNS = frozenset({
    "Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is", "Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt",
    "Gt_GtE", "Gt_LtE", "GtE_Gt", "GtE_Lt", "Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul",
    "FloorDiv_Div", "Mod_Mul", "Pow_Mul", "LShift_RShift", "RShift_LShift", "BitOr_BitAnd",
    "BitAnd_BitOr", "Delete_USub", "Delete_Not",
})  # fmt: skip
ARITHMETIC = frozenset({"arith_expr", "term", "expr", "and_expr", "shift_expr", "power"})
IDENTIFIER = re.compile(r"""^(["'])([A-Za-z0-9_.:-]+)\1$""")
TWINS = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}


class _Added(Operator):  # type: ignore[misc]  # cosmic-ray has no types
    @classmethod
    def examples(cls) -> tuple[()]:
        """Cosmic-ray shows examples in its own documents; ours are tests."""
        return ()


class BetweenOperands(_Added):
    """One of cosmic-ray's signs, where it stands between two values and not before an argument."""

    def __init__(self, sign: Operator) -> None:
        self._sign = sign

    def mutation_positions(self, node: Node) -> Iterator[Span]:
        if node.type == "operator" and node.parent.type in ARITHMETIC:
            yield from self._sign.mutation_positions(node)

    def mutate(self, node: Node, index: int) -> Node:
        return self._sign.mutate(node, index)


class DropElement(_Added):
    """Leave out one element of a tuple, list, set or dict, or one keyword argument of a call."""

    def mutation_positions(self, node: Node) -> Iterator[Span]:
        for element in _elements(node):
            yield element[0].start_pos, element[-1].end_pos

    def mutate(self, node: Node, index: int) -> Node:
        dropped = _elements(node)[index]
        kept = [child for child in node.children if not any(child is part for part in dropped)]
        text = "".join(child.get_code() for child in kept)
        text = re.sub(r",(\s*),", r",\1", text).lstrip(", ")  # the comma of what is gone
        if node.type == "testlist_comp" and "," not in text:
            text += ","  # a tuple of one stays a tuple
        return get_ast(text if text[:1].isspace() else " " + text)


class DropStatement(_Added):
    """Leave out a call made for its effect, or an assignment to what a name holds."""

    def mutation_positions(self, node: Node) -> Iterator[Span]:
        if node.type == "simple_stmt" and _has_effect(node.children[0]):
            yield node.children[0].start_pos, node.children[0].end_pos

    def mutate(self, node: Node, index: int) -> Node:
        node.children[0] = get_ast(node.children[0].get_first_leaf().prefix + "pass")
        return node


class TakeNeighbour(_Added):
    """Take a name in quotes for the next one of the same module, as a slip of the pen would."""

    def mutation_positions(self, node: Node) -> Iterator[Span]:
        if node.type == "string" and IDENTIFIER.match(node.value):
            yield node.start_pos, node.end_pos

    def mutate(self, node: Node, index: int) -> Node:
        names = list(dict.fromkeys(_names(node.get_root_node())))
        others = [name for name in names if name != node.value] or ['"another"']
        where = names.index(node.value) if node.value in names else 0
        node.value = others[where % len(others)]
        return node


class TakeTwin(_Added):
    """Take a function for its opposite: the least for the greatest, any for all."""

    def mutation_positions(self, node: Node) -> Iterator[Span]:
        if node.type == "name" and node.value in TWINS and node.parent.type != "import_from":
            yield node.start_pos, node.end_pos

    def mutate(self, node: Node, index: int) -> Node:
        twin = TWINS[node.value]
        node.value = f"__import__('math').{twin}" if twin in {"floor", "ceil"} else twin
        return node


class ReverseMembership(_Added):
    """Ask for `in` where `not in` was asked for, and the other way round."""

    def mutation_positions(self, node: Node) -> Iterator[Span]:
        if node.type == "comparison":
            for sign in _memberships(node):
                yield sign.start_pos, sign.end_pos

    def mutate(self, node: Node, index: int) -> Node:
        sign = _memberships(node)[index]
        reverse = " in" if sign.type == "comp_op" else " not in"
        node.children = [get_ast(reverse) if child is sign else child for child in node.children]
        return node


class MoveNumber(_Added):
    """Move a whole number by one, and any other by three tenths of itself."""

    def mutation_positions(self, node: Node) -> Iterator[Span]:
        if node.type == "number":
            yield node.start_pos, node.end_pos
            yield node.start_pos, node.end_pos

    def mutate(self, node: Node, index: int) -> Node:
        if float(eval(node.value)).is_integer():  # a literal of our own source
            return number_replacer.NumberReplacer().mutate(node, index)
        node.value = f"{eval(node.value) * (1.3, 0.7)[index]:.6g}"
        return node


def _elements(node: Node) -> list[list[Node]]:
    """The parts of a display or a call that can be left out, each with all of its tokens."""
    if node.type not in {"testlist_comp", "dictorsetmaker", "arglist"}:
        return []
    if any(child.type in {"comp_for", "sync_comp_for"} for child in node.children):
        return []
    groups: list[list[Node]] = [[]]
    for child in node.children:
        if child.type == "operator" and child.value == ",":
            groups.append([])
        else:
            groups[-1].append(child)
    return [group for group in groups if group and (node.type != "arglist" or _is_named(group[0]))]


def _is_named(node: Node) -> bool:
    return bool(
        node.type == "argument" and len(node.children) == 3 and node.children[1].value == "="
    )


def _has_effect(node: Node) -> bool:
    if node.type in {"atom_expr", "power"}:
        last = node.children[-1]
        return bool(last.type == "trailer" and last.children[0].value == "(")
    if node.type != "expr_stmt" or node.children[1].type == "annassign":
        return False
    is_part = node.children[0].type in {"atom_expr", "power"}
    return is_part or node.children[1].value != "="


def _memberships(node: Node) -> list[Node]:
    return [
        sign for sign in node.children[1::2] if sign.get_code().split() in (["in"], ["not", "in"])
    ]


def _names(node: Node) -> Iterator[str]:
    if node.type == "string" and IDENTIFIER.match(node.value):
        yield node.value
    for child in getattr(node, "children", ()):
        yield from _names(child)


def _sign(kind: type[Operator]) -> str:
    return kind.__name__.split("Operator_")[-1]


def _chosen() -> Iterator[Operator]:
    for kind in binary_operator_replacement.operators():
        if _sign(kind) in CHOSEN_SIGNS:
            yield BetweenOperands(kind())
    for module in (comparison_operator_replacement, unary_operator_replacement):
        yield from (kind() for kind in module.operators() if _sign(kind) in CHOSEN_SIGNS)
    yield boolean_replacer.AddNot()
    yield boolean_replacer.ReplaceTrueWithFalse()
    yield boolean_replacer.ReplaceFalseWithTrue()
    yield boolean_replacer.ReplaceAndWithOr()
    yield boolean_replacer.ReplaceOrWithAnd()
    yield break_continue.ReplaceBreakWithContinue()
    yield break_continue.ReplaceContinueWithBreak()
    yield zero_iteration_for_loop.ZeroIterationForLoop()


OPERATORS: tuple[Operator, ...] = (
    *_chosen(), MoveNumber(), DropElement(), DropStatement(), TakeNeighbour(), TakeTwin(),
    ReverseMembership(),
)  # fmt: skip
