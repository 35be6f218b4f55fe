"""External assets for lake tables that no asset yields because other steps write them.

They complete the graph from captured data to reports and carry the checks of their tables.
"""

from collections.abc import Collection, Mapping

from dagster import AssetKey, AssetSpec

from pipelines.orchestration.assets.decorators import CONCLUDE, KINDS, OWNERS
from pipelines.orchestration.assets.descriptions import asset_key
from warehouse.tables import TABLES, Table

GROUP = "lake"
OTHER_GROUPS: Mapping[str, str] = {
    "raw.accounts": CONCLUDE,
    "marts.annotations": CONCLUDE,
    "marts.catalog_matches": CONCLUDE,
    "marts.chart_links": "chart",
}
"""Tables whose rows follow from what scans conclude, or that only the chart reads."""
FED_BY: Mapping[str, tuple[str, ...]] = {
    "raw.payloads": (
        "raw/tracks", "marts/music_first_screen", "marts/author_first_screens",
        "marts/hashtag_first_screens", "raw/search_pages", "marts/video_details",
        "raw/watched_screens",
    ),
    "raw.captures": ("raw/payloads",),
    "raw.capture_items": ("raw/captures",),
    "raw.videos": ("raw/captures",),
    "raw.accounts": ("raw/captures", "marts/account_profiles"),
    "raw.hashtags": ("raw/captures",),
    "raw.chart_issues": ("raw/captures",),
    "raw.chart_songs": ("raw/captures",),
    "raw.sounds": ("marts/video_details",),
    "marts.annotations": ("marts/audio_comparisons",),
    "marts.catalog_matches": ("marts/audio_comparisons", "raw/sounds"),
}  # fmt: skip
"""The steps and tables that the rows of each table come from."""


def lake_tables(yielded: Collection[AssetKey]) -> list[AssetSpec]:
    """Return an external asset for each table of the contract that no other asset yields."""
    return [_external(table) for table in TABLES if asset_key(table) not in yielded]


def _external(table: Table) -> AssetSpec:
    return AssetSpec(
        asset_key(table),
        deps=[AssetKey(name.split("/")) for name in FED_BY.get(table.name, ())],
        description=f"One row per {table.row}. Written by other steps; verified by its checks.",
        group_name=OTHER_GROUPS.get(table.name, GROUP),
        owners=OWNERS,
        kinds=KINDS,
    )
