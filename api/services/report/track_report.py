"""The page of a track as one HTML file; `render_track_report` is the only entry point.

It shows what the console's page of the track shows, and links to nothing. The notes of users are
not on it: they are not for the readers of a link.
"""

from collections.abc import Mapping

from api.schemas.extensions.tracks import MusicIdsByKind, TrackMusicIds, TrackPage, TrackScan
from api.services.report import day_plots, figures
from api.services.report.pages import open_pages, written_at
from pipelines.documents import messages
from pipelines.documents.messages import Message, counted
from pipelines.documents.track_plots import USE_COUNT, build_track_plots

MOST_COUNTS = 200
"""The newest counts that the table of a page has; the plot has all."""
SOUND_KINDS: Mapping[str, Message] = {
    "official": Message("Official music", "官方音乐"),
    "user_made": Message("Original sound", "用户原声"),
    "unknown": Message("Unknown", "未知"),
}


def render_track_report(track: TrackPage, *, language: str) -> str:
    """Render the page of a track as HTML text.

    Args:
        track: What is stored of it.
        language: The language that the page shows first, `en` or `zh`; it holds both.
    """
    heading = track["title"] or track["music_id"]
    plots = build_track_plots(track)
    return _PAGES.render(
        "track.html.j2",
        style="report.css",
        running=(heading, "Sametrack"),
        language=language,
        heading=heading,
        is_demo_data=track["is_demo_data"],
        track=track,
        tiles=_tiles(track),
        plots=plots,
        # Plots above one another have the same time axis.
        days=[day for plot in plots if plot is not None for day in plot.days],
        counts=track["usage"]["points"][: -MOST_COUNTS - 1 : -1],
        sounds=_sounds(track["music_ids"]),
        written_at=written_at(),
    )


def _tiles(track: TrackPage) -> list[tuple[str, Message]]:
    """Return the key figures: those that are known."""
    tiles = []
    if points := track["usage"]["points"]:
        newest = points[-1]
        day, step = newest["day"], newest["use_count_step"]
        rounded = Message(f", rounded to {step:,}", f"，约数，精度 {step:,}") if step else _EMPTY
        label = Message(
            f"{USE_COUNT.en.lower()}, as of {day}{rounded.en}",
            f"{USE_COUNT.zh}（截至 {day}{rounded.zh}）",
        )
        tiles.append((f"{newest['use_count']:,}", label))
        if newest["uses_gained"] is not None:
            since = newest["previous_date"]
            change = Message(f"change since {since}", f"较 {since} 的变化")
            tiles.append((f"{newest['uses_gained']:+,}", change))
    if videos := track["videos"]:
        confirmed = messages.FIGURES["confirmed_count"]
        tiles.append((f"{videos[-1]['confirmed_video_count']:,}", confirmed))
    accounts = Message("accounts with confirmed videos, at least", "有已确认作品的账号（下限）")
    tiles.append((f"{track['account_count']:,}", accounts))
    tiles += _total_tile(track)
    variants = Message("variants: changed, or a few seconds", "变体：变速、变调或短片段")
    tiles.append((f"{track['variants']['count']:,}", variants))
    return tiles


def _total_tile(track: TrackPage) -> list[tuple[str, Message]]:
    """Return the sum over all music ids, if there is more than one and a count is known."""
    groups = track["music_ids"]
    total = sum(groups[kind]["music_id_count"] for kind in ("official", "user_made", "unknown"))
    if total <= 1 or track["use_count"] is None:
        return []
    label = Message("all music ids together", "全部音乐 ID 合计")
    notes = [] if track["use_count_exact"] else [Message("of rounded counts", "含约数")]
    if track["uncounted_music_id_count"]:
        notes.append(_lacks(track["uncounted_music_id_count"]))
    if notes:
        english, chinese = (
            "; ".join(note.en for note in notes),
            "，".join(note.zh for note in notes),
        )
        label = Message(f"{label.en}; {english}", f"{label.zh}（{chinese}）")
    return [(f"{track['use_count']:,}", label)]


def _sounds(groups: MusicIdsByKind) -> list[tuple[Message, TrackMusicIds, Message | None]]:
    """Return the music ids by kind, each kind with its name and what its sum lacks."""
    sounds = []
    for kind in ("official", "user_made", "unknown"):
        group = groups[kind]
        missing = group["music_id_count"] - group["counted_music_id_count"]
        if group["music_ids"]:
            sounds.append((SOUND_KINDS[kind], group, _lacks(missing) if missing else None))
    return sounds


def _lacks(number: int) -> Message:
    verb = "has" if number == 1 else "have"
    return Message(
        f"{counted(number, 'music id')} {verb} no count", f"{number:,} 个音乐 ID 未显示使用量"
    )


def _changes(scan: TrackScan) -> Message:
    """Return what changed since the scan before, as the counts that are not 0."""
    if scan["previous_job_id"] is None:
        return Message("first scan", "首次扫描")
    new, gone, ids, risen, fallen = (
        scan[name] or 0
        for name in (
            "new_video_count",
            "gone_video_count",
            "new_music_id_count",
            "risen_video_count",
            "fallen_video_count",
        )
    )
    changes = [
        (new, Message(f"{new:,} new", f"新增 {new:,} 个")),
        (gone, Message(f"{gone:,} gone", f"消失 {gone:,} 个")),
        (ids, Message(counted(ids, "new music id"), f"新增 {ids:,} 个音乐 ID")),
        (risen, Message(f"{risen:,} ranked higher", f"{risen:,} 个排名上升")),
        (fallen, Message(f"{fallen:,} ranked lower", f"{fallen:,} 个排名下降")),
    ]
    parts = [message for number, message in changes if number]
    if not parts:
        return Message("nothing", "无变化")
    return Message(", ".join(part.en for part in parts), "，".join(part.zh for part in parts))


_EMPTY = Message("", "")
_PAGES = open_pages(
    {
        "changes": _changes,
        "variant": messages.variant_message,
        "draw_days": day_plots.draw_days,
        "draw_line_key": day_plots.draw_line_key,
        "draw_bar": figures.draw_bar,
    }
)
