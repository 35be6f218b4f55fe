"""Applies a YAML file to the stored watchlists. The whole file is checked before any change."""

from typing import Literal, TypedDict

from api.services.watchlists.service import WatchlistService
from api.services.watchlists.yaml_files import FilePlan, read_watch_file
from warehouse.records.errors import InputError, InvalidParameterError
from warehouse.records.watchlists import WatchlistPlan


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
