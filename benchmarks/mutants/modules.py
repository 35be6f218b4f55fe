"""Which modules the gate mutates, and which tests must notice.

To hold another module, add a line: its path, and the files of tests that load it in their own
process. What a test does in a child process sees the module as it is, so such tests prove nothing
here. Few and fast files are best: they run once for each mutant.
"""

JUDGING = "tests/audio/matching/test_judging.py"
JUDGED = (
    "tests/audio/matching/test_judged_stretches.py",
    "tests/audio/matching/test_judged_edits.py",
)
LAKE = (
    "tests/warehouse/lake/test_lake.py",
    "tests/warehouse/lake/test_lake_maintenance.py",
    "tests/warehouse/lake/test_lake_rules.py",
    "tests/warehouse/lake/test_lake_evolution.py",
)
ARRANGING = ("tests/warehouse/maintenance/test_sorting.py",)

MODULES: dict[str, tuple[str, ...]] = {
    "api/server/middleware.py": (
        "tests/api/server/test_guard_rules.py",
        "tests/api/server/test_rate_limit.py",
        "tests/api/server/test_request_context.py",
    ),
    "pipelines/audio/matching/judging.py": (*JUDGED, JUDGING),
    "pipelines/audio/matching/scoring.py": (
        "tests/audio/matching/test_scoring.py",
        "tests/audio/matching/test_rejection_observations.py",
        JUDGING,
    ),
    "warehouse/records/coverage.py": (
        "tests/scan/rules/test_coverage_lines.py",
        "tests/scan/rules/test_coverage_records.py",
        "tests/documents/test_source_decisions.py",
    ),
    "pipelines/scan/service/service.py": (
        "tests/scan/rules/test_job_rules.py",
        "tests/scan/rules/test_lost_runs.py",
        "tests/scan/test_single_flight.py",
        "tests/scan/test_served_results.py",
        "tests/scan/test_result_cache.py",
        "tests/contract/test_hot_videos_and_jobs.py",
    ),
    "pipelines/scan/rules/coverage.py": (
        "tests/scan/rules/test_random_audit.py",
        "tests/scan/rules/test_coverage_estimate_rules.py",
        "tests/scan/rules/test_coverage_estimates.py",
        "tests/scan/rules/test_unseen_estimate.py",
    ),
    "pipelines/captures/inputs.py": ("tests/captures/test_inputs.py",),
    "warehouse/records/jobs.py": ("tests/scan/rules/test_job_rules.py",),
    "pipelines/parameters/scan.py": (
        "tests/scan/rules/test_scan_parameters.py",
        "tests/scan/rules/test_scan_keys.py",
    ),
    "pipelines/scan/rules/results.py": (
        "tests/scan/rules/test_ranking.py",
        "tests/scan/rules/test_stored_results.py",
    ),
    "pipelines/captures/walks.py": (
        "tests/captures/test_search_steps.py",
        "tests/captures/test_list_walks.py",
    ),
    "warehouse/queries/lists.py": (
        "tests/warehouse/queries/test_list_union_rules.py",
        "tests/warehouse/queries/test_list_unions.py",
        "tests/api/services/test_cursors.py",
    ),
    "pipelines/platform/http/link_gate.py": ("tests/platform/http/test_link_gate.py",),
    "pipelines/platform/parsers/links.py": (
        "tests/platform/parsers/test_links.py",
        "tests/platform/http/test_link_gate.py",
    ),
    "warehouse/tables/column.py": (
        "tests/warehouse/test_row_contract.py",
        "tests/warehouse/test_data_dictionary.py",
        "tests/orchestration/test_described_assets.py",
    ),
    "warehouse/lake/store.py": LAKE,
    "warehouse/lake/record_rows.py": ("tests/warehouse/lake/test_observation_rows.py",),
    "warehouse/maintenance/compaction.py": ARRANGING,
}
