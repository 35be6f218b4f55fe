"""The coverage ledger: what each source was asked, what it gave and why we stopped."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCoverage:
    """One source of a job. `stop_reason` is never empty: every stop has a reason."""

    surface: str
    requests: int
    pages: int
    items: int
    new_items: int
    stop_reason: str


def merged(entries: list[SourceCoverage]) -> list[SourceCoverage]:
    """Add up entries of the same surface and stop reason, keeping first-seen order."""
    totals: dict[tuple[str, str], SourceCoverage] = {}
    for entry in entries:
        key = (entry.surface, entry.stop_reason)
        before = totals.get(key)
        totals[key] = entry if before is None else _sum(before, entry)
    return list(totals.values())


def _sum(left: SourceCoverage, right: SourceCoverage) -> SourceCoverage:
    return SourceCoverage(
        surface=left.surface,
        requests=left.requests + right.requests,
        pages=left.pages + right.pages,
        items=left.items + right.items,
        new_items=left.new_items + right.new_items,
        stop_reason=left.stop_reason,
    )
