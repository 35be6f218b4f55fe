"""What the planner decided is summed over a job, and told in both languages."""

from dataclasses import asdict

from pipelines.documents.messages import LEFT_OUT, QUESTIONS, SURFACES, decision_sentences
from pipelines.platform.sources.rules import SourceVerdict
from pipelines.platform.sources.table import QUESTIONS as PLATFORM_QUESTIONS
from warehouse.records.coverage import SourceDecision, to_source_decisions

VERDICTS: dict[tuple[str, str, str], int] = {
    ("detail", "slides_info", SourceVerdict.ANSWERED): 119,
    ("detail", "slides_info", SourceVerdict.REFUSED): 1,
    ("detail", "video_page", SourceVerdict.REFUSED): 3,
    ("detail", "video_page", SourceVerdict.SICK): 2,
    ("posts", "user_posts", SourceVerdict.CLOSED): 4,
    ("posts", "user_page", SourceVerdict.HELD_BACK): 4,
}
LATEST = {"video_page": (6, 5)}


def test_verdicts_are_summed_by_question_and_source() -> None:
    decisions = to_source_decisions(VERDICTS, LATEST)
    assert decisions[:2] == [
        SourceDecision(
            question="detail", surface="slides_info", tried=120, answered=119, left_closed=0,
            left_sick=0, left_held_back=0,
        ),
        SourceDecision(
            question="detail", surface="video_page", tried=3, answered=0, left_closed=0,
            left_sick=2, left_held_back=0, latest_answers=6, latest_refusals=5,
        ),
    ]  # fmt: skip
    assert [(one.left_closed, one.left_held_back) for one in decisions[2:]] == [(4, 0), (0, 4)]


def test_each_question_is_one_sentence_in_both_languages() -> None:
    detail, posts = decision_sentences(asdict(one) for one in to_source_decisions(VERDICTS, LATEST))
    assert detail.en == (
        "Video details: video details by id answered 119 of 120; video share pages answered 0 of "
        "3, not asked 2 times because it refused 5 of its last 6 requests."
    )
    assert detail.zh == (
        "作品详情：作品详情接口 120 次请求中有数据 119 次；"
        "作品分享页 3 次请求中有数据 0 次，因最近 6 次请求中被拒绝 5 次未请求 2 次。"
    )
    assert "not asked 4 times because another source was refused" in posts.en


def test_results_without_latest_answers_say_that_the_source_rarely_answers() -> None:
    old = {
        "question": "detail", "surface": "video_page", "tried": 3, "answered": 0,
        "left_closed": 0, "left_sick": 2, "left_held_back": 0,
    }  # fmt: skip
    assert "because it rarely answers" in decision_sentences([old])[0].en


def test_results_of_earlier_versions_have_no_decisions_to_tell() -> None:
    assert decision_sentences(()) == []


def test_every_question_source_and_reason_has_a_message() -> None:
    assert {question.name for question in PLATFORM_QUESTIONS} <= QUESTIONS.keys()
    surfaces = {source.surface for question in PLATFORM_QUESTIONS for source in question.sources}
    assert surfaces <= SURFACES.keys()
    reasons = {SourceVerdict.CLOSED, SourceVerdict.SICK, SourceVerdict.HELD_BACK}
    assert reasons == LEFT_OUT.keys()
