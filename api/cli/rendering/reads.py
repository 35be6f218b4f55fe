"""Prints responses of read endpoints: accounts, lists of videos, metrics, the chart.

Texts from the platform pass `safe`. Results of scans are in `results.py`.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from rich import box
from rich.console import Console
from rich.table import Table

from api.cli.rendering.results import four_counts, print_coverage, print_result
from api.cli.terminal import format_count, safe
from pipelines.documents import messages
from pipelines.documents.messages import reason_message, stop_message
from warehouse.records.videos import COUNTS

if TYPE_CHECKING:  # importing the client loads its HTTP library
    from api.client import answers

SHOWN_ROWS = 30
CAPTION_LIMIT = 48
NAME_LIMIT = 18


def print_fields(console: Console, facts: Mapping[str, str]) -> None:
    """Print names and values, one pair per line."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, value)
    console.print(table)


def print_id(console: Console, data: "answers.SecUserIdData") -> None:
    """Print the id alone on its line, for pipes."""
    console.print(safe(data["sec_user_id"]), soft_wrap=True)


def print_profile(console: Console, data: "answers.UserProfileData") -> None:
    """Print the profile of an account."""
    user = data["user"]
    console.print(
        f"[bold]{safe(user['nickname'] or '—')}[/] [dim]{safe(user['unique_id'] or '')}[/]"
    )
    facts = {
        "sec_user_id": safe(user["sec_uid"]),
        "signature": safe(user["signature"] or "—"),
        "followers": format_count(user["follower_count"]),
        "following": format_count(user["following_count"]),
        "posts": format_count(user["aweme_count"]),
        "likes received": format_count(user["total_favorited"]),
        "likes given": format_count(user["favoriting_count"]),
        "location": safe(user["ip_location"] or "—"),
        "read": f"{safe(data['observed_at'])} from {safe(data['data_provider'])}",
    }
    print_fields(console, facts)


def print_metrics(console: Console, data: "answers.UserMetricsData") -> None:
    """Print the metrics of an account."""
    days = messages.counted(data["days"], "day")
    console.print(f"[bold]{safe(data['nickname'] or '—')}[/] [dim]last {days}[/]")
    facts = {
        "followers": format_count(data["follower_count"]),
        "likes received": format_count(data["total_favorited"]),
        "posts in the window": format_count(data["analyzed_count"]),
        "average likes": _decimal(data["average_digg_count"]),
        "median likes": _decimal(data["median_digg_count"]),
        "window": f"{safe(data['window_start'])} to {safe(data['window_end'])}",
        "complete": "all counts known"
        if data["statistics_complete"]
        else "some counts are missing",
    }
    print_fields(console, facts)
    if data["top_video"]:
        console.print("[bold]Most liked post, the newest if several are[/]")
        print_videos(console, [data["top_video"]])


