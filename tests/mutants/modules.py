"""Which modules the gate mutates, and which tests must notice.

To hold another module, add a line: its path, and the files of tests that load it in their own
process. What a test does in a child process sees the module as it is, so such tests prove nothing
here. Few and fast files are best: they run once for each mutant.
"""

DOMAIN = "pipelines/domain"
TESTS = "tests/unit/domain"

AUDIO = "tests/unit/audio"
JUDGING = f"{AUDIO}/test_judging.py"
LAKE = ("tests/unit/warehouse/test_lake.py", "tests/integration/warehouse/test_lake_evolution.py")
ARRANGING = ("tests/integration/warehouse/test_arranging.py",)
UPSTREAM = "tests/unit/upstream"

MODULES: dict[str, tuple[str, ...]] = {
    "api/guard.py": ("tests/unit/api/test_guard_rules.py",),
    "pipelines/audio/judging.py": (JUDGING,),
    "pipelines/audio/observing.py": (f"{AUDIO}/test_observing.py",),
    "pipelines/audio/scoring.py": (f"{AUDIO}/test_scoring.py", JUDGING),
    f"{DOMAIN}/coverage.py": (f"{TESTS}/test_coverage_lines.py",),
    f"{DOMAIN}/cursors.py": (f"{TESTS}/test_cursors.py",),
    f"{DOMAIN}/endings.py": (f"{TESTS}/test_job_rules.py",),
    f"{DOMAIN}/estimate.py": (f"{TESTS}/test_unseen_estimate.py",),
    f"{DOMAIN}/inputs.py": (f"{TESTS}/test_inputs.py",),
    f"{DOMAIN}/jobs.py": (f"{TESTS}/test_job_rules.py",),
    f"{DOMAIN}/parameters.py": (f"{TESTS}/test_scan_parameters.py", f"{TESTS}/test_scan_keys.py"),
    f"{DOMAIN}/ranking.py": (f"{TESTS}/test_ranking.py",),
    f"{DOMAIN}/results.py": (f"{TESTS}/test_results.py",),
    f"{DOMAIN}/search_walk.py": ("tests/unit/captures/test_search_steps.py",),
    f"{DOMAIN}/unions.py": (f"{TESTS}/test_unions.py",),
    "pipelines/upstream/gate.py": (f"{UPSTREAM}/test_gate.py",),
    "pipelines/upstream/hosts.py": (f"{UPSTREAM}/test_gate.py",),
    "pipelines/upstream/vidplat/links.py": (f"{UPSTREAM}/test_links.py",),
    "warehouse/arranging.py": ARRANGING,
    "warehouse/contract.py": ("tests/unit/warehouse/test_row_contract.py",),
    "warehouse/lake.py": LAKE,
    "warehouse/rows.py": ("tests/unit/warehouse/test_observation_rows.py",),
    "warehouse/tidying.py": ARRANGING,
}
