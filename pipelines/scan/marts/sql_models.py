"""Run the SQL models of a scan (`warehouse/models/scan`) over its rows.

Here: the tables that the models read, and their rows as documents. Not here: what a sort order
ranks by (`rules/ranking.py`), which reads need, too: a stored result is ranked anew for each
request, by a process without these rows as a table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import cast

import pyarrow as pa

from pipelines.documents.result_types import AccountEntry, AccountSummary
from pipelines.documents.video_types import LinkedVideo, VideoPreview
from pipelines.parameters.scan import ScanParameters, SortBy
from pipelines.scan.rules.ranking import SORT_VALUES
from warehouse.engine.duckdb_engine import Engine
from warehouse.records.coverage import SourceCoverage
from warehouse.records.values import Row
from warehouse.records.videos import Account
from warehouse.tables.column import BOOLEAN, INTEGER, TEXT

VIDEO_PREVIEW_LIMIT = 20
_COUNTS = ("digg_count", "comment_count", "collect_count", "share_count")
_PROFILE_COUNTS = ("follower_count", "total_favorited", "aweme_count")
_READ_COUNTS = ("requests", "pages", "items", "new_items", "foreign_rows")
_CONFIRMED = pa.schema([
    ("position", INTEGER),
    ("aweme_id", TEXT),
    ("link_type", TEXT),
    *((name, INTEGER) for name in _COUNTS),
    ("statistics_complete", BOOLEAN),
    ("create_time", INTEGER),
    ("sec_uid", TEXT),
    ("nickname", TEXT),
    ("unique_id", TEXT),
])  # fmt: skip
_PROFILES = pa.schema([
    ("sec_uid", TEXT),
    ("nickname", TEXT),
    ("unique_id", TEXT),
    *((name, INTEGER) for name in _PROFILE_COUNTS),
    ("follower_count_source", TEXT),
])  # fmt: skip
_READS = pa.schema([
    ("position", INTEGER),
    ("surface", TEXT),
    *((name, INTEGER) for name in _READ_COUNTS),
    ("stop_reason", TEXT),
])  # fmt: skip


def rank_videos(
    engine: Engine, confirmed: Sequence[LinkedVideo], parameters: ScanParameters
) -> list[Row]:
    """Return the rows of a ranking without their job: the top videos in the job's sort order."""
    rows = _confirmed(confirmed)
    columns: dict[str, SortBy] = {"hot_score": "hot_score", "sort_value": parameters.sort_by}
    for name, order in columns.items():
        # The type follows from the values: of an integer column Arrow would cut off all fractions.
        values = pa.array([SORT_VALUES[order](video) for video in confirmed])
        rows = rows.append_column(name, values)
    return engine.run_scan_model(
        "rankings",
        {"confirmed": rows},
        {
            "count": parameters.count,
            "viral_only": parameters.viral_only,
            "viral_threshold": parameters.viral_threshold,
        },
    )


def sum_coverage(engine: Engine, reads: Sequence[SourceCoverage]) -> list[Row]:
    """Return the coverage by source and stop reason, in the order they first appear."""
    rows = [{"position": at, **asdict(entry)} for at, entry in enumerate(reads)]
    return engine.run_scan_model("coverage", {"reads": pa.Table.from_pylist(rows, _READS)}, {})


def summarize_accounts(
    engine: Engine, confirmed: Sequence[LinkedVideo], *, profiles: Mapping[str, Account]
) -> AccountSummary:
    """Build `account_summary` of a result, ordered by linked likes.

    Aggregates cover all confirmed videos, not only the returned ones. Profile fields that were not
    read are null, never 0.

    Args:
        engine: The engine of the process.
        confirmed: Video documents of all confirmed videos.
        profiles: The profiles that were read, by `sec_uid`.
    """
    read = [
        {name: getattr(profile, name) for name in _PROFILES.names} | {"sec_uid": sec_uid}
        for sec_uid, profile in profiles.items()
    ]
    rows = engine.run_scan_model(
        "account_summaries",
        {"confirmed": _confirmed(confirmed), "profiles": pa.Table.from_pylist(read, _PROFILES)},
        {"preview_limit": VIDEO_PREVIEW_LIMIT},
    )
    videos = {video["aweme_id"]: video for video in confirmed}
    return {
        "accounts": [_entry(row, videos) for row in rows],
        "video_preview_limit": VIDEO_PREVIEW_LIMIT,
        "account_count": len(rows),
        "account_count_complete": False,
    }


def _confirmed(videos: Sequence[LinkedVideo]) -> pa.Table:
    rows = [_confirmed_row(at, video) for at, video in enumerate(videos)]
    return pa.Table.from_pylist(rows, _CONFIRMED)


def _confirmed_row(position: int, video: LinkedVideo) -> Row:
    author: Mapping[str, object] = video["author"] or {}
    return {
        "position": position,
        "aweme_id": video["aweme_id"],
        "link_type": video["link_type"],
        **video["statistics"],
        "statistics_complete": video["statistics_complete"],
        "create_time": video["create_time"],
        "sec_uid": author.get("sec_uid"),
        "nickname": author.get("nickname"),
        "unique_id": author.get("unique_id"),
    }


def _entry(row: Row, videos: Mapping[str, LinkedVideo]) -> AccountEntry:
    aweme_ids = cast("list[str]", row.pop("aweme_ids"))
    previews = [_preview(videos[aweme_id]) for aweme_id in aweme_ids]
    entry = {**row, "top_video": previews[0], "video_previews": previews}
    return cast("AccountEntry", entry)


def _preview(video: LinkedVideo) -> VideoPreview:
    return {
        "aweme_id": video["aweme_id"],
        "desc": video["desc"],
        "create_time": video["create_time"],
        "share_url": video["share_url"],
        "link_type": video["link_type"],
        "statistics": video["statistics"],
    }
