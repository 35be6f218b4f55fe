"""Coverage of a job: what each source was asked, what it returned and why reading stopped."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCoverage:
    """One source of a job. Every stop has a reason, so `stop_reason` is never empty."""

    surface: str
    requests: int
    pages: int
    items: int
    new_items: int
    stop_reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListGenuineShare:
    """Rows of a music list whose music is known, and how many of them use the list's music id."""

    music_id: str
    rows: int
    own_rows: int


def merge_coverage(entries: list[SourceCoverage]) -> list[SourceCoverage]:
    """Sum entries with the same surface and stop reason, in the order they first appear."""
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
