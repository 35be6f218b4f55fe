"""The full range as rows of the accuracy card: families, and tools beside each other."""

from collections.abc import Sequence
from typing import Any

from benchmarks.accuracy.figures import Share
from benchmarks.accuracy.full_range.measuring import family_share

type Document = dict[str, Any]
type Rows = list[tuple[str, ...]]
FAMILY_HEAD = ("edit", "generated: found", "by value", "real: found", "by value")
APART_HEAD = (
    "different, yet compared", "generated: accepted", "of it confirmed", "part named",
    "real: accepted", "of it confirmed", "part named",
)  # fmt: skip
_WORDS = {
    "first": "earlier release", "chromaprint": "Chromaprint", "landmarks": "landmarks (audfprint2)",
}  # fmt: skip


def shown(share: Share, digits: int = 3) -> str:
    """A share with Wilson's 95 % interval."""
    if not share.total:
        return "not measured"
    low, high = (f"{bound:.{digits}f}" for bound in share.interval)
    return f"{share.value:.{digits}f} [{low}, {high}] of {share.total:,}"


def family_rows(*sides: Document) -> Rows:
    """One row per family of edits that should be found, with two cells for each side."""
    return [
        (
            name,
            *(
                cell for side in sides
                for cell in (
                    shown(family_share(side.get("families", {}), name)),
                    _by_value(side.get("families", {}).get(name, {"labels": {}})["labels"]),
                )
            ),
        )
        for name in _names(sides, is_apart=False)
    ]  # fmt: skip


def apart_rows(*sides: Document) -> Rows:
    """One row per family that must be rejected, with three cells for each side: accepted, of it
    confirmed, and how many are told what they share."""
    return [(name, *(cell for side in sides for cell in _apart(side, name)))
            for name in _names(sides, is_apart=True)]  # fmt: skip


def _apart(side: Document, name: str) -> tuple[str, str, str]:
    accepted = family_share(side.get("families", {}), name)
    if not accepted.total:
        return shown(accepted), "", ""
    confirmed, named = (family_share(side.get(of, {}), name) for of in ("confirmed", "named"))
    return shown(accepted), str(confirmed.hits), str(named.hits)


def _names(sides: Sequence[Document], *, is_apart: bool) -> list[str]:
    return list(dict.fromkeys(
        name for side in sides for name, family in side.get("families", {}).items()
        if (family["truth"] == "different") == is_apart
    ))  # fmt: skip


def tool_rows(measured: Document) -> tuple[tuple[str, ...], Rows]:
    """Recall of each tool by family, each at its best threshold of precision 0.99 here."""
    tools = measured["others"]
    head = ("recall", "matcher", *(_WORDS[name] for name in tools))
    rows: Rows = []
    for name, family in measured["families"].items():
        if family["truth"] == "different":
            continue
        shares = [family_share(one["families"], name) for one in tools.values()]
        cells = (f"{one.value:.2f}" for one in (family_share(measured["families"], name), *shares))
        rows.append((f"{name} ({family_share(measured['families'], name).total})", *cells))
    thresholds = (f"{one['threshold']:.3g}" for one in tools.values())
    rows.append(("accepted from a score of", "0.65", *thresholds))
    return head, rows


def _by_value(labels: Document) -> str:
    return ", ".join(
        f"{label}: {one['hits']} of {one['total']}" if label else f"{one['hits']} of {one['total']}"
        for label, one in labels.items()
    )
