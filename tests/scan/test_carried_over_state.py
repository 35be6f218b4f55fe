"""A job that begins with the state of another one writes the rows of its finished steps anew."""

from typing import Any, cast

import pytest

from pipelines.scan import conclude
from pipelines.scan import marts as mart_rows
from pipelines.scan.conclude import carry_over
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import ScanState

STEP_MART = "music_first_screen"
WRITTEN = {"audio_comparisons", STEP_MART, "confirmed_videos", "coverage", "random_audits"}
RANKED = {"rankings", "account_summaries"}


class CarryingScan:
    """A scan that notes what it appends, and when it stores a checkpoint."""

    def __init__(self, state: ScanState) -> None:
        self.state = state
        self.result: object = None
        self.done: list[object] = []

    def append(self, noun: str, rows: list[dict[str, object]]) -> None:
        self.done.append((noun, rows))
        self.state.written.add(noun)

    def checkpoint(self) -> None:
        self.done.append("checkpoint")


@pytest.fixture(autouse=True)
def _rows_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each mart have one row, its own name; the result has an account summary."""

    def row(noun: str) -> Any:
        return lambda *_: [{"of": noun}]

    steps = ("audio_comparisons", "confirmed_videos", "candidates")
    confirmed = {noun: [{"of": noun}] for noun in steps}
    monkeypatch.setattr(mart_rows, "confirmation_rows", lambda _: confirmed)
    for name, noun in (
        ("coverage_rows", "coverage"), ("estimate_rows", "coverage_estimates"),
        ("audit_rows", "random_audits"), ("ranking_rows", "rankings"),
        ("account_rows", "account_summaries"),
    ):  # fmt: skip
        monkeypatch.setattr(mart_rows, name, row(noun))
    monkeypatch.setattr(conclude, "coverage_estimates", lambda _: ())
    monkeypatch.setattr(conclude, "result_document", lambda _: {"account_summary": "of the result"})


def carried(state: ScanState) -> CarryingScan:
    scan = CarryingScan(state)
    carry_over(cast("ScanRun", scan))
    return scan


def test_carried_over_state_writes_only_marts_of_the_new_job() -> None:
    scan = carried(ScanState(written=set(WRITTEN)))
    nouns = ["confirmed_videos", "coverage", "random_audits"]
    assert scan.done == [*((noun, [{"of": noun}]) for noun in nouns), "checkpoint"]
    assert scan.state.written == set(nouns)
    assert scan.result is None


def test_a_ranked_state_gives_the_job_a_result_and_its_rows() -> None:
    scan = carried(ScanState(written=WRITTEN | RANKED, steps={"rankings": {}}))
    written = [entry[0] for entry in scan.done if isinstance(entry, tuple)]
    assert written == sorted((WRITTEN | RANKED) - {"audio_comparisons", STEP_MART})
    assert scan.result == {"account_summary": "of the result"}
    assert scan.done[-1] == "checkpoint"


def test_a_state_without_rows_writes_a_checkpoint_alone() -> None:
    assert carried(ScanState()).done == ["checkpoint"]
