"""The life of a collection job: the table of its moves, its stages, and what a search is about."""

import hashlib
from dataclasses import replace

import pytest

from pipelines.scan.service.service import outcome_of_lost_run
from tests.scan.rules.job_states import FINAL, JOB, LEGAL_MOVES, STATES
from warehouse.records import jobs
from warehouse.records.jobs import (
    JOB_KINDS,
    PRIORITY_INTERACTIVE,
    PRIORITY_SCHEDULED,
    STAGES,
    JobStatus,
    ProgressRecord,
    can_transition,
    keyword_subject,
)


@pytest.mark.parametrize("before", STATES)
@pytest.mark.parametrize("after", STATES)
def test_a_job_makes_the_moves_of_the_decisions_and_no_other(
    before: JobStatus, after: JobStatus
) -> None:
    assert can_transition(before, after) is (after in LEGAL_MOVES[before])


def test_the_states_are_the_five_of_the_interface_and_three_are_final() -> None:
    assert tuple(jobs.TRANSITIONS) == STATES
    assert jobs.FINAL_STATUSES == FINAL


def test_a_job_scans_searches_or_discovers() -> None:
    assert JOB_KINDS == ("scan", "keyword_search", "discovery")


def test_people_go_before_schedules() -> None:
    assert (PRIORITY_INTERACTIVE, PRIORITY_SCHEDULED) == (100, 10)


def test_the_stages_come_in_the_order_that_clients_know() -> None:
    assert STAGES == (
        "resolving", "track", "music_first_screen", "author_first_screens",
        "hashtag_first_screens", "search_pages", "candidates", "video_details",
        "confirmed_videos", "account_profiles", "rankings", "job_results",
    )  # fmt: skip


def test_a_job_begins_with_nothing_counted() -> None:
    assert ProgressRecord().to_document() == {
        "stage": "resolving",
        "stage_index": 0,
        "stage_count": 12,
        "candidate_pool_count": 0,
        "confirmed_count": 0,
        "detail_checked_count": 0,
        "audio_checked_count": 0,
        "search_page_count": 0,
        "account_profile_count": 0,
        "requests_used": 0,
        "eta_s": None,
        "eta_range_s": None,
        "updated_at": None,
        "waiting_for": None,
        "continued_from": None,
        "continued_round": None,
    }


def test_the_next_stage_keeps_the_counts() -> None:
    progress = ProgressRecord(confirmed_count=3, requests_used=9).at("candidates")
    assert (progress.stage, progress.stage_index) == ("candidates", 6)
    assert (progress.confirmed_count, progress.requests_used) == (3, 9)
    with pytest.raises(ValueError, match="not in tuple"):
        progress.at("nowhere")


def test_a_search_by_name_is_about_the_hash_of_its_name() -> None:
    assert keyword_subject("晴天") == f"keyword:{hashlib.sha256('晴天'.encode()).hexdigest()[:16]}"


@pytest.mark.parametrize("name", ["Night Flight", " night flight ", "ＮＩＧＨＴ　ＦＬＩＧＨＴ"])
def test_equal_names_are_one_subject_however_they_are_typed(name: str) -> None:
    assert keyword_subject(name) == keyword_subject("night flight")


def test_different_search_keywords_have_different_subjects() -> None:
    assert keyword_subject("night flights") != keyword_subject("night flight")


@pytest.mark.parametrize(
    ("attempt", "cancel_requested", "has_result", "status"),
    [
        (1, False, False, "queued"),
        (2, False, False, "queued"),
        (3, False, False, "failed"),
        (1, True, False, "cancelled"),
        (3, True, False, "cancelled"),
        (1, False, True, "completed"),
        (3, True, True, "completed"),
    ],
)
def test_a_job_without_its_worker_goes_on_or_ends_by_what_is_known_of_it(
    attempt: int, cancel_requested: bool, has_result: bool, status: str
) -> None:
    job = replace(JOB, attempt=attempt, cancel_requested=cancel_requested)
    found, error = outcome_of_lost_run(job, "The worker is gone", has_result=has_result)
    assert found == status
    assert (error is not None) == (status == "failed")


def test_a_lost_job_fails_with_the_reason_and_what_to_do() -> None:
    _, error = outcome_of_lost_run(replace(JOB, attempt=3), "The worker is gone")
    assert error is not None
    assert error["type"] == "worker_unavailable"
    assert error["detail"] == "The worker is gone. 3 attempts were made"
    assert str(error["hint"]).startswith("Retry")
