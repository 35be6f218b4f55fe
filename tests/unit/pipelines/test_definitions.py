"""What the orchestrator sees: asset keys, their order, checks and jobs."""

from pathlib import Path

from dagster import AssetKey

from pipelines.definitions import LOCATION, build_definitions

GRAPH = {
    "raw/tracks": [],
    "raw/music_first_screen": ["raw/tracks"],
    "raw/author_first_screens": ["raw/music_first_screen"],
    "marts/candidates": ["raw/author_first_screens"],
    "raw/video_details": ["marts/candidates"],
    "marts/confirmed_videos": ["raw/video_details"],
    "marts/audio_comparisons": ["raw/video_details"],
    "marts/expansion_rounds": ["raw/video_details"],
    "marts/coverage": ["marts/confirmed_videos"],
    "marts/rankings": ["marts/confirmed_videos", "marts/coverage"],
    "marts/job_results": ["marts/rankings"],
}
CHECKS = {
    "confirmed_ids_are_unique",
    "counts_are_never_negative",
    "every_link_has_a_known_type",
    "audio_links_hold_as_heard",
}


def named(key: AssetKey) -> str:
    return key.to_user_string()


def test_the_scan_graph_is_what_the_documents_draw() -> None:
    graph = build_definitions().resolve_asset_graph()
    drawn = {
        named(key): sorted(named(parent) for parent in graph.get(key).parent_keys)
        for key in graph.get_all_asset_keys()
    }
    assert drawn == GRAPH


def test_blocking_checks_stand_before_the_ranking() -> None:
    graph = build_definitions().resolve_asset_graph()
    found = {key.name: graph.get(key) for key in graph.asset_check_keys}
    assert found.keys() == CHECKS
    assert all(named(check.key.asset_key) == "marts/confirmed_videos" for check in found.values())
    assert all(check.blocking for check in found.values())


def test_every_scan_asset_says_what_it_is_and_who_keeps_it() -> None:
    graph = build_definitions().resolve_asset_graph()
    for key in graph.get_all_asset_keys():
        node = graph.get(key)
        assert node.description
        assert node.owners == ["team:sametrack"]
        assert node.group_name == "scan"
        assert node.partitions_def is not None


def test_the_code_location_has_the_name_that_runs_are_filed_under() -> None:
    workspace = (Path(__file__).parents[3] / "workspace.yaml").read_text()
    assert f"location_name: {LOCATION}\n" in workspace
