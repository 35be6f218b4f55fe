"""What two requests must have in common to share a stored result, or a job that still runs.

The lists are written out here; nothing asks the product what they are.
"""

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest

from pipelines.parameters import scan as product
from pipelines.parameters.scan import ScanParameters, fingerprint, scan_key
from warehouse.records.evidence import VERDICT_REVISION

ALGORITHM = "audiolib_chroma_mfcc_multiref_local_dtw_v3"
APPLIED_WHEN_READ: dict[str, Any] = {
    "count": 31,
    "sort_by": "oldest",
    "viral_threshold": 1,
    "viral_only": True,
}
HOW_FAR: dict[str, Any] = {
    "candidate_limit": 151,
    "search_candidate_limit": 151,
    "search_batch_target": 151,
    "search_page_limit": 31,
    "search_request_budget": 179,
    "account_profile_limit": 31,
}
WHAT_ABOUT: dict[str, Any] = {
    "verify_audio": False,
    "match_threshold": 0.66,
    "search_enabled": False,
    "search_keywords": ("晴天",),
}
IDENTITY = {
    "target": "7300000000000000001",
    "world": "sandbox",
    "provider": "public-graph",
    "algorithm": ALGORITHM,
}
FIRST = ScanParameters()


def key(parameters: ScanParameters = FIRST, other: str | None = None) -> str:
    found = IDENTITY if other is None else IDENTITY | {other: "another"}
    return scan_key(
        found["target"], found["world"], found["provider"], found["algorithm"], parameters
    )


def print_of(parameters: ScanParameters = FIRST, other: str | None = None) -> str:
    found = IDENTITY if other is None else IDENTITY | {other: "another"}
    return fingerprint(found["target"], found["world"], found["provider"], parameters)


def changed(name: str, value: object) -> ScanParameters:
    return replace(FIRST, **{name: value})  # type: ignore[arg-type]  # the tables above


@pytest.mark.parametrize(("name", "value"), (APPLIED_WHEN_READ | HOW_FAR).items())
def test_scan_key_ignores_sorting_and_amount_parameters(name: str, value: object) -> None:
    assert key(changed(name, value)) == key()


@pytest.mark.parametrize(("name", "value"), WHAT_ABOUT.items())
def test_scan_key_depends_on_search_and_audio_parameters(name: str, value: object) -> None:
    assert key(changed(name, value)) != key()


@pytest.mark.parametrize("name", IDENTITY)
def test_track_profile_provider_and_algorithm_make_another_key(name: str) -> None:
    assert key(other=name) != key()


def test_another_revision_of_the_judging_makes_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key()
    monkeypatch.setattr(product, "VERDICT_REVISION", "another")
    assert key() != before


def test_refresh_does_not_change_the_scan_key() -> None:
    assert key(changed("refresh", value=True)) == key()


@pytest.mark.parametrize("words", [("晴天", "Rain"), ("rain ", "晴天"), ("RAIN", "rain", " 晴天")])
def test_keywords_are_compared_without_order_case_blanks_and_repeats(words: tuple[str]) -> None:
    assert key(changed("search_keywords", words)) == key(
        changed("search_keywords", ("rain", "晴天"))
    )


@pytest.mark.parametrize(("name", "value"), (APPLIED_WHEN_READ | HOW_FAR | WHAT_ABOUT).items())
def test_a_running_job_is_joined_with_all_parameters_equal_only(name: str, value: object) -> None:
    assert print_of(changed(name, value)) != print_of()


@pytest.mark.parametrize("name", ["target", "world", "provider"])
def test_a_running_job_is_joined_on_the_same_track_profile_and_provider_only(name: str) -> None:
    assert print_of(other=name) != print_of()


def test_a_refresh_joins_a_running_job() -> None:
    assert print_of(changed("refresh", value=True)) == print_of()


def digest(*parts: object) -> str:
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def test_keys_stay_what_they_are_in_stores_of_earlier_releases() -> None:
    asked = changed("search_keywords", ("晴天", "Rain"))
    about = {
        "search_enabled": True,
        "search_keywords": ["rain", "晴天"],
        "verify_audio": True,
        "match_threshold": 0.65,
    }
    identity = ("7300000000000000001", "sandbox", "public-graph")
    assert key(asked) == digest(*identity, ALGORITHM, VERDICT_REVISION, about)
    everything = about | APPLIED_WHEN_READ | HOW_FAR | {"search_keywords": ["晴天", "Rain"]}
    asked = replace(asked, **APPLIED_WHEN_READ, **HOW_FAR)
    assert print_of(asked) == digest(*identity, everything)
