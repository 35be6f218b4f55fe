"""The table of refusals is total: every row has a shape, every error a row, every row a policy."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import pipelines.platform
from pipelines.platform.http.circuit_breaker import OPEN_REASON, failure_threshold
from pipelines.platform.refusal_table import (
    REFUSALS,
    Refusal,
    RefusalPolicy,
    allows_policy,
    policy_of,
    refusal_error,
    refusal_of,
)
from tests.platform.shape_answers import Shape
from warehouse.records import errors
from warehouse.records.errors import SametrackError, UpstreamError

ROWS = {row.name: row for row in REFUSALS}
OURS = {"budget_spent", "surface_off", "refused_lately"}  # no answer of anybody: our own rules
OF_THE_APP = {"app_login", "app_verification", "app_unreadable", "device_unavailable"}
"""No body of a web surface: `tests/platform/mobileapp` and the stand-in device hold these."""


def _causes(kind: type[UpstreamError]) -> Iterator[type[UpstreamError]]:
    for below in kind.__subclasses__():
        yield below
        yield from _causes(below)


def test_names_of_rows_are_unique() -> None:
    assert len(ROWS) == len(REFUSALS)


def test_every_row_has_a_shape(shapes: list[Shape]) -> None:
    assert {shape.row for shape in shapes} - {None} == set(ROWS) - OURS - OF_THE_APP


def test_every_shape_that_holds_no_records_names_its_row(shapes: list[Shape]) -> None:
    unnamed = [shape.file for shape in shapes if shape.outcome != "records" and not shape.row]
    assert unnamed == []


def test_outcome_of_a_shape_is_that_of_its_row(shapes: list[Shape]) -> None:
    with_row = [(shape, ROWS[shape.row]) for shape in shapes if shape.row]
    assert len(with_row) > 50
    assert [shape.file for shape, row in with_row if shape.outcome not in _outcomes(row)] == []


def _outcomes(row: Refusal) -> set[str]:
    return {"unavailable", "records"} if row.error is None else {row.error.type}


def test_every_error_of_an_upstream_has_a_row() -> None:
    with_row = {row.error for row in REFUSALS}
    assert set(_causes(UpstreamError)) <= with_row


def test_every_row_says_what_to_do() -> None:
    assert all(row.policy for row in REFUSALS)
    assert {policy for row in REFUSALS for policy in row.policy} == set(RefusalPolicy)


WITH_ERROR = [row for row in REFUSALS if row.error and issubclass(row.error, UpstreamError)]


def test_error_of_a_row_leads_back_to_its_policy() -> None:
    for row in WITH_ERROR:
        word = (row.reason or "").replace("*", "7") or None
        error = refusal_error(row.name, "so it is", surface="any", reason=word)
        assert type(error) is row.error, row.name
        assert policy_of(error) == row.policy, row.name
        found = refusal_of(error)
        assert found is not None, row.name
        assert (found is row) or row.reason is None, row.name


def test_refusal_of_the_platform_is_never_retried_like_a_fault_of_the_wire() -> None:
    retried = {row.error for row in REFUSALS if RefusalPolicy.RETRY in row.policy}
    assert retried == {errors.UnreachableError}


def test_demands_of_the_platform_stop() -> None:
    stops = {row.name for row in REFUSALS if row.policy[0] is RefusalPolicy.STOP}
    assert {"script_challenge", "captcha_page", "verify_check", "login_code", "forbidden"} <= stops
    assert not any(RefusalPolicy.ONCE_MORE in ROWS[name].policy for name in stops)


def test_failure_threshold_follows_the_policy_of_the_refusal_table() -> None:
    errors_of = {
        row: refusal_error(row.name, "so it is", surface="any", reason=row.reason)
        for row in WITH_ERROR
    }
    wrong = [
        row.name
        for row, error in errors_of.items()
        if (failure_threshold(error) is not None)
        != bool({RefusalPolicy.OPEN_CIRCUIT, RefusalPolicy.BACK_OFF} & set(row.policy))
    ]
    assert wrong == []


@pytest.mark.parametrize("kind", [errors.EmptyAnswerError, errors.PageWithoutDataError])
def test_open_circuit_leads_to_the_other_source_as_its_cause_did(
    kind: type[UpstreamError],
) -> None:
    error = kind("left alone", surface="video_page", reason=OPEN_REASON)
    assert allows_policy(error, RefusalPolicy.OTHER_SOURCE)


def test_row_without_an_error_cannot_be_raised() -> None:
    with pytest.raises(KeyError):
        refusal_error("filtered_work", "no", surface="any")


def test_error_without_a_row_is_not_tried_again() -> None:
    assert policy_of(SametrackError("odd")) == (RefusalPolicy.STOP,)


def _handlers() -> Iterator[tuple[str, ast.ExceptHandler]]:
    for path in Path(pipelines.platform.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ExceptHandler):
                yield f"{path.name}:{node.lineno}", node


def _caught(handler: ast.ExceptHandler) -> set[str]:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {"" if kind is None else ast.unparse(kind).rpartition(".")[2] for kind in kinds}


def _passes_on(handler: ast.ExceptHandler) -> bool:
    """True when whatever was caught is raised again, after a clean-up."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def test_platform_code_has_no_catch_all_handler() -> None:
    handlers = [(place, found) for place, found in _handlers() if not _passes_on(found)]
    assert handlers
    everything = {"", "Exception", "BaseException"}
    assert [place for place, handler in handlers if _caught(handler) & everything] == []


def test_no_parser_catches_a_whole_family_of_errors() -> None:
    parsers = ("vidplat", "chartsrc")
    folders = [Path(pipelines.platform.__path__[0]) / name for name in parsers]
    names = {path.name for folder in folders for path in folder.glob("*.py")}
    caught = {
        (place, word)
        for place, handler in _handlers()
        for word in _caught(handler)
        if place.partition(":")[0] in names
    }
    assert caught
    assert not {word for _, word in caught} & {"SametrackError", "InputError"}
