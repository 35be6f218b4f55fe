"""Every asset says what it is, who keeps it and what its columns are; every table has checks."""

from datetime import date
from functools import cache

import pytest
from dagster import AssetKey, MetadataValue, TableSchema
from dagster._core.definitions.assets.graph.asset_graph import AssetGraph
from dagster._core.definitions.assets.graph.base_asset_graph import BaseAssetNode

from pipelines.orchestration.assets.tables import COLUMNS_FROM, FED_BY, asset_key, table_schema
from pipelines.orchestration.checks import rows_of_days
from pipelines.orchestration.definitions import build_definitions
from warehouse.models import FOLDER
from warehouse.tables import BY_NAME, TABLES, Table
from warehouse.tables.column import FRESH_WITHIN, nonnegative_columns, required_columns, rule_names

READ_FROM_OUTSIDE = {
    "raw/tracks", "marts/music_first_screen", "marts/author_first_screens",
    "marts/hashtag_first_screens", "raw/search_pages", "marts/video_details",
    "marts/account_profiles", "raw/chart_issues", "raw/chart_songs", "marts/surface_health",
}  # fmt: skip


@cache
def graph() -> AssetGraph:
    """Built when a test runs, not when one is collected."""
    return build_definitions(console_url="http://127.0.0.1:8780/").resolve_asset_graph()


@cache
def keys() -> list[AssetKey]:
    return sorted(graph().get_all_asset_keys(), key=AssetKey.to_user_string)


def columns_of(node: BaseAssetNode) -> set[str]:
    schema = node.metadata["dagster/column_schema"]
    assert isinstance(schema, TableSchema)
    return {column.name for column in schema.columns}


def source(text: str) -> tuple[AssetKey, str]:
    name, _, column = text.rpartition(".")
    return AssetKey(name.replace(".", "/").split("/")), column


def test_every_asset_says_what_it_is_and_who_keeps_it(subtests: pytest.Subtests) -> None:
    for key in keys():
        with subtests.test(key.to_user_string()):
            node = graph().get(key)
            assert node.description
            assert node.owners == ["team:sametrack"]
            assert node.group_name != "default"
            assert node.metadata["console"] == MetadataValue.url("http://127.0.0.1:8780/console")
            assert columns_of(node)


def test_kinds_say_what_reads_the_platform_compares_sounds_and_runs_sql() -> None:
    def having(kind: str) -> set[str]:
        return {key.to_user_string() for key in keys() if kind in graph().get(key).kinds}

    assert all(graph().get(key).kinds for key in keys())
    assert having("http") == READ_FROM_OUTSIDE
    assert having("sql") == {f"marts/{path.stem}" for path in (FOLDER / "scan").glob("*.sql")}
    assert having("numpy") == {
        "marts/audio_comparisons", "marts/candidates", "marts/confirmed_videos",
        "marts/expansion_rounds", "marts/variants",
    }  # fmt: skip


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_table_stands_in_the_graph_with_the_columns_of_its_contract(table: Table) -> None:
    node = graph().get(asset_key(table))
    assert columns_of(node) == {column.name for column in table.columns}
    assert node.metadata["dagster/table_name"] == table.name
    assert node.metadata["schema_version"] == table.version
    shown = {column.name: column for column in table_schema(table).columns}
    for column in table.columns:
        assert shown[column.name].type == column.type_label
        assert shown[column.name].constraints.nullable == (not column.required)
        assert column.meaning in str(shown[column.name].description)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_table_has_the_checks_of_its_contract(table: Table) -> None:
    names = {key.name for key in graph().asset_check_keys if key.asset_key == asset_key(table)}
    assert set(rule_names(table)) <= names
    assert {"schema_is_as_agreed", "keys_are_unique", "times_are_past"} <= names
    assert ("required_columns_are_filled" in names) == bool(required_columns(table))
    assert ("numbers_are_not_negative" in names) == bool(nonnegative_columns(table))
    assert ("rows_are_fresh" in names) == (table.name in FRESH_WITHIN)
    assert not any(
        graph().get(key).blocking
        for key in graph().asset_check_keys
        if key.name in rule_names(table)
    )


@pytest.mark.parametrize("name", list(COLUMNS_FROM))
def test_lineage_names_columns_that_exist(name: str) -> None:
    assert COLUMNS_FROM[name].keys() <= {column.name for column in BY_NAME[name].columns}
    for sources in COLUMNS_FROM[name].values():
        for key, column in map(source, sources):
            assert column in columns_of(graph().get(key))


@pytest.mark.parametrize("name", list(COLUMNS_FROM))
def test_source_columns_of_an_asset_belong_to_upstream_tables(name: str) -> None:
    upstream: set[AssetKey] = set()
    left = [AssetKey(name.split("."))]
    while left:
        parents = set(graph().get(left.pop()).parent_keys) - upstream
        upstream |= parents
        left.extend(parents)
    wanted = {source(text)[0] for texts in COLUMNS_FROM[name].values() for text in texts}
    assert wanted <= upstream


def test_tables_are_fed_by_what_exists() -> None:
    for name, feeders in FED_BY.items():
        assert name in BY_NAME
        assert {AssetKey(feeder.split("/")) for feeder in feeders} <= set(keys())


def test_assets_of_scans_have_a_partition_for_each_subject_and_the_others_none() -> None:
    parts = {key: graph().get(key).partitions_def is not None for key in keys()}
    groups = {key: graph().get(key).group_name for key in keys()}
    assert all(parts[key] for key in keys() if groups[key] in {"collect", "discovery", "watching"})
    assert not any(parts[key] for key in keys() if groups[key] in {"lake", "health", "publishing"})


def test_links_are_left_out_where_nobody_says_how_the_console_is_reached() -> None:
    unlinked = build_definitions().resolve_asset_graph()
    assert "console" not in unlinked.get(keys()[0]).metadata


def test_days_are_bars_and_those_without_rows_are_dots() -> None:
    days = {date(2026, 11, 1): 1, date(2026, 11, 3): 7, date(2026, 11, 4): 14}
    bars, _, words = rows_of_days(days).partition("\n\n")
    assert bars == "`▂·▅█`"
    assert words == "2026-11-01 to 2026-11-04, at most 14 rows a day"
    assert rows_of_days({}) == "no rows in the last 30 days"
