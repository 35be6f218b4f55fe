"""Parameters are strict: canonical text only, limits of one place, unknown names refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from api.params.scan import HotVideosQuery, JobBody, ScanFields, single_input
from pipelines.parameters.scan import BY_NAME, PARAMETERS, Parameter, ScanParameters
from warehouse.records.errors import InvalidParameterError

WHOLE = [parameter for parameter in PARAMETERS if parameter.kind is int]
NAMES = [parameter.name for parameter in PARAMETERS]
BAD_WHOLE = ["3.0", "+3", " 3", "3 ", "03", "1_0", "", "1e2", "0x10", "３", "true", "null", "--3"]
BAD_FLAGS = ["yes", "on", "t", "1", "0", "True", "FALSE", "", " true"]
BAD_REALS = ["nan", "inf", "-inf", ".5", "1.", "0,5", "+0.5", " 0.5", "1_0", "０.5", "1e999"]


def refused(model: type[ScanFields], values: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(values)
    return str(caught.value.errors()[0]["loc"][0])


@pytest.mark.parametrize("text", BAD_WHOLE)
def test_whole_numbers_are_canonical_text(text: str) -> None:
    assert refused(HotVideosQuery, {"count": text}) == "count"


@pytest.mark.parametrize("text", BAD_FLAGS)
def test_booleans_are_true_or_false(text: str) -> None:
    assert refused(HotVideosQuery, {"viral_only": text}) == "viral_only"


@pytest.mark.parametrize("text", BAD_REALS)
def test_numbers_are_json_numbers(text: str) -> None:
    assert refused(HotVideosQuery, {"match_threshold": text}) == "match_threshold"


@pytest.mark.parametrize("value", ["3", 3.5, True, None, [3]])
def test_a_body_converts_nothing_but_the_form_of_an_integer(value: object) -> None:
    assert refused(JobBody, {"count": value}) == "count"


@pytest.mark.parametrize("parameter", PARAMETERS, ids=NAMES)
def test_models_have_the_default_of_the_table(parameter: Parameter) -> None:
    assert ScanFields.model_fields[parameter.name].default == parameter.default


@pytest.mark.parametrize("parameter", WHOLE, ids=[parameter.name for parameter in WHOLE])
def test_models_have_the_limits_of_the_table(parameter: Parameter) -> None:
    name, low, high = (
        parameter.name,
        int(parameter.minimum or 0),
        int(parameter.maximum or 2**53 - 1),
    )
    for model in (HotVideosQuery, JobBody):
        text = model is HotVideosQuery
        for inside in (low, high):
            found = model.model_validate({name: str(inside) if text else inside})
            assert getattr(found, name) == inside
        for outside in (low - 1, high + 1):
            assert refused(model, {name: str(outside) if text else outside}) == name


@given(st.integers(1, 500))
def test_every_allowed_count_is_read_as_itself(count: int) -> None:
    assert HotVideosQuery.model_validate({"count": str(count)}).count == count


@given(st.floats(0, 1))
def test_every_allowed_threshold_is_read_as_itself(value: float) -> None:
    assert HotVideosQuery.model_validate({"match_threshold": repr(value)}).match_threshold == value


@given(st.text(max_size=12))
def test_text_is_a_count_only_in_its_canonical_form(text: str) -> None:
    canonical = {str(count) for count in range(1, 501)}
    try:
        found = HotVideosQuery.model_validate({"count": text})
    except ValidationError:
        assert text not in canonical
    else:
        assert text == str(found.count)


@pytest.mark.parametrize("text", ["\ud800", "a\x00b", "\x1b[31m", "a\x7f"])
def test_text_that_no_store_can_carry_is_refused(text: str) -> None:
    assert refused(JobBody, {"input": text}) == "input"
    assert refused(HotVideosQuery, {"url": text}) == "url"


def test_keywords_are_split_at_commas_of_both_scripts() -> None:
    query = HotVideosQuery.model_validate({"search_keywords": " Paper Boats,纸船，paper boats,, "})
    assert query.to_parameters().search_keywords == ("Paper Boats", "纸船")


def test_an_array_of_keywords_is_not_split() -> None:
    body = JobBody.model_validate({"search_keywords": ["Hello, world"]})
    assert body.to_parameters().search_keywords == ("Hello, world",)


@pytest.mark.parametrize(
    ("model", "value"),
    [
        (HotVideosQuery, ",".join("abcdefghi")),
        (HotVideosQuery, "x" * 101),
        (JobBody, list("abcdefghi")),
        (JobBody, ["x" * 101]),
        (JobBody, [1]),
        (JobBody, {"a": "b"}),
    ],
)
def test_keywords_are_at_most_eight_and_short(model: type[ScanFields], value: object) -> None:
    assert refused(model, {"search_keywords": value}) == "search_keywords"


def test_a_keyword_is_measured_without_the_blanks_around_it() -> None:
    longest = "x" * 100
    for keyword in (longest, f"\u3000{longest} \n"):
        body = JobBody.model_validate({"keyword": keyword, "search_only": True})
        assert body.keyword == longest
    for keyword in (f"{longest}x", "", " ", "\u3000", "a\x00"):
        assert refused(JobBody, {"keyword": keyword, "search_only": True}) == "keyword"


def test_linked_values_follow_what_they_are_linked_to() -> None:
    found = HotVideosQuery.model_validate({"candidate_limit": "400", "count": "80"}).to_parameters()
    assert (found.search_candidate_limit, found.account_profile_limit) == (400, 80)


def test_the_defaults_of_the_models_are_those_of_the_domain() -> None:
    assert JobBody.model_validate({}).to_parameters() == ScanParameters()
    assert set(NAMES) == set(BY_NAME)


def test_two_names_for_one_input_must_agree() -> None:
    assert single_input(music_id="12345", url=None) == "12345"
    assert single_input(music_id="12345", url="12345") == "12345"
    with pytest.raises(InvalidParameterError):
        single_input(music_id="12345", url="54321")


@pytest.mark.parametrize("values", [{"search_only": True}, {"keyword": "a"}])
def test_keyword_and_its_mode_belong_together(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        JobBody.model_validate(values)
