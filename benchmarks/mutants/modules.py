"""Which modules the gate mutates, and which tests must notice.

To hold another module, add a line: its path, and the files of tests that load it in their own
process. What a test does in a child process sees the module as it is, so such tests prove nothing
here. Few and fast files are best: they run once for each mutant.
"""

TESTS = "tests/unit/domain"

AUDIO = "tests/unit/audio"
JUDGING = f"{AUDIO}/test_judging.py"
JUDGED = (f"{AUDIO}/test_judged_stretches.py", f"{AUDIO}/test_judged_edits.py")
LAKE = (
    "tests/unit/warehouse/test_lake.py",
    "tests/unit/warehouse/test_lake_upkeep.py",
    "tests/unit/warehouse/test_lake_rules.py",
    "tests/integration/warehouse/test_lake_evolution.py",
)
ARRANGING = ("tests/integration/warehouse/test_arranging.py",)
UPSTREAM = "tests/unit/upstream"

MODULES: dict[str, tuple[str, ...]] = {
    "api/server/middleware/guard.py": ("tests/unit/api/test_guard_rules.py",),
    "pipelines/audio/matching/judging.py": (*JUDGED, JUDGING),
    "pipelines/audio/matching/scoring.py": (
        f"{AUDIO}/test_scoring.py",
        f"{AUDIO}/test_observing.py",
        JUDGING,
    ),
    "warehouse/records/coverage.py": (
        f"{TESTS}/test_coverage_lines.py",
        f"{TESTS}/test_coverage_records.py",
        "tests/unit/report/test_source_decisions.py",
    ),
    "pipelines/reads/cursors.py": (f"{TESTS}/test_cursors.py",),
    "pipelines/scan/service/service.py": (
        f"{TESTS}/test_job_rules.py",
        f"{TESTS}/test_lost_runs.py",
    ),
    "pipelines/scan/rules/coverage.py": (
        f"{TESTS}/test_random_audit.py",
        f"{TESTS}/test_coverage_estimate_rules.py",
        f"{TESTS}/test_coverage_estimates.py",
        f"{TESTS}/test_unseen_estimate.py",
    ),
    "pipelines/captures/inputs.py": (f"{TESTS}/test_inputs.py",),
    "warehouse/records/jobs.py": (f"{TESTS}/test_job_rules.py",),
    "pipelines/parameters/scan.py": (
        f"{TESTS}/test_scan_parameters.py",
        f"{TESTS}/test_scan_keys.py",
    ),
    "pipelines/scan/rules/results.py": (
        f"{TESTS}/test_ranking.py",
        f"{TESTS}/test_results.py",
    ),
    "pipelines/captures/walks.py": (
        "tests/unit/captures/test_search_steps.py",
        f"{UPSTREAM}/test_walk.py",
    ),
    "warehouse/queries/lists.py": (f"{TESTS}/test_unions.py",),
    "pipelines/platform/http/link_gate.py": (f"{UPSTREAM}/test_gate.py",),
    "pipelines/platform/parsers/links.py": (
        f"{UPSTREAM}/test_links.py",
        f"{UPSTREAM}/test_gate.py",
    ),
    "warehouse/tables/contract.py": ("tests/unit/warehouse/test_row_contract.py",),
    "warehouse/lake/store.py": LAKE,
    "warehouse/lake/record_rows.py": ("tests/unit/warehouse/test_observation_rows.py",),
    "warehouse/maintenance/compaction.py": ARRANGING,
}
