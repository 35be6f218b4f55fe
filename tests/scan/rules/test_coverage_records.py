"""What an estimate and a random audit say of themselves."""

from dataclasses import replace
from typing import get_args

import pytest

from warehouse.records.coverage import (
    AuditedVideo,
    AuditVerdict,
    CoverageEstimate,
    ListGenuineShare,
    RandomAudit,
)

NOT_ESTIMATED = CoverageEstimate(
    unit="video", source_count=1, sample_size=9, observed=9, reason="one_source"
)
ESTIMATED = replace(
    NOT_ESTIMATED, source_count=4, reason=None, method="good_turing", point=12.5, upper=20
)


def audit_of(*verdicts: AuditVerdict) -> RandomAudit:
    videos = (AuditedVideo(aweme_id=str(at), verdict=one) for at, one in enumerate(verdicts))
    return RandomAudit(seed="job", population=50, videos=tuple(videos))


def test_the_lower_limit_of_an_estimate_is_what_was_confirmed() -> None:
    assert ESTIMATED.lower == 9


def test_without_an_estimate_there_is_no_lower_limit() -> None:
    assert NOT_ESTIMATED.lower is None


def test_where_no_list_showed_more_nothing_is_listed() -> None:
    assert NOT_ESTIMATED.listed == 0


def test_where_no_audio_was_heard_no_row_of_a_list_is_confirmed_by_it() -> None:
    assert ListGenuineShare(music_id="1", rows=3, own_rows=2).audio_rows == 0


@pytest.mark.parametrize("verdict", get_args(AuditVerdict))
def test_only_a_verdict_on_the_sound_says_that_it_was_compared(verdict: AuditVerdict) -> None:
    is_on_the_sound = verdict in {"confirmed", "variant", "rejected"}
    assert AuditedVideo(aweme_id="1", verdict=verdict).is_compared is is_on_the_sound


def test_an_audit_counts_the_videos_whose_sound_was_compared() -> None:
    audit = audit_of("not_read", "rejected", "variant", "unavailable", "rejected", "confirmed")
    assert audit.compared == 4


def test_an_edited_recording_is_not_counted_as_the_unchanged_one() -> None:
    assert audit_of("variant", "confirmed", "confirmed", "rejected", "not_read").carrying == 2


def test_an_audit_without_a_drawn_video_has_compared_none() -> None:
    assert (audit_of().compared, audit_of().carrying) == (0, 0)
