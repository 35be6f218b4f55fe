"""Watchlists in a YAML file: every error names its line, and nothing changes before all is checked.

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
from warehouse.records.errors import InputError, InvalidParameterError, SametrackError
from warehouse.records.watchlists import ENTRY_KINDS, WatchlistPlan

MAX_FILE_BYTES = 1_000_000
_TOP = "watchlists"
_GROUPS = {f"{kind}s": kind for kind in ENTRY_KINDS}
"""Keys of the entry lists in a file: `tracks`, `accounts`, `hashtags`."""

_FIELDS = ("name", "every", *_GROUPS, "thresholds", "parameters", "enabled")
_HINT = "See docs/watchlists.md for a complete file"

type _NodePath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class FilePlan:
    """A plan and the line where it starts."""

    plan: WatchlistPlan
    line: int


def read_watch_file(text: str) -> list[FilePlan]:
    """Return the plans of a file in their order.

    Raises:
        InvalidParameterError: The file is invalid; `detail` starts with the line.
    """
    root = _compose(text)
    if not isinstance(root, yaml.MappingNode):
        raise _file_error(root, f"the file must start with `{_TOP}:`")
    fields = _fields(root, (_TOP,), at="the file")
    listed = fields.get(_TOP)
    if not isinstance(listed, yaml.SequenceNode):
        raise _file_error(listed or root, f"`{_TOP}` must be a list of watchlists")
    found: dict[str, FilePlan] = {}
    for node in listed.value:
        filed = FilePlan(_to_plan(node), _line(node))
        if filed.plan.name in found:
            first = found[filed.plan.name].line
            raise _file_error(node, f"`name`: {filed.plan.name!r} is already used in line {first}")
        found[filed.plan.name] = filed
    return list(found.values())


def _compose(text: str) -> yaml.Node:
    if len(text.encode()) > MAX_FILE_BYTES:
        raise InvalidParameterError("the file is larger than 1 MB", hint=_HINT)
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):  # a recursive alias would never end
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
        raise _validation_error(error, lines) from error


def _entries(fields: Mapping[str, yaml.Node], lines: dict[_NodePath, int]) -> list[dict[str, str]]:
    """Return the entries of all groups; ids and links as text, whatever type YAML infers."""
    found: list[dict[str, str]] = []
    for group, kind in _GROUPS.items():
        node = fields.get(group)
        if node is None:
            continue
        if not isinstance(node, yaml.SequenceNode):
            raise _file_error(node, f"`{group}` must be a list of ids or links")
        for child in node.value:
            if not isinstance(child, yaml.ScalarNode):
                raise _file_error(child, f"`{group}` must be a list of ids or links")
            lines["entries", len(found)] = _line(child)
            found.append({"kind": kind, "input": child.value})
    return found


def _value(node: yaml.Node, place: _NodePath, lines: dict[_NodePath, int]) -> object:
    """Return plain values and record the line of each by its path."""
    lines[place] = _line(node)
    if isinstance(node, yaml.MappingNode):
        children = _fields(node, None, at=str(place[-1]))
        return {name: _value(child, (*place, name), lines) for name, child in children.items()}
    if isinstance(node, yaml.SequenceNode):
        return [_value(child, (*place, number), lines) for number, child in enumerate(node.value)]
    try:
        return yaml.SafeLoader("").construct_object(node)
    except (yaml.YAMLError, ValueError) as error:
        raise _file_error(node, f"{node.value!r} is not a valid value") from error


def _fields(
    node: yaml.MappingNode, known: tuple[str, ...] | None, *, at: str
) -> dict[str, yaml.Node]:
    """Return the fields of a mapping; duplicate and unknown keys are errors."""
    found: dict[str, yaml.Node] = {}
    for key, child in node.value:
        name = str(key.value)
        if name in found:
            raise _file_error(key, f"`{name}` appears twice in {at}")
        if known is not None and name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            advice = f"did you mean `{near[0]}`?" if near else f"known fields: {', '.join(known)}"
            raise _file_error(key, f"`{name}` is not a field of {at}; {advice}")
        found[name] = child
    return found


def _validation_error(error: ValidationError, lines: Mapping[_NodePath, int]) -> SametrackError:
    """Return the first validation error with the line of the nearest element in the file."""
    wrong = error.errors()[0]
    place: _NodePath = tuple(wrong["loc"])
    near = place
    while near not in lines:
        near = near[:-1]
    name = ".".join(map(str, place))
    message = wrong["msg"][0].lower() + wrong["msg"][1:]
    return InvalidParameterError(f"line {lines[near]}: `{name}`: {message}", hint=_HINT)


def _file_error(where: yaml.Node | yaml.Event, what: str) -> InvalidParameterError:
    return InvalidParameterError(f"line {_line(where)}: {what}", hint=_HINT)


def _line(where: yaml.Node | yaml.Event) -> int:
    mark = where.start_mark
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


def apply_file(
    kept_lists: WatchlistService, text: str, *, prune: bool, dry_run: bool
) -> FileChanges:
    """Make the stored watchlists match the file.

    Raises:
        InvalidParameterError: The file is invalid, with the line; nothing was changed.
    """
    filed = read_watch_file(text)
    for one in filed:
        _check(kept_lists, one)
    kept = kept_lists.plans()
    changes = [_change(one.plan, kept.get(one.plan.name)) for one in filed]
    named = {one.plan.name for one in filed}
    changes += [
        {"name": name, "what": "removed" if prune else "kept", "fields": []}
        for name in kept
        if name not in named
    ]
    if not dry_run:
        _apply_changes(kept_lists, {one.plan.name: one.plan for one in filed}, changes)
    return {"changes": changes, "dry_run": dry_run}


def _check(kept_lists: WatchlistService, filed: FilePlan) -> None:
    try:
        kept_lists.check(filed.plan)
    except InputError as error:
        detail = f"line {filed.line}: {filed.plan.name}: {error.detail}"
        raise InvalidParameterError(detail, hint=error.hint) from error


def _change(plan: WatchlistPlan, before: WatchlistPlan | None) -> FileChange:
    if before is None:
        return {"name": plan.name, "what": "added", "fields": []}
    old, new = before.to_document(), plan.to_document()
    fields = [name for name, value in new.items() if old[name] != value]
    return {"name": plan.name, "what": "changed" if fields else "unchanged", "fields": fields}


def _apply_changes(
    kept_lists: WatchlistService, plans: dict[str, WatchlistPlan], changes: list[FileChange]
) -> None:
    for change in changes:
        name = change["name"]
        if change["what"] == "added":
            kept_lists.create(plans[name])
        elif change["what"] == "changed":
            kept_lists.replace(plans[name])
        elif change["what"] == "removed":
            kept_lists.delete(name)
