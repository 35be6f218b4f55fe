"""Defaults, linked values and what makes two requests the same."""

from dataclasses import fields

import pytest

from pipelines.domain.evidence import ALGORITHM
from pipelines.domain.parameters import (
    BY_NAME,
    DEPTH_PARAMETERS,
    PARAMETERS,
    VIEW_PARAMETERS,
    ScanParameters,
    fingerprint,
    scan_key,
    scan_parameters,
)


def key(parameters: ScanParameters) -> str:
    return scan_key("1234567", "sandbox", "public-graph", ALGORITHM, parameters)


def print_of(parameters: ScanParameters) -> str:
    return fingerprint("1234567", "sandbox", "public-graph", parameters)


def test_every_parameter_is_a_field_and_every_default_agrees() -> None:
    names = {field.name for field in fields(ScanParameters)} - {"search_keywords"}
    assert names == {parameter.name for parameter in PARAMETERS}
    effective = scan_parameters({}).to_document()
    assert {p.name: effective[p.name] for p in PARAMETERS if p.default is not None} == {
        p.name: p.default for p in PARAMETERS if p.default is not None
    }


def test_linked_parameters_follow_what_they_are_linked_to() -> None:
    parameters = scan_parameters({"candidate_limit": 400, "count": 50})
    assert (parameters.search_candidate_limit, parameters.account_profile_limit) == (400, 50)


def test_a_linked_parameter_that_is_given_stays() -> None:
    assert scan_parameters({"count": 50, "account_profile_limit": 0}).account_profile_limit == 0


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(TypeError):
        scan_parameters({"candidate_limits": 10})


@pytest.mark.parametrize("name", sorted(VIEW_PARAMETERS) + list(DEPTH_PARAMETERS))
def test_view_and_depth_do_not_change_what_a_scan_is_about(name: str) -> None:
    other = changed(name)
    assert key(other) == key(ScanParameters())
    assert print_of(other) != print_of(ScanParameters())


@pytest.mark.parametrize("name", ["match_threshold", "verify_audio", "search_enabled"])
def test_what_is_heard_and_searched_changes_it(name: str) -> None:
    assert key(changed(name)) != key(ScanParameters())


def test_keywords_are_compared_without_order_and_case() -> None:
    left = ScanParameters(search_keywords=("Night", " flight"))
    assert key(left) == key(ScanParameters(search_keywords=("FLIGHT", "night")))


def test_a_refresh_joins_the_equal_running_job() -> None:
    assert print_of(ScanParameters(refresh=True)) == print_of(ScanParameters())


def changed(name: str) -> ScanParameters:
    return scan_parameters({name: _another(name)})


def _another(name: str) -> object:
    parameter = BY_NAME[name]
    if parameter.kind is bool:
        return not parameter.default
    if parameter.choices:
        return parameter.choices[-1]
    return 0.5 if parameter.kind is float else 77
