"""The leaderboard as tables, for the console and for the accuracy card. Pure: figures to words."""

import re
from collections.abc import Iterator
from typing import Any

from benchmarks.accuracy.figures import Share

type Document = dict[str, Any]
type Rows = list[tuple[str, ...]]
type Section = tuple[str, tuple[str, ...], Rows]

FILES = "Leaderboard: which recordings"
_SEGMENTS = "Leaderboard: where in the recordings"
_EDITS = "Leaderboard: recall by what was done to a clip"
_TOOLS = "Leaderboard: the tools"
_TITLES = frozenset({FILES, _SEGMENTS, _EDITS, _TOOLS})
_FILES_HEAD = (
    "queries", "tool", "recall", "precision", "first right", "negatives accepted",
    "recall at precision 0.99",
)  # fmt: skip
_SEGMENTS_HEAD = ("queries", "tool", "found at the right place", "median error", "seconds covered")
_METHOD = """`make leaderboard` measures this: every tool stores the same {references} references
and searches for the same queries, and one scorer judges what it reports. The levels are those of
Pex's [Audio Fingerprinting Benchmark Toolkit][toolkit], as its documentation and defaults state
them, rebuilt without its code on real, freely licensed recordings (`make setup-bench-audio`).
Queries are made of {queried} of the references, all of the reported part. A *clip* is a piece of
4.5 to 30 s with at most one edit and perhaps noise, about {clips} at each level. A *medley* joins
three or more clips, as the toolkit's queries do. *Negatives* are queries made in the same way of
{negatives} recordings that are not stored.

- **easy**: high-pass from 100 to 400 Hz, low-pass from 3 to 10 kHz, pitch, tempo or both (standard
  deviation 4 %), noise at a signal-to-noise ratio of 10 or 15 dB; joined end to end.
- **medium**: also echo of 10 to 500 ms; pitch and tempo 12 %; noise from 5 dB; also crossfades and
  overlaps of 2 to 5 s.
- **hard**: also reverb; pitch and tempo 25 %; noise from 0 dB.

Unlike the toolkit: references are mono sounds of at most 60 s, because the matcher uses no more;
its recorded noises are a generated crowd, its reverb is a room of 2.5 s, its loudness filter is a
plain level; negatives and first detections are additions. Of a medley, too, the matcher uses 60 s;
the other tools use all of it.

A piece is found if its recording is among the accepted detections of its query. Precision is the
share of accepted detections that are right, in queries of references. *First right* counts queries
whose surest detection is right. Acceptance is the tool's own verdict. Chromaprint has none: its
figures are at its best threshold on these very queries, which favours it. The last column uses the
best threshold of precision 0.99 for every tool. A place is right if the recording is heard where
the detection says, within a second; in music that repeats, another repetition counts as wrong.
Brackets contain Wilson's 95 % interval.

[toolkit]: https://github.com/Pexeso/audio-fingerprinting-benchmark-toolkit"""


def sections(document: Document) -> list[Section]:
    """Return title, head and rows of each table."""
    tools = document["tools"]
    return [
        (FILES, _FILES_HEAD, list(_file_rows(tools))),
        (_SEGMENTS, _SEGMENTS_HEAD, list(_segment_rows(tools))),
        (_EDITS, ("clips", *(tool["name"] for tool in tools.values())), _edit_rows(tools)),
        (_TOOLS, ("tool", "version", "how it is used", "command"), _tool_rows(document)),
    ]


def method(document: Document) -> str:
    """Return what was measured, in words."""
    return _METHOD.format(**document["counts"])


def texts_of(card: str) -> dict[str, str]:
    """Return the sections of the leaderboard in a card that was written before, by title.

    Its measurement takes hours, and it names the revision that was measured. So the sections stay
    where only the rest of the card was measured anew.
    """
    sections = (section.rstrip() for section in re.split(r"^(?=## )", card, flags=re.MULTILINE))
    by_title = {section.partition("\n")[0].removeprefix("## "): section for section in sections}
    return {title: text for title, text in by_title.items() if title in _TITLES}


def _by_queries(tools: Document) -> Iterator[tuple[str, str, Document]]:
    """Yield queries, tool and figures: all tools for the same queries together."""
    for rows in zip(*(tool["rows"] for tool in tools.values()), strict=True):
        for tool, row in zip(tools.values(), rows, strict=True):
            yield f"{row['level']} {row['form']}s", tool["name"], row


def _file_rows(tools: Document) -> Iterator[tuple[str, ...]]:
    names = ("recall", "precision", "first", "negatives", "recall_at_precision")
    for queries, tool, row in _by_queries(tools):
        yield queries, tool, *(_with_interval(row[name]) for name in names)


def _segment_rows(tools: Document) -> Iterator[tuple[str, ...]]:
    for queries, tool, row in _by_queries(tools):
        error_s = row["median_error_s"]
        error = "nothing found" if error_s is None else f"{1000 * error_s:.0f} ms"
        covered = f"{100 * row['covered']:.0f} %"
        yield queries, tool, _with_interval(row["placed"]), error, covered


def _edit_rows(tools: Document) -> Rows:
    by_tool = [_edits_of_clips(tool) for tool in tools.values()]
    labels = sorted({label for edits in by_tool for label in edits})
    return [(label, *(_with_interval(edits[label]) for edits in by_tool)) for label in labels]


def _edits_of_clips(tool: Document) -> Document:
    sums: Document = {}
    for row in tool["rows"]:
        if row["form"] == "clip":
            for label, (hits, total) in row["edits"].items():
                share = sums.setdefault(label, {"hits": 0, "total": 0})
                share["hits"] += hits
                share["total"] += total
    return sums


def _tool_rows(document: Document) -> Rows:
    rows: Rows = [
        (tool["name"], tool["version"], tool["how"], f"`{tool['command']}`")
        for tool in document["tools"].values()
    ]
    left_out = document["left_out"].items()
    return rows + [(name, "not measured", reason, "") for name, reason in left_out]


def _with_interval(counts: Document) -> str:
    share = Share(hits=counts["hits"], total=counts["total"])
    if not share.total:
        return "none"
    low, high = share.interval
    return f"{share.value:.2f} [{low:.2f}, {high:.2f}] of {share.total}"
