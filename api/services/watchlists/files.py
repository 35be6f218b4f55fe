"""Watchlists in a YAML file: all of it is checked before a change, and errors name their line.

Inputs are taken literally, so that 19 digits stay 19 digits. Not here: stored watchlists.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, TypedDict

import yaml
from pydantic import ValidationError

from api.params.watchlists import WatchlistBody
from api.services.watchlists.service import WatchlistService
from warehouse.records.errors import InputError, InvalidParameterError
from warehouse.records.watchlists import ENTRY_KINDS, WatchlistPlan

MAX_FILE_BYTES = 1_000_000
_TOP = "watchlists"
_GROUPS = {f"{kind}s": kind for kind in ENTRY_KINDS}
"""Keys of the entry lists in a file: `tracks`, `accounts`, `hashtags`."""

# A file has a list per kind in place of the field `entries`.
_FIELDS = tuple(
    name
    for field in WatchlistBody.model_fields
    for name in (_GROUPS if field == "entries" else (field,))
)
_HINT = "See docs/watchlists.md for a complete file"

type _NodePath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class FilePlan:
    """A plan and the line where it starts."""

    plan: WatchlistPlan
    line: int


def read_watchlist_file(text: str) -> list[FilePlan]:
    """Return the plans of a file in their order.

    Raises:
        InvalidParameterError: The file is invalid; `detail` starts with the line.
    """
    root = _parse_yaml(text)
    if not isinstance(root, yaml.MappingNode):
        raise _file_error(root, f"the file must start with `{_TOP}:`")
    top = _fields(root, (_TOP,), at="the file").get(_TOP)
    if not isinstance(top, yaml.SequenceNode):
        raise _file_error(top or root, f"`{_TOP}` must be a list of watchlists")
    plans: dict[str, FilePlan] = {}
    for node in top.value:
        plan = _to_plan(node)
        if plan.name in plans:
            first = plans[plan.name].line
            raise _file_error(node, f"`name`: {plan.name!r} is already used in line {first}")
        plans[plan.name] = FilePlan(plan, _line(node))
    return list(plans.values())


def _parse_yaml(text: str) -> yaml.Node:
    if len(text.encode()) > MAX_FILE_BYTES:
        raise InvalidParameterError("the file is larger than 1 MB", hint=_HINT)
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            # An alias may contain itself, and a few of them can stand for millions of values.
            if isinstance(event, yaml.AliasEvent):
                raise _file_error(event, "aliases (`*name`) are not supported")
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = 1 if error.problem_mark is None else error.problem_mark.line + 1
        raise InvalidParameterError(f"line {line}: {error.problem}", hint=_HINT) from error
    except yaml.YAMLError as error:
        raise InvalidParameterError("the file is not valid YAML", hint=_HINT) from error
    if root is None:
        raise InvalidParameterError("line 1: the file is empty", hint=_HINT)
    return root


def _to_plan(node: yaml.Node) -> WatchlistPlan:
    if not isinstance(node, yaml.MappingNode):
        raise _file_error(node, "a watchlist must have `name`, `every` and entries")
    fields = _fields(node, _FIELDS, at="a watchlist")
    lines: dict[_NodePath, int] = {(): _line(node)}
    document = {
        name: _value(child, (name,), lines) for name, child in fields.items() if name not in _GROUPS
    }
    document["entries"] = _entries(fields, lines)
    if isinstance(fields.get("name"), yaml.ScalarNode):
        document["name"] = fields["name"].value  # a name such as 2026 is text
    try:
        return WatchlistBody.model_validate(document).to_plan()
    except ValidationError as error:
        # Name the line of the nearest element: a missing field has none of its own.
        problem = error.errors()[0]
        path: _NodePath = tuple(problem["loc"])
        nearest = path
        while nearest not in lines:
            nearest = nearest[:-1]
        name = ".".join(map(str, path))
        message = problem["msg"][0].lower() + problem["msg"][1:]
        detail = f"line {lines[nearest]}: `{name}`: {message}"
        raise InvalidParameterError(detail, hint=_HINT) from error


def _entries(fields: Mapping[str, yaml.Node], lines: dict[_NodePath, int]) -> list[dict[str, str]]:
    """Return the entries of all groups; ids and links as text, whatever type YAML infers."""
    entries: list[dict[str, str]] = []
    for group, kind in _GROUPS.items():
        node = fields.get(group)
        if node is None:
            continue
        if not isinstance(node, yaml.SequenceNode):
            raise _file_error(node, f"`{group}` must be a list of ids or links")
        for child in node.value:
            if not isinstance(child, yaml.ScalarNode):
                raise _file_error(child, f"`{group}` must be a list of ids or links")
            lines["entries", len(entries)] = _line(child)
            entries.append({"kind": kind, "input": child.value})
    return entries


def _value(node: yaml.Node, path: _NodePath, lines: dict[_NodePath, int]) -> object:
    """Return plain values and record the line of each by its path."""
    lines[path] = _line(node)
    if isinstance(node, yaml.MappingNode):
        children = _fields(node, None, at=str(path[-1]))
        return {name: _value(child, (*path, name), lines) for name, child in children.items()}
    if isinstance(node, yaml.SequenceNode):
        return [_value(child, (*path, number), lines) for number, child in enumerate(node.value)]
    try:
        return yaml.SafeLoader("").construct_object(node)
    except (yaml.YAMLError, ValueError) as error:
        raise _file_error(node, f"{node.value!r} is not a valid value") from error


def _fields(
    node: yaml.MappingNode, names: tuple[str, ...] | None, *, at: str
) -> dict[str, yaml.Node]:
    """Return the fields of a mapping; duplicate keys and keys outside of `names` are errors."""
    fields: dict[str, yaml.Node] = {}
    for key, child in node.value:
        name = str(key.value)
        if name in fields:
            raise _file_error(key, f"`{name}` appears twice in {at}")
        if names is not None and name not in names:
            similar = get_close_matches(name, names, n=1, cutoff=0.5)
            advice = (
                f"did you mean `{similar[0]}`?" if similar else f"known fields: {', '.join(names)}"
            )
            raise _file_error(key, f"`{name}` is not a field of {at}; {advice}")
        fields[name] = child
    return fields


def _file_error(element: yaml.Node | yaml.Event, problem: str) -> InvalidParameterError:
    return InvalidParameterError(f"line {_line(element)}: {problem}", hint=_HINT)


def _line(element: yaml.Node | yaml.Event) -> int:
    mark = element.start_mark
    return 1 if mark is None else int(mark.line) + 1


class FileChange(TypedDict):
    """What applying a file does to one watchlist; `kept` is not in the file and stays."""

    name: str
    what: Literal["added", "changed", "unchanged", "removed", "kept"]
    fields: list[str]


class FileChanges(TypedDict):
    """What applying a file does, or would do."""

    changes: list[FileChange]
    dry_run: bool


def apply_file(service: WatchlistService, text: str, *, prune: bool, dry_run: bool) -> FileChanges:
    """Make the stored watchlists match the file.

    Args:
        service: The stored watchlists.
        text: The file.
        prune: Remove stored watchlists that the file does not name.
        dry_run: Return the changes without making them.

    Raises:
        InvalidParameterError: The file is invalid, with the line; nothing was changed.
    """
    file_plans = read_watchlist_file(text)
    for file_plan in file_plans:
        try:
            service.check(file_plan.plan)
        except InputError as error:
            detail = f"line {file_plan.line}: {file_plan.plan.name}: {error.detail}"
            raise InvalidParameterError(detail, hint=error.hint) from error

    # Compare with what is stored, in the order of the file; then what the file does not name.
    plans = {file_plan.plan.name: file_plan.plan for file_plan in file_plans}
    stored_plans = service.plans()
    changes: list[FileChange] = []
    for name, plan in plans.items():
        stored = stored_plans.get(name)
        if stored is None:
            changes.append({"name": name, "what": "added", "fields": []})
            continue
        old, new = stored.to_document(), plan.to_document()
        fields = [field for field, value in new.items() if old[field] != value]
        what: Literal["changed", "unchanged"] = "changed" if fields else "unchanged"
        changes.append({"name": name, "what": what, "fields": fields})
    changes += [
        {"name": name, "what": "removed" if prune else "kept", "fields": []}
        for name in stored_plans
        if name not in plans
    ]

    for change in () if dry_run else changes:
        name = change["name"]
        if change["what"] == "added":
            service.create(plans[name])
        elif change["what"] == "changed":
            service.replace(plans[name])
        elif change["what"] == "removed":
            service.delete(name)
    return {"changes": changes, "dry_run": dry_run}
