"""Numeric libraries compute in one thread, in every process that may compare sounds."""

import os
import subprocess
import sys

import pytest

_PRINT = "import os, sys; print(os.environ['OPENBLAS_NUM_THREADS'], 'numpy' in sys.modules)"


def printed_by(statement: str, **variables: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    command = [sys.executable, "-c", f"{statement}; {_PRINT}"]
    return subprocess.run(
        command, env=kept | variables, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.parametrize("module", ["pipelines", "api.cli.main"])
def test_threads_are_limited_before_numpy_is_loaded(module: str) -> None:
    assert printed_by(f"import {module}") == "1 False"


def test_comparing_is_limited_too() -> None:
    assert printed_by("import pipelines.audio.matching.verify") == "1 True"


def test_a_number_that_the_user_sets_is_kept() -> None:
    assert printed_by("import pipelines", OPENBLAS_NUM_THREADS="3") == "3 False"
