"""`make env` compiles every inner loop once, so that no process has to."""

import runpy

import pytest

from pipelines.audio.index import reference_index
from pipelines.audio.matching import verify


def test_the_loops_of_matcher_and_index_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    monkeypatch.setattr(verify, "warm_up", lambda: compiled.append("matcher"))
    monkeypatch.setattr(reference_index, "warm_up", lambda: compiled.append("index"))
    runpy.run_module("pipelines.audio.compile_loops", run_name="__main__")
    assert compiled == ["matcher", "index"]
    runpy.run_module("pipelines.audio.compile_loops", run_name="imported")
    assert len(compiled) == 2, "importing compiles nothing"
