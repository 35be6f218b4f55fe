"""The data contract in Dagster: tables as assets, with column schema, lineage and links.

Tables that no step yields are external assets, because other steps write them: they complete the
graph from captured data to reports and carry the checks of their tables. Not here: the contract
itself (`warehouse/tables`), counts of a run (`decorators.py`).
"""

from collections.abc import Collection, Iterable, Mapping

import dagster as dg

from pipelines.orchestration.assets.decorators import CONCLUDE, KINDS, OWNERS
from warehouse.records.videos import COUNTS
from warehouse.tables import BY_NAME, TABLES, Table

GROUP = "lake"
OTHER_GROUPS: Mapping[str, str] = {
    "raw.accounts": CONCLUDE,
    "marts.annotations": CONCLUDE,
    "marts.catalog_matches": CONCLUDE,
    "marts.common_sounds": CONCLUDE,
    "marts.chart_links": "chart",
}
"""Tables whose rows follow from what scans conclude, or that only the chart reads."""

FED_BY: Mapping[str, tuple[str, ...]] = {
    "raw.payloads": (
        "raw/tracks",
        "marts/music_first_screen",
        "marts/author_first_screens",
        "marts/hashtag_first_screens",
        "raw/search_pages",
        "marts/video_details",
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
    "marts.common_sounds": ("marts/audio_comparisons", "raw/sounds"),
}
"""The steps and tables that the rows of each table come from."""

WRITES: Mapping[str, str] = {"raw/watched_screens": "raw.capture_items"}
"""Assets that are not tables themselves, with the table of most of their rows."""


def asset_key(table: Table) -> dg.AssetKey:
    """Return the asset key of a table: `layer/noun`, the same names as in SQL."""
    return dg.AssetKey(table.name.split("."))


def deps_on(*names: str) -> list[dg.AssetDep]:
    """Return dependencies on tables by name, such as `raw.videos`."""
    return [dg.AssetDep(asset_key(BY_NAME[name])) for name in names]


def lake_tables(yielded: Collection[dg.AssetKey]) -> list[dg.AssetSpec]:
    """Return an external asset for each table of the contract that no other asset yields."""
    return [
        dg.AssetSpec(
            asset_key(table),
            deps=[dg.AssetKey(name.split("/")) for name in FED_BY.get(table.name, ())],
            description=f"One row per {table.row}. Written by other steps; verified by its checks.",
            group_name=OTHER_GROUPS.get(table.name, GROUP),
            owners=OWNERS,
            kinds=KINDS,
        )
        for table in TABLES
        if asset_key(table) not in yielded
    ]


def described(
    assets: Iterable[dg.AssetsDefinition | dg.AssetSpec], *, console_url: str | None = None
) -> list[dg.AssetsDefinition | dg.AssetSpec]:
    """Add the metadata of the data contract to assets; metadata of the asset itself wins.

    `console_url` is the public address of the console for links; None makes no links.
    """
    links: dict[str, object] = {}
    if console_url is not None:
        root = console_url.rstrip("/")
        links = {
            "console": dg.MetadataValue.url(f"{root}/console"),
            "api": dg.MetadataValue.url(f"{root}/docs"),
        }

    def describe(spec: dg.AssetSpec) -> dg.AssetSpec:
        return spec.replace_attributes(
            metadata={**_contract_metadata(spec.key), **links, **spec.metadata}
        )

    return list(dg.map_asset_specs(describe, assets))


def _contract_metadata(key: dg.AssetKey) -> dict[str, object]:
    """Return the metadata of the table of an asset, or of the table that a step writes."""
    name = ".".join(key.path)
    table = BY_NAME.get(name) or BY_NAME.get(WRITES.get(key.to_user_string(), ""))
    if table is None:
        return {}
    metadata: dict[str, object] = {
        "dagster/column_schema": table_schema(table),
        "dictionary": dg.MetadataValue.path(
            f"docs/data-dictionary.md#{table.name.replace('.', '')}"
        ),
    }
    if table.name != name:
        return {**metadata, "writes": dg.MetadataValue.asset(asset_key(table))}
    metadata |= {
        "dagster/table_name": name,
        "dagster/storage_kind": "delta",
        "schema_version": table.version,
    }
    # A table that is itself a source has no lineage.
    if name in COLUMNS_FROM:
        columns = {}
        for column, sources in COLUMNS_FROM[name].items():
            parts = [source.rpartition(".") for source in sources]  # of `raw.videos.digg_count`
            columns[column] = [
                dg.TableColumnDep(dg.AssetKey(source_table.split(".")), source_column)
                for source_table, _, source_column in parts
            ]
        metadata["dagster/column_lineage"] = dg.TableColumnLineage(columns)
    return metadata


def table_schema(table: Table) -> dg.TableSchema:
    """Return the columns of a table with type, meaning, unit and nullability."""
    columns = []
    for column in table.columns:
        # Unit and sources stand in the description: the free UI shows column lineage nowhere else.
        unit = f" [{column.unit}]" if column.unit else ""
        sources = ", ".join(COLUMNS_FROM.get(table.name, {}).get(column.name, ()))
        columns.append(
            dg.TableColumn(
                column.name,
                column.type_label,
                description=f"{column.meaning}{unit}" + (f" ← {sources}" if sources else ""),
                constraints=dg.TableColumnConstraints(
                    nullable=not column.required, unique=table.key == (column.name,)
                ),
                tags={"key": ""} if column.name in table.key else None,
            )
        )
    return dg.TableSchema(
        columns=columns,
        constraints=dg.TableConstraints(
            other=[f"one row per {table.row}", f"key: {', '.join(table.key)}"]
        ),
    )


# The sources of mart columns, by name. Data only; a test checks it against the data contract.
#
# A computed column (a verdict, a distance, a rank) has no entry.

_SCREENS = (
    "marts.music_first_screen",
    "marts.author_first_screens",
    "marts.hashtag_first_screens",
)


def _same(table: str, *columns: str) -> dict[str, tuple[str, ...]]:
    return {column: (f"{table}.{column}",) for column in columns}


COLUMNS_FROM: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "marts.candidate_pool": {
        "source_surface": tuple(f"{table}.surface" for table in _SCREENS),
        **{
            column: tuple(f"{table}.{column}" for table in _SCREENS)
            for column in ("aweme_id", "source_entity_id", "music_id")
        },
    },
    "marts.video_details": _same("marts.candidate_pool", "aweme_id"),
    "marts.candidates": {
        **_same("marts.candidate_pool", "aweme_id", "source_surface", "source_entity_id"),
        "music_id": ("marts.video_details.music_id",),
    },
    "marts.account_profiles": _same("marts.confirmed_videos", "sec_uid"),
    "marts.audio_comparisons": {
        "track_music_id": ("raw.tracks.music_id",),
        "reference_aweme_id": ("raw.sounds.aweme_id",),
        "candidate_aweme_id": ("raw.sounds.aweme_id",),
        "reference_music_id": ("raw.videos.music_id",),
        "candidate_music_id": ("raw.videos.music_id",),
        "reference_sha256": ("raw.sounds.sound_sha256",),
        "candidate_sha256": ("raw.sounds.sound_sha256",),
        "chroma_distance": ("raw.sounds.features",),
        "mfcc_distance": ("raw.sounds.features",),
        "overlap_s": ("raw.sounds.features",),
        "peak_agreement": ("raw.sounds.features",),
        **_same("raw.sounds", "feature_version", "library_version"),
    },
    "marts.annotations": _same("marts.audio_comparisons", "comparison_id"),
    "marts.common_sounds": {
        **_same("raw.sounds", "aweme_id", "sound_sha256", "features", "feature_version"),
        "track_music_ids": ("marts.audio_comparisons.track_music_id",),
        "comparison_ids": ("marts.audio_comparisons.comparison_id",),
    },
    "marts.confirmed_videos": {
        "music_id": ("raw.tracks.music_id",),
        "aweme_id": ("raw.videos.aweme_id",),
        "source_music_id": ("raw.videos.music_id",),
        "source_music_title": ("raw.videos.music_title",),
        "sec_uid": ("raw.videos.sec_uid",),
        **_same("marts.audio_comparisons", "comparison_id", "reference_aweme_id"),
    },
    "marts.variants": {
        "music_id": ("raw.tracks.music_id",),
        "aweme_id": ("raw.videos.aweme_id",),
        "source_music_id": ("raw.videos.music_id",),
        "sec_uid": ("raw.videos.sec_uid",),
        **_same("marts.audio_comparisons", "comparison_id", "speed", "semitones"),
    },
    "marts.expansion_rounds": {
        "music_ids": ("raw.videos.music_id",),
        "new_confirmed_count": ("marts.confirmed_videos.aweme_id",),
    },
    "marts.coverage_estimates": {"observed_count": ("marts.confirmed_videos.aweme_id",)},
    "marts.random_audits": {
        "compared_count": ("marts.audio_comparisons.candidate_aweme_id",),
        "carrying_count": ("marts.audio_comparisons.verdict",),
    },
    "marts.rankings": {
        **_same("marts.confirmed_videos", "aweme_id", "music_id", "link_type"),
        **_same("raw.videos", *COUNTS, "statistics_complete", "create_time"),
        "hot_score": tuple(f"raw.videos.{column}" for column in COUNTS),
    },
    "marts.account_summaries": {
        **_same("marts.confirmed_videos", "music_id", "sec_uid"),
        **_same("raw.accounts", "nickname", "unique_id", "follower_count", "total_favorited"),
        **_same("raw.accounts", "aweme_count"),
        "linked_video_count": ("marts.confirmed_videos.aweme_id",),
        **{f"linked_{column}": (f"raw.videos.{column}",) for column in COUNTS},
        "top_aweme_id": ("raw.videos.aweme_id", "raw.videos.digg_count"),
    },
    "marts.discovered_videos": {
        "track_music_id": ("raw.tracks.music_id",),
        **_same("raw.videos", "aweme_id", "music_id"),
        **_same("marts.audio_comparisons", "comparison_id"),
    },
    "marts.search_related": {
        "aweme_id": ("raw.capture_items.aweme_id",),
        "music_id": ("raw.videos.music_id",),
        "search_terms": ("raw.search_pages.term",),
    },
    "marts.job_results": {
        "music_id": ("marts.rankings.music_id",),
        "document": ("marts.rankings.aweme_id", "marts.rankings.hot_score"),
        "confirmed_count": ("marts.confirmed_videos.aweme_id",),
    },
    "marts.chart_platform": {
        "song_key": (
            "raw.chart_songs.song_hash",
            "raw.chart_songs.title",
            "raw.chart_songs.artist",
        ),
        **_same("raw.chart_songs", "title", "artist"),
        "music_id": (
            "raw.tracks.music_id",
            "raw.videos.music_id",
            "marts.confirmed_videos.source_music_id",
            "marts.variants.source_music_id",
            "marts.chart_links.music_id",
        ),
        "relation": ("marts.chart_links.said",),
        "music_title": ("raw.tracks.title", "raw.videos.music_title"),
        "music_author": ("raw.tracks.author", "raw.videos.music_author"),
        "best_rank": ("raw.chart_songs.rank",),
        "first_chart_date": ("raw.chart_songs.chart_date", "raw.chart_issues.chart_date"),
        "last_chart_date": ("raw.chart_songs.chart_date", "raw.chart_issues.chart_date"),
        "entry_after_date": ("raw.chart_songs.chart_date", "raw.chart_issues.chart_date"),
        "work_count": ("marts.confirmed_videos.aweme_id",),
        "digg_count": ("raw.videos.digg_count",),
        "first_observed_at": ("raw.videos.observed_at",),
        "last_observed_at": ("raw.videos.observed_at",),
        "rise_after": ("raw.videos.digg_count", "raw.videos.create_time"),
        "rise_before": ("raw.videos.digg_count",),
    },
    "raw.capture_items": _same("raw.captures", "capture_id", "surface", "entity_id", "sequence"),
    "raw.captures": {"payload_sha256": ("raw.payloads.sha256",)},
    **{
        table: _same("raw.captures", "capture_id", "surface", "observed_at")
        for table in ("raw.videos", "raw.accounts", "raw.hashtags")
    },
}
"""Sources by table and column: `layer.table.column`."""
