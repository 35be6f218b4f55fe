"""Prints the result of a scan: ranking, variants, coverage, comparison with the ground truth.

Texts from the platform pass `safe`. Labels are shared with the HTML report.
"""

from collections import Counter
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

from api.cli.terminal import format_count, safe
from pipelines.documents import messages
from warehouse.records.videos import COUNTS

if TYPE_CHECKING:  # importing the client loads its HTTP library, a report pydantic
    from api.client import answers
    from api.services.report.ground_truth import Judgement

CAPTION_LIMIT = 60
LINK_WIDTH = 52
VIDEO = 1  # index in HEADINGS of the column that shrinks
HEADINGS = ("#", "video", *(messages.FIGURES[name].en for name in (*COUNTS, "hot_score")))
WIDE = 136  # columns that one line per video needs
NAME_LIMIT = 16
SHOWN_VARIANTS = 8
LINK_STYLES = {
    "exact_music_id": "blue",
    "audio_fingerprint_match": "green",
    "verified_music_id_graph": "magenta",
}


def print_result(console: Console, result: "answers.HotVideos", *, rows: int) -> None:
    """Print a whole result, with the first `rows` of its ranking."""
    if result["is_demo_data"]:
        print_banner(console)
    # A search by name confirms nothing, so it has no ranking.
    if result["keyword"] is not None:
        print_search_result(console, result, rows=rows)
        return
    # Head: the track, and how many videos, accounts and variants
    music = result["music"]
    console.print(
        f"[bold]{safe((music and music['title']) or result['music_id'])}[/] "
        f"[dim]by {safe((music and music['author']) or '—')} · {safe(result['music_id'])}[/]"
    )
    console.print(
        f"{messages.counted(result['confirmed_count'], 'confirmed video')} of "
        f"{messages.counted(result['candidate_pool_size'], 'candidate')}, by at least "
        f"{messages.counted(result['unique_account_count'], 'account')}; "
        f"{messages.counted(result['variants']['count'], 'variant')}: changed, or a few seconds"
    )
    print_ranking(console, result["aweme_list"][:rows])
    # Say what is not shown, and what the platform did not have.
    hidden = result["returned_count"] - rows
    if hidden > 0:
        console.print(f"[dim]… and {hidden:,} more[/]")
    if not result["count_satisfied"]:
        counts = f"{result['returned_count']:,} of {result['requested_count']:,} requested"
        console.print(
            f"[dim]{counts}: all matching public videos found so far; "
            "try a larger --candidate-limit[/]"
        )
    print_variants(console, result["variants"]["aweme_list"])
    print_versions(console, result.get("versions"))
    print_search(console, result["search_related"])
    print_coverage(console, result["coverage"])


def print_search_result(console: Console, result: "answers.HotVideos", *, rows: int) -> None:
    """Print the result of a search by name: videos related by text."""
    related = result["search_related"]
    console.print(
        f"[bold]{safe(result['keyword'])}[/] [dim]searched by name: matched by public text, "
        "nothing is confirmed[/]"
    )
    console.print(
        f"{messages.counted(related['returned_count'], 'video')}, "
        f"{related['high_relevance_count']:,} of high relevance; "
        f"{related['conflicting_music_title_count']:,} with the title of another song"
    )
    print_related(console, related["aweme_list"][:rows])
    print_coverage(console, result["coverage"])


def print_search(console: Console, related: "answers.SearchRelated") -> None:
    """Print one line on search results that are not in the ranking."""
    if related["returned_count"]:
        console.print(
            f"Search results, matched by text: "
            f"{messages.counted(related['returned_count'], 'video')}, "
            f"{related['high_relevance_count']:,} of high relevance, "
            f"{related['visible_ranking_overlap_count']:,} also in the ranking above"
        )


