"""Which modules the gate mutates, and which tests must notice.

To hold another module, add a line: its path, and the files of tests that load it in their own
process. What a test does in a child process sees the module as it is, so such tests prove nothing
here. Few and fast files are best: they run once for each mutant.
"""

DOMAIN = "pipelines/domain"
TESTS = "tests/unit/domain"

MODULES: dict[str, tuple[str, ...]] = {
    f"{DOMAIN}/coverage.py": (f"{TESTS}/test_coverage_lines.py",),
    f"{DOMAIN}/cursors.py": (f"{TESTS}/test_cursors.py",),
    f"{DOMAIN}/endings.py": (f"{TESTS}/test_job_rules.py",),
    f"{DOMAIN}/estimate.py": (f"{TESTS}/test_unseen_estimate.py",),
    f"{DOMAIN}/jobs.py": (f"{TESTS}/test_job_rules.py",),
    f"{DOMAIN}/parameters.py": (f"{TESTS}/test_scan_parameters.py", f"{TESTS}/test_scan_keys.py"),
    f"{DOMAIN}/ranking.py": (f"{TESTS}/test_ranking.py",),
    f"{DOMAIN}/results.py": (f"{TESTS}/test_results.py",),
    f"{DOMAIN}/search_walk.py": ("tests/unit/captures/test_search_steps.py",),
    f"{DOMAIN}/unions.py": (f"{TESTS}/test_unions.py",),
}
