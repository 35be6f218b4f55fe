"""What the plots of a track's page show: the platform's count, and our videos, day by day.

Each has a sentence with its finding. Pure functions; no drawing. Days are UTC. A day without an
observation has no point: nothing is filled in. A rounded count is called one.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pipelines.documents.messages import Message, counted
from pipelines.documents.result_plots import PlotMessages
from warehouse.records.values import ReadOnlyDocument

OBSERVED = Message("Videos seen", "已观测作品")
CONFIRMED = Message("Confirmed videos", "已确认作品")
USE_COUNT = Message("Videos, counted by the platform", "平台使用量")


class DayPoint(NamedTuple):
    """A count on a day, and where it lies if it was rounded."""

    day: str
    value: int
    range: tuple[int, int] | None = None


class DayLine(NamedTuple):
    """One line of a plot, oldest day first."""

    name: Message
    points: Sequence[DayPoint]


class DayPlot(NamedTuple):
    """Lines over days, and the words of their plot."""

    lines: Sequence[DayLine]
    messages: PlotMessages

    @property
    def days(self) -> list[str]:
        """The days with a point."""
        return sorted({point.day for line in self.lines for point in line.points})


class TrackPlots(NamedTuple):
    """The plots of a track; None where nothing was observed."""

    usage: DayPlot | None
    videos: DayPlot | None


def build_track_plots(track: ReadOnlyDocument) -> TrackPlots:
    """Build the plots of the page of a track, from the answer that the console shows."""
    usage, videos = track["usage"]["points"], track["videos"]
    return TrackPlots(_usage(usage) if usage else None, _videos(videos) if videos else None)


def _usage(points: Sequence[ReadOnlyDocument]) -> DayPlot:
    first, last = points[0], points[-1]
    is_rounded = any(point["range"] for point in points)
    title = _usage_title(first, last)
    note = Message(
        "The platform's own count of this music id, as it was shown on each day. "
        "Nothing is filled in between.",
        "平台在各观测日显示的该音乐 ID 使用量，未观测的日期不作填补。",
    )
    if is_rounded:
        note = Message(
            f"{note.en} The platform rounds large counts; the band shows where the true count "
            "lies.",
            f"{note.zh}平台对较大的数值取约数，色带为实际值所在范围。",
        )
    alternative = title
    if len(points) > 1:
        alternative = Message(
            f"{len(points):,} counts, from {_count_en(first)} on {first['day']} "
            f"to {_count_en(last)} on {last['day']}.",
            f"共 {len(points):,} 个观测值：{first['day']} {_is_zh(first)}，"
            f"{last['day']} {_is_zh(last)}。",
        )
    line = DayLine(
        USE_COUNT,
        [
            DayPoint(
                point["day"], point["use_count"], tuple(point["range"]) if point["range"] else None
            )
            for point in points
        ],
    )
    return DayPlot([line], _messages(title, note, alternative))


def _usage_title(first: ReadOnlyDocument, last: ReadOnlyDocument) -> Message:
    if first is last:
        return Message(
            f"On {last['day']} the platform counted {_count_en(last)} videos",
            f"{last['day']} 平台使用量{_is_zh(last)}",
        )
    gained = last["use_count"] - first["use_count"]
    # Rounded counts that differ by no more than a step may be the same.
    step = max(first["use_count_step"] or 0, last["use_count_step"] or 0)
    about, about_zh = ("about ", "约 ") if step else ("", " ")
    if abs(gained) <= step:
        change = Message(
            f"{about}as many as on {first['day']}",
            f"与 {first['day']} {'基本持平' if step else '持平'}",
        )
    else:
        change = Message(
            f"{about}{abs(gained):,} {'more' if gained > 0 else 'fewer'} than on {first['day']}",
            f"较 {first['day']} {'增加' if gained > 0 else '减少'}{about_zh}{abs(gained):,}",
        )
    return Message(
        f"The platform counts {_count_en(last)} videos, {change.en}",
        f"平台使用量{_is_zh(last)}，{change.zh}",
    )


def _videos(points: Sequence[ReadOnlyDocument]) -> DayPlot:
    last = points[-1]
    observed, confirmed = last["observed_video_count"], last["confirmed_video_count"]
    title = Message(
        f"Scans have seen {counted(observed, 'video')} and confirmed {confirmed:,} of them",
        f"扫描已观测 {observed:,} 个作品，确认其中 {confirmed:,} 个",
    )
    note = Message(
        "By the end of each day with a read. A public page shows only part of the videos.",
        "截至各观测日末。公开页面只显示部分作品。",
    )
    alternative = Message(
        f"By {last['day']}: {observed:,} seen, {confirmed:,} confirmed.",
        f"截至 {last['day']}：已观测 {observed:,} 个，已确认 {confirmed:,} 个。",
    )
    lines = [
        DayLine(name, [DayPoint(point["day"], point[key]) for point in points])
        for name, key in (
            (OBSERVED, "observed_video_count"),
            (CONFIRMED, "confirmed_video_count"),
        )
    ]
    return DayPlot(lines, _messages(title, note, alternative))


def _count_en(point: ReadOnlyDocument) -> str:
    return f"{'' if point['use_count_exact'] else 'about '}{point['use_count']:,}"


def _is_zh(point: ReadOnlyDocument) -> str:
    return f"{'为' if point['use_count_exact'] else '约为'} {point['use_count']:,}"


def _messages(title: Message, note: Message, alternative: Message) -> PlotMessages:
    return {
        "title": title.en,
        "title_zh": title.zh,
        "note": note.en,
        "note_zh": note.zh,
        "alternative": alternative.en,
        "alternative_zh": alternative.zh,
    }
