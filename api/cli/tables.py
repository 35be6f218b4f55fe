"""A result as terminal tables: the ranking, the coverage ledger in plain words, the judgement.

Every text of a result passes `safe`. The same words are in the HTML report.
"""

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from api.cli.terminal import safe
from api.report import wording
from api.report.truth import Judgement
from pipelines.domain.documents import Document

CAPTION_LIMIT = 34
NAME_LIMIT = 16
LINK_STYLES = {
    "exact_music_id": "blue",
    "audio_fingerprint_match": "green",
    "verified_music_id_graph": "magenta",
}


def print_result(console: Console, result: Document, *, rows: int) -> None:
    """The whole result: heading, first `rows` of the ranking, ledger, notes."""
    if result["is_demo_data"]:
        print_banner(console)
    music = result["music"]
    console.print(
        f"[bold]{safe(music.get('title') or result['music_id'])}[/] "
        f"[dim]by {safe(music.get('author') or '—')} · {safe(result['music_id'])}[/]"
    )
    console.print(
        f"{wording.counted(result['confirmed_count'], 'confirmed work')} of "
        f"{wording.counted(result['candidate_pool_size'], 'candidate')}, by at least "
        f"{wording.counted(result['unique_account_count'], 'account')}; "
        f"{wording.counted(result['variants']['count'], 'variant')} at another speed or pitch"
    )
    print_ranking(console, result["aweme_list"][:rows])
    hidden = result["returned_count"] - rows
    if hidden > 0:
        console.print(f"[dim]… and {hidden:,} more[/]")
    if not result["count_satisfied"]:
        console.print(f"[yellow]{safe(result['count_note_zh'])}[/]", soft_wrap=True)
    print_ledger(console, result["coverage"])


def print_banner(console: Console) -> None:
    """Says that nothing here is real."""
    words = wording.DEMO_BANNER
    console.print(f"[black on yellow] {words.en} [/] [yellow]{words.zh}[/]")


def print_ranking(console: Console, videos: list[Document]) -> None:
    """One line per ranked video."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("#", justify="right", style="dim")
    table.add_column("video", no_wrap=True, overflow="ellipsis", ratio=3, min_width=20)
    table.add_column("account", no_wrap=True, overflow="ellipsis", ratio=1, min_width=8)
    for name in ("likes", "comments", "collects", "shares"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("hot score", justify="right", style="bold", no_wrap=True)
    table.add_column("link", no_wrap=True)
    table.add_column("evidence", no_wrap=True, overflow="ellipsis", style="dim")
    for video in videos:
        table.add_row(*_cells(video))
    console.print(table)


def print_ledger(console: Console, coverage: Mapping[str, Any]) -> None:
    """What was seen and why reading stopped, one sentence per source."""
    console.print("[bold]What we saw, and why we stopped[/]")
    for source in coverage["sources"]:
        console.print(f"  • {safe(wording.source_sentence(source).en)}", soft_wrap=True)
    if coverage.get("not_reached"):
        left = wording.counted(len(coverage["not_reached"]), "thing")
        console.print(f"  • {left} we meant to read were not reached.")
    console.print(f"  [dim]{wording.NEVER_EVERYTHING.en}[/]")


def print_judgement(console: Console, judgement: Judgement) -> None:
    """The comparison with the truth of the stand-in world."""
    console.print("[bold]Compared with the ground truth of the stand-in world[/]")
    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column(justify="right")
    table.add_column(style="dim")
    found = judgement.true_count - len(judgement.missed)
    near = judgement.reachable_count - sum(work.is_reachable for work in judgement.missed)
    table.add_row(
        "precision", _share(judgement.precision), f"{len(judgement.wrong)} wrongly confirmed"
    )
    table.add_row(
        "recall, public works at normal speed that a guest can reach",
        _share(judgement.recall_reachable),
        f"{near} of {judgement.reachable_count}",
    )
    table.add_row(
        "recall, all public works at normal speed",
        _share(judgement.recall),
        f"{found} of {judgement.true_count}",
    )
    table.add_row(
        "variants (another speed or pitch)",
        f"{judgement.variants_heard} of {judgement.variant_count}",
        f"{judgement.variants_confirmed} wrongly confirmed",
    )
    console.print(table)


def _cells(video: Document) -> list[str]:
    statistics, author = video["statistics"], video["author"] or {}
    kind = video["link_type"]
    caption = safe(video["desc"] or "—", limit=CAPTION_LIMIT)
    return [
        str(video["rank"]),
        f"{caption} [dim]{safe(video['aweme_id'])}[/]",
        safe(author.get("nickname") or "—", limit=NAME_LIMIT),
        *(_number(statistics[f"{name}_count"]) for name in ("digg", "comment", "collect", "share")),
        _number(video["hot_score"]),
        f"[{LINK_STYLES.get(kind, 'white')}]{safe(wording.link_words(kind).en)}[/]",
        safe(wording.evidence_words(video.get("evidence"))),
    ]


def _number(value: int | None) -> str:
    return "—" if value is None else f"{value:,}"


def _share(value: float | None) -> str:
    return "—" if value is None else f"{100 * value:.1f} %"