def print_related(console: Console, videos: "list[answers.RelatedVideo]") -> None:
    """Print search results, one line per video."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("relevance", no_wrap=True)
    table.add_column("video", no_wrap=True, overflow="ellipsis", max_width=CAPTION_LIMIT)
    table.add_column("music", no_wrap=True, overflow="ellipsis", max_width=NAME_LIMIT * 2)
    for name in ("likes", "hot score"):
        table.add_column(name, justify="right")
    for video in videos:
        table.add_row(
            safe(messages.relevance_message(video["search_relevance_level"]).en),
            safe(video["desc"] or video["aweme_id"]),
            safe((video["music"]["title"] if video["music"] else None) or "—"),
            format_count(video["statistics"]["digg_count"]),
            format_count(video["hot_score"]),
        )
    console.print(table)


def print_banner(console: Console, banner: messages.Message = messages.DEMO_BANNER) -> None:
    """Print a notice about all that follows; by default, that it is demo data."""
    console.print(f"[black on yellow] {banner.en} [/] [yellow]{banner.zh}[/]")


def print_ranking(console: Console, videos: "list[answers.RankedVideo]") -> None:
    """Print ranked videos. On a narrow terminal, link and evidence are below the caption."""
    is_wide = console.width >= WIDE
    rows = [_ranking_row(video, is_wide=is_wide) for video in videos]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    # rich would shrink all columns; numbers must stay complete, so only the caption shrinks
    widths = [
        max([len(name), *(len(row[column]) for row in rows)])
        for column, name in enumerate(HEADINGS)
    ]
    used = sum(widths) - widths[VIDEO] + 2 * len(widths) + (LINK_WIDTH if is_wide else 0)
    for name, width in zip(HEADINGS, widths, strict=True):
        if name == HEADINGS[VIDEO]:
            free = max(20, console.width - used)
            table.add_column(name, no_wrap=True, overflow="ellipsis", max_width=free)
        else:
            table.add_column(name, justify="right", no_wrap=True, min_width=width)
    if is_wide:
        table.add_column("link and evidence", no_wrap=True, overflow="ellipsis")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def print_variants(console: Console, videos: "list[answers.VariantVideo]") -> None:
    """Print the first variants, if any."""
    if videos:
        console.print(
            "[bold]Variants: changed, or a few seconds[/] [dim](not counted as confirmed)[/]"
        )
    for video in videos[:SHOWN_VARIANTS]:
        kind = messages.variant_message(video["variant_kind"]).en
        if video["variant_kind"] == "excerpt":  # it was not changed, so its length counts
            change = f", {video['evidence']['overlap_s'] or 0:.1f} s"
        else:
            change = f" × {video['speed']:.2f}, {video['semitones']:+.1f} semitones"
        console.print(
            f"  • {safe(video['aweme_id'])} {safe(kind)}{change} · "
            f"hot score {format_count(video['hot_score'])}"
        )
    if len(videos) > SHOWN_VARIANTS:
        console.print(f"[dim]  … and {len(videos) - SHOWN_VARIANTS:,} more[/]")


def print_versions(console: Console, versions: "answers.Versions | None") -> None:
    """Print the first videos with another performance of the composition, if any."""
    videos = [] if versions is None else versions["aweme_list"]
    if versions is not None and videos:
        number = messages.counted(versions["count"], "other version")
        console.print(
            f"[bold]{number}: covers, live performances, new recordings[/] "
            "[dim](not counted as confirmed)[/]"
        )
    for video in videos[:SHOWN_VARIANTS]:
        console.print(
            f"  • {safe(video['aweme_id'])} version score {video['version_score']:.2f} · "
            f"{safe(video['source_music_title'] or '—')}"
        )
    if len(videos) > SHOWN_VARIANTS:
        console.print(f"[dim]  … and {len(videos) - SHOWN_VARIANTS:,} more[/]")


def print_coverage(console: Console, coverage: "answers.Coverage") -> None:
    """Print the coverage report: one sentence per source."""
    console.print("[bold]Coverage: what was read, and why reading stopped[/]")
    # Sources, decisions, what was not reached, how much was genuine, estimates, audit
    sentences = [
        *map(messages.source_sentence, coverage["sources"]),
        *messages.decision_sentences(coverage.get("decisions", ())),
        *messages.not_reached_sentences(map(str, coverage["not_reached"])),
        *messages.genuine_sentences(coverage.get("list_genuine_share", [])),
        *messages.coverage_estimate_sentences(coverage.get("estimates")),
        *messages.audit_sentences(coverage.get("audit")),
    ]
    for sentence in sentences:
        console.print(f"  • {safe(sentence.en)}", soft_wrap=True)
    console.print(f"  [dim]{messages.NOT_EXHAUSTIVE.en}[/]")


def print_judgement(console: Console, judgement: "Judgement") -> None:
    """Print precision and recall against the ground truth of the sandbox, by link type."""
    console.print(
        "[bold]Precision and recall against the ground truth of the sandbox, by link type[/]"
    )
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("link type")
    for heading in (
        "confirmed",
        "label true",
        "with the recording",
        "precision",
        "recall of reachable",
        "recall of all",
    ):
        table.add_column(heading, justify="right")
    for link in judgement.links:
        table.add_row(
            f"{safe(messages.link_message(link.link_type).en)} [dim]{safe(link.link_type)}[/]",
            str(link.confirmed_count),
            _share(link.label_precision),
            str(link.right_count),
            _share(link.precision),
            _part(link.right_reachable_count, link.reachable_count, link.recall_reachable),
            _part(link.right_count, link.carrying_count, link.recall),
        )
    console.print(table)
    # Recall beyond the track's own music id, variants, and the kinds of wrong videos
    others = judgement.other_ids
    of_all = _part(others.found_count, others.carrying_count, others.share)
    of_reachable = _part(
        others.found_reachable_count, others.reachable_count, others.share_reachable
    )
    variants = f"{judgement.variants_matched} of {judgement.variant_count} found"
    recall = f"{of_reachable} of the reachable, {of_all} of all"
    lines = [
        f"other music ids, by both audio link types: {recall}",
        f"variants: {variants}, {judgement.variants_confirmed} wrongly confirmed",
    ]
    wrong = Counter(
        (video.link_type, video.sound, video.is_label_true) for video in judgement.wrong
    )
    for (link_type, sound, is_true), count in sorted(wrong.items()):
        lines.append(
            f"without the recording, {safe(link_type)}: {count} {safe(sound.replace('_', ' '))} "
            f"(label {'true' if is_true else 'false'})"
        )
    for line in lines:
        console.print(f"  • {line}", soft_wrap=True)
    for message in (messages.TRUE_LABELS, messages.RECALL_OF):
        console.print(f"  [dim]{message.en}[/]", soft_wrap=True)


def _part(part: int, whole: int, share: float | None) -> str:
    return f"{part} of {whole} ({_share(share)})"


def _ranking_row(video: "answers.RankedVideo", *, is_wide: bool) -> list[str]:
    """Return the cells of a ranked video, in the order of `HEADINGS`; a wide table has one more."""
    # The title of the video, its account and its id
    author = video["author"]
    caption = safe(video["desc"] or "—", limit=CAPTION_LIMIT)
    account = safe((author and author["nickname"]) or "—", limit=NAME_LIMIT)
    aweme_id = safe(video["aweme_id"])
    # The link type, and on a line of its own the evidence of an audio link
    kind, measures = video["link_type"], video.get("evidence")
    link = f"[{LINK_STYLES.get(kind, 'white')}]{safe(messages.link_message(kind).en)}[/]"
    evidence = ""
    if measures:
        describe = messages.evidence_summary if is_wide else messages.short_evidence_summary
        evidence = f"\n[dim]{safe(describe(measures))}[/]"
    numbers = [*four_counts(video["statistics"]), format_count(video["hot_score"])]
    rank = str(video["rank"])
    if is_wide:
        title = f"{caption}\n[dim]{aweme_id} · {account}[/]"
        return [rank, title, *numbers, f"{link}{evidence}"]
    return [rank, f"{caption}\n[dim]{aweme_id}[/]\n{link} · {account}{evidence}", *numbers]


def four_counts(statistics: "answers.StatisticsDocument") -> list[str]:
    """Format likes, comments, collects and shares."""
    counts = (
        statistics["digg_count"],
        statistics["comment_count"],
        statistics["collect_count"],
        statistics["share_count"],
    )
    return [format_count(count) for count in counts]


def _share(value: float | None) -> str:
    return "—" if value is None else f"{100 * value:.1f} %"