def print_videos(
    console: Console, videos: "Sequence[answers.VideoDocument] | Sequence[answers.DiscoveredVideo]"
) -> None:
    """Print videos, with the id below the caption."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("video", no_wrap=True, overflow="ellipsis", max_width=CAPTION_LIMIT)
    table.add_column("account", no_wrap=True, overflow="ellipsis", max_width=NAME_LIMIT)
    for name in COUNTS:
        table.add_column(messages.FIGURES[name].en, justify="right", no_wrap=True)
    table.add_column("posted (UTC)", no_wrap=True)
    for video in videos:
        author = video["author"]
        seconds, estimate = video["create_time"], video.get("created_at")
        if seconds is not None:
            published = f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"
        elif estimate is not None:  # the time in the id of the video
            published = f"≈ {datetime.fromisoformat(estimate):%Y-%m-%d %H:%M}"
        else:
            published = "—"
        table.add_row(
            f"{safe(video['desc'] or '—', limit=CAPTION_LIMIT)}\n[dim]{safe(video['aweme_id'])}[/]",
            safe((author and author["nickname"]) or "—", limit=NAME_LIMIT),
            *four_counts(video["statistics"]),
            published,
        )
    console.print(table)


def print_page(
    console: Console,
    data: "answers.UserPostsData | answers.MusicVideosData | answers.HashtagVideosData",
) -> None:
    """Print a page of a list, how much of the list was observed, and the next cursor."""
    print_videos(console, data["aweme_list"])
    observed = format_count(data["public_observed_union_count"])
    reads = messages.counted(data["observation_history"]["snapshot_count"], "read")
    console.print(
        f"{len(data['aweme_list'])} shown of {observed} observed in {reads}; "
        "the platform may have more"
    )
    # Lists of accounts and of music ids call their cursor differently.
    if data["has_more"]:
        fields: Mapping[str, object] = data
        name = "max_cursor" if "max_cursor" in fields else "cursor"
        console.print(f"[dim]next page: --{name.replace('_', '-')} {fields[name]}[/]")


def print_videos_by_id(console: Console, data: "answers.VideosData") -> None:
    """Print videos by id, and the reasons for missing ones."""
    if data["aweme_list"]:
        print_videos(console, data["aweme_list"])
    for missing in data["filter_list"]:
        why = safe(missing["detail_msg"] or missing["notice"] or "")
        reason = safe(stop_message(missing["reason"]).en)
        more = f" [dim]{why}[/]" if why else ""
        what = f"{safe(missing['aweme_id'])}: {reason}{more}"
        console.print(f"  [yellow]•[/] {what}", soft_wrap=True)


def print_hot_videos(console: Console, data: "answers.HotVideosData") -> None:
    """Print a stored ranking, or the job that creates it."""
    # Status 200 has a ranking, 202 a job.
    if "aweme_list" in data:
        print_result(console, cast("answers.HotVideos", data), rows=SHOWN_ROWS)
        return
    job_id = safe(data["job_id"])
    console.print(f"job [bold]{job_id}[/] {safe(data['status'])}")
    console.print(f"[dim]show the result with: sametrack jobs show {job_id}[/]")


def print_batch(console: Console, data: "answers.BatchData") -> None:
    """Print one line per track: its result, its job or its error."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("input", "status", "confirmed"):
        table.add_column(name, no_wrap=True, overflow="ellipsis", max_width=CAPTION_LIMIT)
    table.add_column("job or error", overflow="fold")
    for item in data["items"]:
        result, error = item["result"], item["error"]
        table.add_row(
            safe(item["label"] or item["input"], limit=CAPTION_LIMIT),
            safe(item["status"] or "—") if item["ok"] else "[red]rejected[/]",
            format_count(result["confirmed_count"] if result else None),
            safe(item["job_id"] if error is None else error["detail"]),
        )
    console.print(table)
    # Of a long playlist only the first songs are scanned.
    for songs in data["lists"]:
        title = safe(songs["title"] or songs["input"], limit=CAPTION_LIMIT)
        counts = f"{songs['taken_count']:,} of {messages.counted(songs['song_count'], 'song')}"
        if songs["left_out_count"]:
            counts += f", [yellow]{songs['left_out_count']:,} left out[/]"
        console.print(f"{songs['kind']} {title}: {counts}")


def print_related_videos(console: Console, data: "answers.RelatedVideosData") -> None:
    """Print the verified videos of a discovery, then the outcome of every other candidate."""
    candidates = messages.counted(len(data["candidates"]), "candidate")
    console.print(f"[bold]{safe(data['music']['title'] or data['music_id'])}[/]")
    console.print(f"{len(data['aweme_list']):,} verified of {candidates}")
    print_videos(console, data["aweme_list"])
    for candidate in data["candidates"]:
        if candidate["association_type"] is None:
            verdict, reason = candidate["verdict"].replace("_", " "), candidate["reason"]
            why = f": {safe(reason_message(reason).en)}" if reason else ""
            what = f"{safe(candidate['aweme_id'])} {safe(verdict)}[dim]{why}[/]"
            console.print(f"  • {what}", soft_wrap=True)
    print_coverage(console, data["coverage"])


def print_chart(console: Console, data: "answers.ChartHistoryData") -> None:
    """Print one table per issue; a date without an issue shows the reason."""
    if data["end_date_cut"]:
        console.print(f"[yellow]the latest issue is dated {safe(data['latest_chart_date'])}[/]")
    if data["next_issue_by"]:
        console.print(f"[yellow]today's issue is released by {safe(data['next_issue_by'])}[/]")
    for node in data["snapshots"]:
        if node["chart_date"] is None:
            why = safe(stop_message(node["reason"] or "unknown").en)
            console.print(f"[bold]{safe(node['target_date'])}[/] [yellow]{why}[/]")
            continue
        issue = f"issue {safe(node['volid'])} of {safe(node['chart_date'])}"
        console.print(f"[bold]{safe(node['target_date'])}[/] [dim]{issue}[/]")
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        table.add_column("#", justify="right")
        table.add_column("previous", justify="right")
        table.add_column("title", no_wrap=True, overflow="ellipsis", max_width=CAPTION_LIMIT)
        table.add_column("artist", no_wrap=True, overflow="ellipsis", max_width=CAPTION_LIMIT)
        table.add_column("length", justify="right")
        for song in node["songs"]:
            seconds = song["duration"]
            table.add_row(
                str(song["rank"]),
                "new" if song["is_new"] else format_count(song["previous_rank"]),
                safe(song["title"]),
                safe(song["artist"] or "—"),
                "—" if seconds is None else f"{seconds // 60}:{seconds % 60:02}",
            )
        console.print(table)


def _decimal(value: float | None) -> str:
    return "—" if value is None else f"{value:,.1f}"
