"""The page of a report: its texts, key figures, all tracks, details of those with most videos."""

from collections.abc import Collection, Mapping
from datetime import datetime
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.catalog.report.tables import CatalogTables
from pipelines.catalog.service import CatalogStatus
from pipelines.documents.html_pages import PageTemplates, rounded_number
from pipelines.documents.messages import LANGUAGES, Message
from warehouse.exports.export_table import ExportTable
from warehouse.records.values import Row

TEXTS: Mapping[str, Message] = {
    "catalogue": Message("Catalogue", "曲目目录"),
    "demo": Message(
        "Demo data: nothing here comes from the public platform.",
        "演示数据：内容并非来自公开平台。",
    ),
    "basis": Message(
        "What guests can see, never a full list of the platform.",
        "仅含访客可见的公开数据，并非平台的完整列表。",
    ),
    "tracks": Message("tracks", "曲目"),
    "with_result": Message("with a result", "已有结果"),
    "music_ids": Message("music ids with the recording", "使用同一录音的音乐 ID"),
    "videos": Message("confirmed videos", "已确认作品"),
    "variants": Message("variants", "变体"),
    "new": Message("new since the result before", "较上次结果新增"),
    "new_flag": Message("new", "新"),
    "missing": Message("no longer found", "不再出现"),
    "overview": Message("Tracks", "曲目"),
    "track": Message("track", "曲目"),
    "state": Message("state", "状态"),
    "result_at": Message("result", "结果时间"),
    "likes": Message("likes", "点赞"),
    "comments": Message("comments", "评论"),
    "collects": Message("bookmarks", "收藏"),
    "shares": Message("shares", "分享"),
    "estimated_ids": Message("ids, estimated", "ID 估计值"),
    "estimated_videos": Message("videos, estimated", "作品估计值"),
    "id_count": Message("music ids", "音乐 ID"),
    "video_count": Message("videos", "作品"),
    "overview_note": Message(
        "Videos are confirmed ones. Estimates are what a guest could reach, with their 95 % "
        "interval. New and no longer found: compared with the result before the newest one.",
        "作品仅计已确认的。估计值为访客可见范围内的数量，附 95% 区间。"
        "新与不再出现均相对于上一次结果。",
    ),
    "no_estimate": Message("cannot be estimated", "无法估计"),
    "details": Message("Music ids and videos of each track", "各曲目的音乐 ID 与作品"),
    "details_cut": Message(
        "The first tracks by confirmed videos; all are in the tables next to this page.",
        "仅列出已确认作品最多的曲目，全部内容见同目录的数据表。",
    ),
    "matches": Message("Found by scans of other tracks", "由其他曲目的扫描发现"),
    "fetched_for": Message("scan of", "来自扫描"),
    "is_confirmed": Message("own scan", "本曲目扫描"),
    "sheet": Message("What the data can and cannot say", "数据能说明什么、不能说明什么"),
    "sheet_note": Message(
        "Error sheet (TES-D) of the newest scan; the workbook has those of the 20 newest.",
        "最近一次扫描的误差说明表（TES-D）；工作簿中含最近 20 次扫描的表。",
    ),
    "most_liked": Message("Most liked videos", "点赞最多的作品"),
    "music_id": Message("music id", "音乐 ID"),
    "born": Message("created", "创建时间"),
    "kind": Message("kind", "类型"),
    "uploader": Message("uploader", "上传者"),
    "evidence": Message("evidence", "匹配依据"),
    "copy_of": Message("older music id", "更早的音乐 ID"),
    "video": Message("video", "作品"),
    "account": Message("account", "账号"),
    "score": Message("score", "得分"),
    "failed": Message("Tracks that could not be scanned", "扫描失败的曲目"),
    "error": Message("reason", "原因"),
    "own_id": Message("the track's own", "曲目自身"),
    "original_sound": Message("original sound of a user", "用户原声"),
    "library": Message("music library", "曲库"),
    "audio": Message("confirmed by audio", "音频确认"),
    "name": Message("same name, not compared", "名称相同，未比对"),
    "confirmed": Message("confirmed", "已确认"),
    "variant": Message("variant", "变体"),
    "running": Message("running", "进行中"),
    "fresh": Message("fresh", "最新"),
    "stale": Message("stale", "已过期"),
    "never_read": Message("not run yet", "尚未运行"),
}


def page_text(name: str | None, *, language: str) -> str:
    """Return a text of the page: an unknown name unchanged, a dash for None."""
    if name is None:
        return "—"
    return TEXTS[name].text(language) if name in TEXTS else name


MOST_DETAILS = 200
"""Tracks with details on the page: a browser shows some ten thousand rows without delay."""
MOST_VIDEOS = 10


def render_catalog_page(
    status: CatalogStatus,
    tables: CatalogTables,
    sheet: ExportTable | None,
    *,
    language: str,
    is_demo: bool,
) -> str:
    """Return the page as one HTML file; `sheet`: the error sheet of the newest scan."""
    texts = partial(page_text, language=language)
    rows = tables.track_rows()
    results = [row for row in rows if row["music_id"] is not None]
    detailed = sorted(results, key=lambda row: -(row["confirmed_video_count"] or 0))[:MOST_DETAILS]
    keys = [row["track_key"] for row in detailed]

    def total(name: str) -> int | None:
        counts = [row[name] for row in results if row[name] is not None]
        return sum(counts) if counts else None

    return _PAGES.render(
        "report.html.j2",
        style="report.css",
        running=(status.catalog.name, texts("catalogue")),
        html_language=LANGUAGES[language],
        text=texts,
        name=status.catalog.name,
        read_at=status.read_at,
        is_demo=is_demo,
        rows=rows,
        # A video of two tracks counts for each.
        totals=[
            ("tracks", len(rows)),
            ("with_result", len(results)),
            ("music_ids", total("music_id_count")),
            ("videos", total("confirmed_video_count")),
            ("variants", total("variant_video_count")),
            ("new", total("new_video_count")),
        ],
        detailed=detailed,
        is_cut=len(detailed) < len(results),
        music_ids=_by_track(tables.music_ids, keys, limit=None),
        videos=_by_track(tables.videos, keys, limit=MOST_VIDEOS),
        matches=_by_track(tables.matches, keys, limit=MOST_VIDEOS),
        sheet=() if sheet is None else sheet.rows,
        failed=[row for row in rows if row["error"] is not None],
    )


def _by_track(table: pa.Table, keys: Collection[str], *, limit: int | None) -> dict[str, list[Row]]:
    """Return the rows of these tracks by track, in their order, at most `limit` of each."""
    of_tracks = table.filter(pc.is_in(table["track_key"], pa.array(keys, type=pa.string())))
    by_track: dict[str, list[Row]] = {key: [] for key in keys}
    for row in of_tracks.to_pylist():
        rows = by_track[row["track_key"]]
        if limit is None or len(rows) < limit:
            rows.append(row)
    return by_track


def _day(value: datetime | None) -> str:
    return "—" if value is None else f"{value:%Y-%m-%d}"


def _moment(value: datetime | None) -> str:
    return "—" if value is None else f"{value:%Y-%m-%d %H:%M} UTC"


_PAGES = PageTemplates(
    "pipelines.catalog.report", filters={"number": rounded_number, "day": _day, "moment": _moment}
)
