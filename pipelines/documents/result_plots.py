"""What the plots of a result show: their points, and a sentence with the finding of each.

The console, the report of a job and its shared file draw them from here, with the same words. Pure
functions; no drawing. Days are UTC. Unknown values are left out and counted, never 0.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from typing import Annotated

from pydantic import Field

from pipelines.documents.fields import ClosedDocument, Count, Id, OptionalCount, Timestamp
from pipelines.documents.messages import LINKS, Message, counted, figure_heading
from pipelines.documents.result_types import LinkType
from warehouse.records.times import to_utc_text
from warehouse.records.values import ReadOnlyDocument

LEAST_VIDEOS = 3
"""Of fewer videos nothing can be said about how something is spread over them."""
LABELLED_VIDEOS = 3


AXES: Mapping[str, Message] = {
    "videos": Message("Videos", "作品数"),
    "likes": figure_heading("digg_count"),
    "likes_share": Message("Share of the likes", "点赞累计占比"),
    "creators": Message("Creators, most likes first", "创作者（按点赞从高到低）"),
}
"""The names of axes."""


class PlotMessages(ClosedDocument):
    """The words of a plot.

    `title` has its finding if the data allow one, `alternative` says in text what is drawn.
    """

    title: str
    title_zh: str
    note: str
    note_zh: str
    alternative: str
    alternative_zh: str


class PublicationPoint(ClosedDocument):
    """A publication: the videos until then, and the likes that these have, as last observed."""

    published_at: Timestamp
    video_count: Count
    digg_count: Count


class PublicationPlot(PlotMessages):
    """Videos and their likes, cumulative, by time of publication."""

    points: list[PublicationPoint]


class LikesPoint(ClosedDocument):
    """A video at its time of publication. `is_labelled`: one of the most liked."""

    aweme_id: Id
    nickname: str | None
    published_at: Timestamp
    digg_count: Count
    link_type: LinkType
    is_labelled: bool


class LikesPlot(PlotMessages):
    """The likes of each video by its time of publication."""

    viral_threshold: Count
    points: list[LikesPoint]


class CreatorPoint(ClosedDocument):
    """The creators with the most likes on their videos, and the share of all likes they hold."""

    account_count: Count
    digg_count: Count
    digg_share: Annotated[float, Field(ge=0, le=1)]


class CreatorPlot(PlotMessages):
    """The share of the likes that the top creators hold.

    `half_count`: as few as hold half of the likes; `mark` says so in a few words.
    """

    half_count: OptionalCount
    mark: str
    mark_zh: str
    points: list[CreatorPoint]


class LinkPoint(ClosedDocument):
    """The videos that are linked in one way."""

    link_type: LinkType
    video_count: Count


class LinkPlot(PlotMessages):
    """The videos by the way in which they are linked."""

    points: list[LinkPoint]


class ResultPlots(ClosedDocument):
    """The plots of a result."""

    links: LinkPlot
    publication: PublicationPlot
    likes: LikesPlot
    creators: CreatorPlot


def build_plots(
    videos: Sequence[ReadOnlyDocument],
    accounts: Iterable[ReadOnlyDocument],
    *,
    confirmed_count: int,
    viral_threshold: int,
) -> ResultPlots:
    """Build the plots of a result.

    Args:
        videos: The videos to draw, in any order.
        accounts: The accounts of all confirmed videos.
        confirmed_count: How many videos are confirmed, of which `videos` may be a part.
        viral_threshold: From how many likes a video is viral.
    """
    dated = sorted(
        ((at, video) for video in videos if (at := published_at(video)) is not None),
        key=lambda pair: (pair[0], pair[1]["aweme_id"]),
    )
    part = _drawn(len(videos), confirmed_count)
    undated = len(videos) - len(dated)
    return {
        "publication": _publication(dated, part, undated),
        "likes": _likes(dated, part, undated, viral_threshold),
        "creators": _creators(accounts),
        "links": _links(videos, part),
    }


def published_at(video: ReadOnlyDocument) -> datetime | None:
    """Return when a video was published: as stated, else by its id; None if neither is known."""
    if video["create_time"] is not None:
        return datetime.fromtimestamp(video["create_time"], UTC)
    created_at = video.get("created_at")
    return None if created_at is None else datetime.fromisoformat(created_at)


def _publication(
    dated: Sequence[tuple[datetime, ReadOnlyDocument]], part: Message, undated: int
) -> PublicationPlot:
    sums = list(accumulate(video["statistics"]["digg_count"] or 0 for _, video in dated))
    points: list[PublicationPoint] = [
        {"published_at": to_utc_text(at), "video_count": number, "digg_count": likes}
        for number, ((at, _), likes) in enumerate(zip(dated, sums, strict=True), start=1)
    ]
    title = Message(
        "Confirmed videos and their likes by time of publication",
        "已确认作品及其点赞随发布时间的累计",
    )
    if len(dated) >= LEAST_VIDEOS and sums[-1] > 0:
        half = dated[(len(dated) - 1) // 2][0]
        liked = next(at for (at, _), sum_ in zip(dated, sums, strict=True) if 2 * sum_ >= sums[-1])
        title = Message(
            f"Half of the {len(dated):,} videos were out by {_day(half)}; those out by "
            f"{_day(liked)} hold half of the likes",
            f"{len(dated):,} 个作品中，半数发布于{_day_zh(half)}及以前；"
            f"{_day_zh(liked)}及以前发布的作品占总点赞的一半",
        )
    alternative = Message("No publication time is known.", "没有已知的发布时间。")
    if dated:
        first, last = dated[0][0], dated[-1][0]
        alternative = Message(
            f"Two rising lines from {_day(first)} to {_day(last)}: "
            f"{counted(len(dated), 'video')} with {sums[-1]:,} likes at the end.",
            f"{_day_zh(first)}至{_day_zh(last)}的两条上升曲线，终点为 {len(dated):,} 个作品、"
            f"{sums[-1]:,} 个点赞。",
        )
    note = Message(
        "Cumulative; the likes are those last observed, placed at the publication of their video, "
        "so they show which videos brought them, not when. Times are UTC.",
        "累计值。点赞为最近一次观测值，计入作品的发布时间：表示由哪些作品带来，而非何时获得。"
        "时间为 UTC。",
    )
    unknown = _left_out(undated, "publication time", "发布时间")
    unliked = sum(video["statistics"]["digg_count"] is None for _, video in dated)
    uncounted = Message(
        f"The likes of {counted(unliked, 'video')} are unknown and not in the sum."
        if unliked
        else "",
        f"{unliked:,} 个作品的点赞数未知，未计入。" if unliked else "",
    )
    parts = _joined(note, part, unknown, uncounted)
    return {**_texts(title, parts, alternative), "points": points}


def _likes(
    dated: Sequence[tuple[datetime, ReadOnlyDocument]],
    part: Message,
    undated: int,
    threshold: int,
) -> LikesPlot:
    liked = [(at, video) for at, video in dated if video["statistics"]["digg_count"] is not None]
    most = sorted(liked, key=lambda pair: -pair[1]["statistics"]["digg_count"])
    labelled = {video["aweme_id"] for _, video in most[:LABELLED_VIDEOS]}
    points: list[LikesPoint] = [
        {
            "aweme_id": video["aweme_id"],
            "nickname": (video.get("author") or {}).get("nickname"),
            "published_at": to_utc_text(at),
            "digg_count": video["statistics"]["digg_count"],
            "link_type": video["link_type"],
            "is_labelled": video["aweme_id"] in labelled,
        }
        for at, video in liked
    ]
    title = Message("Likes by time of publication", "各作品的发布时间与点赞")
    alternative = Message("No likes are known.", "没有已知的点赞数。")
    if liked:
        top_at, top = most[0]
        top_likes = top["statistics"]["digg_count"]
        viral = [at for at, video in liked if video["statistics"]["digg_count"] >= threshold]
        if viral:
            title = Message(
                f"{len(viral):,} of {counted(len(liked), 'video')} reached {threshold:,} likes; "
                f"the first of them is from {_day(viral[0])}",
                f"{len(liked):,} 个作品中 {len(viral):,} 个达到 {threshold:,} 个点赞，"
                f"其中最早的发布于{_day_zh(viral[0])}",
            )
        else:
            title = Message(
                f"No video reached {threshold:,} likes; the most liked has {top_likes:,}",
                f"没有作品达到 {threshold:,} 个点赞，最高为 {top_likes:,}",
            )
        alternative = Message(
            f"One mark per video; the most liked, from {_day(top_at)}, has {top_likes:,} likes.",
            f"每个作品一个标记；点赞最高的作品发布于{_day_zh(top_at)}，有 {top_likes:,} 个点赞。",
        )
    note = Message(
        "One mark per video, likes on a logarithmic scale. Dashed: viral from here. Times are UTC.",
        "每个作品一个标记，点赞为对数刻度；虚线为爆款线。时间为 UTC。",
    )
    unknown = _left_out(
        undated + len(dated) - len(liked), "publication time or likes", "发布时间或点赞数"
    )
    return {
        **_texts(title, _joined(note, part, unknown), alternative),
        "viral_threshold": threshold,
        "points": points,
    }


def _creators(accounts: Iterable[ReadOnlyDocument]) -> CreatorPlot:
    counts = [account["linked_digg_count"] for account in accounts]
    likes = sorted((number for number in counts if number is not None), reverse=True)
    sums = list(accumulate(likes))
    total = sums[-1] if sums else 0
    points: list[CreatorPoint] = [
        {"account_count": number, "digg_count": sum_, "digg_share": sum_ / total}
        for number, sum_ in enumerate(sums, start=1)
        if total
    ]
    half = next((point for point in points if 2 * point["digg_count"] >= total), None)
    title = Message("Share of the likes by creator", "各创作者的点赞占比")
    alternative = Message("No likes are known.", "没有已知的点赞数。")
    if half is not None and len(points) >= LEAST_VIDEOS:
        percent = _percent(half)
        holds = "holds" if half["account_count"] == 1 else "hold"
        title = Message(
            f"{half['account_count']:,} of {len(points):,} creators {holds} {percent} % of the "
            "likes",
            f"{len(points):,} 位创作者中，{half['account_count']:,} 位占总点赞的 {percent}%",
        )
    mark = Message("", "")
    if half is not None:
        number, share = half["account_count"], _percent(half)
        mark = Message(f"{counted(number, 'creator')}: {share} %", f"{number:,} 位：{share}%")
        alternative = Message(
            f"A line from the creator with the most likes to all {len(points):,}, who hold "
            f"{total:,} likes.",
            f"从点赞最多的创作者累计到全部 {len(points):,} 位，共 {total:,} 个点赞。",
        )
    note = Message(
        "Cumulative share of the likes on all confirmed videos, the most liked creators first.",
        "全部已确认作品的点赞累计占比，按创作者点赞从高到低排列。",
    )
    unknown = len(counts) - len(likes)
    left_out = Message(
        f"Creators without known likes: {unknown:,}, not drawn." if unknown else "",
        f"另有 {unknown:,} 位创作者点赞数未知，未绘制。" if unknown else "",
    )
    return {
        **_texts(title, _joined(note, left_out), alternative),
        "half_count": None if half is None else half["account_count"],
        "mark": mark.en,
        "mark_zh": mark.zh,
        "points": points,
    }


def _links(videos: Sequence[ReadOnlyDocument], part: Message) -> LinkPlot:
    counts = Counter(video["link_type"] for video in videos)
    points: list[LinkPoint] = [
        {"link_type": name, "video_count": counts[name]}  # type: ignore[typeddict-item]  # its keys
        for name in LINKS
        if counts[name]
    ]
    total, own = len(videos), counts["exact_music_id"]
    title = Message("Videos by link", "各关联方式的作品数")
    if total:
        title = Message(
            f"{total - own:,} of {counted(total, 'video')} carry the recording under another "
            "music id",
            f"{total:,} 个作品中，{total - own:,} 个在其他音乐 ID 下使用该录音",
        )
    alternative = Message(
        "; ".join(f"{LINKS[name].en}: {counts[name]:,}" for name in LINKS if counts[name]),
        "；".join(f"{LINKS[name].zh}：{counts[name]:,}" for name in LINKS if counts[name]),
    )
    return {**_texts(title, part, alternative), "points": points}


def _day(moment: datetime) -> str:
    """Return a day as an English sentence has it: 3 Oct 2026."""
    return f"{moment.day} {moment:%b %Y}"


def _day_zh(moment: datetime) -> str:
    """Return a day as a Chinese sentence has it."""
    return f"{moment.year}年{moment.month}月{moment.day}日"


def _percent(point: CreatorPoint) -> int:
    """Return the share in whole percent: 100 only if it is exactly that."""
    share = point["digg_share"]
    return 100 if share == 1 else min(99, round(100 * share))


def _drawn(shown: int, confirmed: int) -> Message:
    if shown >= confirmed:
        return Message("", "")
    return Message(
        f"Of {confirmed:,} confirmed videos, the {shown:,} ranked ones are drawn.",
        f"仅绘制上榜的 {shown:,} 个作品（已确认 {confirmed:,} 个）。",
    )


def _left_out(number: int, what: str, what_zh: str) -> Message:
    if not number:
        return Message("", "")
    return Message(
        f"Not drawn, without a known {what}: {counted(number, 'video')}.",
        f"另有 {number:,} 个作品{what_zh}未知，未绘制。",
    )


def _joined(*parts: Message) -> Message:
    return Message(
        " ".join(part.en for part in parts if part.en), "".join(part.zh for part in parts)
    )


def _texts(title: Message, note: Message, alternative: Message) -> PlotMessages:
    return {
        "title": title.en,
        "title_zh": title.zh,
        "note": note.en,
        "note_zh": note.zh,
        "alternative": alternative.en,
        "alternative_zh": alternative.zh,
    }
