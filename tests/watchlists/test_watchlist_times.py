"""When a watchlist is due, and which plain words mean which times."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.watchlists.schedule import MAX_MISSED_COUNT, find_due_run, next_time, to_cron
from warehouse.records.errors import InvalidParameterError
from warehouse.records.watchlists import DueRun, check_name

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "cron"),
    [
        ("daily", "0 0 * * *"),
        ("Every  Day", "0 0 * * *"),
        ("daily at 7:30", "30 7 * * *"),
        ("every 6 hours", "0 */6 * * *"),
        ("every hour", "0 * * * *"),
        ("every 24 hours", "0 0 * * *"),
        ("every 15 minutes", "*/15 * * * *"),
        ("every 60 minutes", "0 * * * *"),
        ("every minute", "* * * * *"),
        ("every 1 minute", "* * * * *"),
        ("every 1 hour", "0 * * * *"),
        ("every monday at 08:05", "5 8 * * 1"),
        ("weekly on sunday", "0 0 * * 0"),
        ("weekdays at 9:00", "0 9 * * 1-5"),
        ("every 7 days", "0 0 * * 1"),
        ("every 1 week", "0 0 * * 1"),
        ("monthly", "0 0 1 * *"),
        ("每天", "0 0 * * *"),
        ("每天 08:00", "0 8 * * *"),
        ("每周一", "0 0 * * 1"),
        ("每星期日 9:30", "30 9 * * 0"),
        ("工作日 8：00", "0 8 * * 1-5"),
        ("每 6 小时", "0 */6 * * *"),
        ("每15分钟", "*/15 * * * *"),
        ("*/5 3-6 * * 1,3", "*/5 3-6 * * 1,3"),
    ],
)
def test_plain_words_are_cron_expressions(words: str, cron: str) -> None:
    assert to_cron(words) == cron


@pytest.mark.parametrize(
    "words",
    [
        "", "often", "every 7 minutes", "every 5 hours", "every 2 days", "every 3 weeks",
        "hourly at 5:00", "every 6 hours at 5:00", "daily at 25:00", "@daily", "0 0 * *",
        "0 0 0 * * *", "61 * * * *", "0 0 31 2 *", "\u202edaily",
        "每八天", "每7分钟", "每小时 08:00", "每周一 25:00",
    ],
)  # fmt: skip
def test_invalid_watchlist_schedule_is_refused_with_a_hint(words: str) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        to_cron(words)
    assert caught.value.detail.startswith("`every`")
    assert caught.value.hint


@pytest.mark.parametrize("name", ["", "A", "a b", "../up", "-a", "a" * 65, "名"])
def test_a_name_must_fit_into_files_and_addresses(name: str) -> None:
    with pytest.raises(InvalidParameterError):
        check_name(name)


def test_a_time_is_due_from_its_very_moment_on() -> None:
    before = NOON - timedelta(hours=1)
    early = NOON - timedelta(microseconds=1)
    assert find_due_run("0 12 * * *", considered_until=before, now=early) is None
    assert find_due_run("0 12 * * *", considered_until=before, now=NOON) == DueRun(due_at=NOON)


def test_after_a_stop_one_run_stands_for_all_that_passed() -> None:
    due = find_due_run("0 * * * *", considered_until=NOON - timedelta(hours=5), now=NOON)
    assert due == DueRun(due_at=NOON, missed_count=4)
    long_ago = find_due_run("* * * * *", considered_until=NOON - timedelta(days=900), now=NOON)
    assert long_ago == DueRun(due_at=NOON, missed_count=MAX_MISSED_COUNT)


CRONS = st.sampled_from(["* * * * *", "*/15 * * * *", "0 */6 * * *", "30 7 * * 1-5", "0 0 1 * *"])
STEPS = st.lists(st.integers(1, 40_000), min_size=1, max_size=20)


@settings(deadline=None)
@given(cron=CRONS, steps=STEPS)
def test_however_often_one_looks_every_time_is_seen_or_counted_once(
    cron: str, steps: list[int]
) -> None:
    considered = moment = NOON
    seen: list[datetime] = []
    passed = 0
    for step in steps:
        moment += timedelta(seconds=step)
        due = find_due_run(cron, considered_until=considered, now=moment)
        if due is not None:
            assert considered < due.due_at <= moment
            considered = due.due_at
            seen.append(due.due_at)
            passed += 1 + due.missed_count
    assert seen == sorted(set(seen))
    wanted, following = 0, next_time(cron, NOON)
    while following is not None and following <= moment and wanted < 3000:
        wanted, following = wanted + 1, next_time(cron, following)
    assert passed == wanted or wanted > MAX_MISSED_COUNT
