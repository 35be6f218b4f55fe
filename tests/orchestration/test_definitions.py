"""What the orchestrator sees: asset keys, their order, checks and jobs."""

from contextlib import closing
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from dagster import AssetCheckKey, AssetKey, Failure

from pipelines.orchestration.definitions import LOCATION, build_definitions
from pipelines.orchestration.runs.run_session import CurrentScan, ScanOutcome
from warehouse.control import jobs, open_control
from warehouse.home import open_home
from warehouse.tables.column import MEANINGS

HEARD = ("raw/sounds", "marts/video_details", "raw/videos")
GRAPH = {
    "raw/tracks": [],
    "marts/music_first_screen": ["raw/tracks"],
    "marts/author_first_screens": ["marts/music_first_screen"],
    "marts/hashtag_first_screens": ["marts/music_first_screen"],
    "raw/search_pages": ["raw/tracks"],
    "marts/candidate_pool": [
        "marts/author_first_screens",
        "marts/hashtag_first_screens",
        "raw/search_pages",
    ],
    "marts/video_details": ["marts/candidate_pool"],
    "marts/audio_comparisons": ["raw/sounds", "marts/video_details", "raw/videos"],
    "marts/confirmed_videos": ["marts/audio_comparisons", *HEARD],
    "marts/variants": ["marts/audio_comparisons", *HEARD],
    "marts/candidates": ["marts/audio_comparisons", *HEARD],
    "marts/expansion_rounds": ["marts/confirmed_videos", *HEARD],
    "marts/account_profiles": ["marts/confirmed_videos"],
    "marts/coverage": ["marts/confirmed_videos", "marts/account_profiles"],
    "marts/coverage_estimates": ["marts/confirmed_videos"],
    "marts/random_audits": ["marts/audio_comparisons"],
    "marts/rankings": ["marts/confirmed_videos", "marts/coverage"],
    "marts/account_summaries": [
        "marts/confirmed_videos",
        "marts/account_profiles",
        "raw/accounts",
        "raw/videos",
    ],
    "marts/search_related": ["raw/capture_items", "marts/video_details", "raw/videos"],
    "marts/job_results": ["marts/rankings", "marts/search_related", "marts/video_details"],
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
        if graph.get(key).group_name in {"collect", "conclude"} and graph.get(key).is_materializable
    }
    assert drawn == {name: sorted(parents) for name, parents in GRAPH.items()}


def test_groups_follow_the_flow_so_that_the_lineage_page_reads_from_left_to_right() -> None:
    graph = build_definitions().resolve_asset_graph()
    nodes = [graph.get(key) for key in graph.get_all_asset_keys()]
    before: dict[str, set[str]] = {}
    for node in nodes:
        groups = {graph.get(parent).group_name for parent in node.parent_keys}
        before.setdefault(node.group_name, set()).update(groups - {node.group_name})
    ordered = list(TopologicalSorter(before).static_order())  # raises CycleError
    assert ordered.index("collect") < ordered.index("lake") < ordered.index("conclude")
    assert ordered.index("conclude") < ordered.index("reports")


def test_each_track_has_its_own_results_of_the_checks_of_a_scan() -> None:
    graph = build_definitions().resolve_asset_graph()
    confirmed = AssetKey(["marts", "confirmed_videos"])
    for name in CHECKS:
        check = graph.get(AssetCheckKey(confirmed, name))
        assert check.partitions_def == graph.get(confirmed).partitions_def


def test_blocking_checks_stand_before_the_ranking() -> None:
    graph = build_definitions().resolve_asset_graph()
    confirmed = AssetKey(["marts", "confirmed_videos"])
    found = {
        key.name: graph.get(key)
        for key in graph.asset_check_keys
        if key.asset_key == confirmed and key.name not in MEANINGS
    }
    assert found.keys() == CHECKS
    assert all(check.blocking for check in found.values())


def test_the_code_server_can_load_everything() -> None:
    """More than assembling them: names of jobs and steps must not meet, for example."""
    repository = build_definitions().get_repository_def()
    repository.load_all_definitions()
    assert len(repository.get_all_jobs()) > len(repository.schedule_defs)


def test_the_code_location_has_the_name_that_runs_are_filed_under() -> None:
    workspace = (Path(__file__).parents[2] / "workspace.yaml").read_text()
    assert f"location_name: {LOCATION}\n" in workspace


def test_a_scan_can_be_asked_for_from_the_launchpad(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    job = build_definitions().resolve_job_def("request_scan")
    config = {"ops": {"hand_in_scan": {"config": {"input": "1234567890", "candidate_limit": 40}}}}
    ended = job.execute_in_process(run_config=config)
    assert ended.success
    home = open_home(tmp_path, "sandbox")
    with closing(open_control(home.control_url, world="sandbox")) as control:
        queued = jobs.get(control, ended.output_for_node("hand_in_scan"))
    assert queued is not None
    assert (queued.status, queued.origin, queued.target) == ("queued", "launchpad", "1234567890")
    assert queued.parameters["candidate_limit"] == 40


def test_an_asset_started_without_a_scan_says_what_to_do() -> None:
    with pytest.raises(Failure, match="request_scan"), CurrentScan().stage("track"):
        raise AssertionError("the body must not run")


def test_a_run_that_broke_between_two_stages_is_lost_and_not_the_fault_of_the_scan() -> None:
    scan = CurrentScan()
    assert scan.outcome().status == "lost"
    scan.note_check(passed=True)
    assert scan.outcome().status == "lost"
    scan.note_check(passed=False)
    assert scan.outcome() == ScanOutcome("failed")
    scan = CurrentScan()
    scan.has_result = True
    assert scan.outcome().status == "completed"
