"""A circuit opens at its threshold, lets one probe through, and closes only by it."""

from hypothesis import given
from hypothesis import strategies as st

from warehouse.control.hosts import (
    Circuit,
    after_failure,
    after_success,
    decide_request,
    without_probe,
)


def failed(
    circuit: Circuit,
    now: float,
    *,
    cause: str = "upstream_unreachable",
    is_probe: bool = False,
    threshold: int = 3,
) -> Circuit:
    return after_failure(
        circuit,
        now,
        cause=cause,
        is_probe=is_probe,
        threshold=threshold,
        open_s=60,
        longest_s=200,
    )


def test_failures_in_a_row_open_it_at_the_threshold() -> None:
    circuit = failed(failed(Circuit(), 0), 1)
    assert decide_request(circuit, 1, probe_s=5)[1].is_allowed
    refused = decide_request(failed(circuit, 2), 10, probe_s=5)[1]
    assert (refused.is_allowed, refused.wait_s, refused.cause) == (
        False,
        52,
        "upstream_unreachable",
    )


def test_a_success_between_failures_starts_the_count_again() -> None:
    circuit = after_success(failed(failed(Circuit(), 0), 1), is_probe=False)
    assert decide_request(failed(circuit, 2), 3, probe_s=5)[1].is_allowed


def test_one_failure_is_enough_where_the_threshold_is_one() -> None:
    circuit = failed(Circuit(), 0, cause="upstream_forbidden", threshold=1)
    assert decide_request(circuit, 1, probe_s=5)[1].cause == "upstream_forbidden"


def test_after_the_open_time_one_request_is_the_probe_and_others_wait_for_it() -> None:
    circuit = failed(Circuit(), 0, threshold=1)
    circuit, first = decide_request(circuit, 60, probe_s=5)
    _, second = decide_request(circuit, 61, probe_s=5)
    assert (first.is_allowed, first.is_probe) == (True, True)
    assert (second.is_allowed, second.wait_s) == (False, 4)


def test_probe_that_never_reports_is_followed_by_another() -> None:
    circuit, _ = decide_request(failed(Circuit(), 0, threshold=1), 60, probe_s=5)
    assert decide_request(circuit, 65, probe_s=5)[1].is_probe
    assert decide_request(without_probe(circuit), 61, probe_s=5)[1].is_probe


def test_probe_that_works_closes_it_and_one_that_fails_opens_it_for_twice_as_long() -> None:
    probing, _ = decide_request(failed(Circuit(), 0, threshold=1), 60, probe_s=5)
    assert after_success(probing, is_probe=True) == Circuit()
    longer = failed(probing, 61, is_probe=True)
    assert decide_request(longer, 61, probe_s=5)[1].wait_s == 120
    longest = failed(decide_request(longer, 181, probe_s=5)[0], 181, is_probe=True)
    assert decide_request(longest, 181, probe_s=5)[1].wait_s == 200


def test_late_answers_neither_close_nor_prolong_an_open_circuit() -> None:
    circuit = failed(Circuit(), 0, threshold=1)
    assert after_success(circuit, is_probe=False) == circuit
    assert failed(circuit, 5) == circuit


@given(st.lists(st.sampled_from(["ask", "fail", "work", "wait"]), max_size=60))
def test_at_most_one_probe_is_out_and_an_open_circuit_always_ends(steps: list[str]) -> None:
    circuit, now, probes_out = Circuit(), 0.0, 0
    for step in steps:
        now += 30 if step == "wait" else 1
        if step == "ask":
            circuit, passage = decide_request(circuit, now, probe_s=10_000)
            probes_out += passage.is_probe
        elif step == "fail":
            circuit, probes_out = failed(circuit, now, is_probe=probes_out > 0), 0
        elif step == "work":
            circuit, probes_out = after_success(circuit, is_probe=probes_out > 0), 0
        assert probes_out <= 1
    assert decide_request(circuit, now + 20_000, probe_s=1)[1].is_allowed
