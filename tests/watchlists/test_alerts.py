"""Messages about runs of watchlists: which runs have one, what it says, and when it is repeated."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from pipelines.watchlists.alerts import (
    RETRY_AFTER_S,
    AlertMessage,
    build_message,
    needs_alert,
    send_test,
)
from pipelines.watchlists.curve import draw_curve
from pipelines.watchlists.run import WatchlistRunner
from pipelines.watchlists.schedule import to_cron
from tests.watchlists.simulated_songs import (
    MONDAY,
    PLAN,
    TRACKS,
    Clock,
    FakeScanService,
    Songs,
    build_runner,
)
from warehouse.control import ControlStore, open_control, watchlists
from warehouse.records.alerts import AlertAttempt, AlertChannel, AlertDelivery, AlertOutcome

SIX_HOURS = timedelta(hours=6)
CHANNEL = AlertChannel(
    name="chat", url="json://chat.example/x", service="JSON", language="en", created_at=MONDAY
)


@dataclass
class Channels:
    """Takes messages, and answers with the next outcome: `sent` if there is no other."""

    clock: Clock
    outcomes: list[AlertOutcome] = field(default_factory=list)
    received: list[tuple[str, AlertMessage]] = field(default_factory=list)

    def __call__(self, url: str, message: AlertMessage) -> AlertAttempt:
        self.received.append((url, message))
        outcome = self.outcomes.pop(0) if self.outcomes else "sent"
        return AlertAttempt(at=self.clock.now, outcome=outcome)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def songs(clock: Clock) -> Songs:
    return Songs(clock)


@pytest.fixture
def control(tmp_path: Path, clock: Clock) -> Iterator[ControlStore]:
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    with closing(open_control(url, world="sandbox", clock=clock)) as control:
        watchlists.create(control, PLAN, to_cron(PLAN.every))
        yield control


@pytest.fixture
def channels(clock: Clock) -> Channels:
    return Channels(clock)


@pytest.fixture
def runner(
    control: ControlStore, songs: Songs, channels: Channels, tmp_path: Path
) -> WatchlistRunner:
    scans = FakeScanService(control, songs)
    return build_runner(control, scans, tmp_path / "digests", send_alert=channels)


def run_once(runner: WatchlistRunner, clock: Clock) -> str:
    """The next run on schedule, whose scans end at once."""
    clock.now += SIX_HOURS
    (run_id,) = runner.take_due()
    runner.begin(run_id)
    runner.conclude(run_id)
    return run_id


def delivery(control: ControlStore, run_id: str) -> AlertDelivery:
    (found,) = watchlists.read_alerts(control, [run_id])[run_id]
    return found


def outcomes(control: ControlStore, run_id: str) -> list[str]:
    return [attempt.outcome for attempt in delivery(control, run_id).attempts]


def test_a_run_sends_one_message_to_each_channel_if_a_threshold_is_reached(
    runner: WatchlistRunner, control: ControlStore, songs: Songs, channels: Channels, clock: Clock
) -> None:
    watchlists.create_channel(control, CHANNEL)
    watchlists.create_channel(
        control, replace(CHANNEL, name="mail", url="mailto://x", language="zh")
    )
    run_once(runner, clock)
    assert channels.received == []  # the first run has nothing to compare with
    songs.boosts[TRACKS[0], 1] = 900_000
    run_id = run_once(runner, clock)
    (chat_url, chat), (mail_url, mail) = channels.received
    assert (chat_url, mail_url) == ("json://chat.example/x", "mailto://x")
    assert chat.title == "[Demo data] Sametrack · five-songs: 1 alert"
    assert mail.title == "【演示数据】Sametrack · five-songs：1 项提醒"
    assert "“Work 1” gains 3,600,100 hot score a day" in chat.body
    assert "total hot score: " in chat.body
    assert "“Work 1”热度每日增长 3,600,100" in mail.body
    found = watchlists.read_alerts(control, [run_id])[run_id]
    assert [(one.channel, one.status, one.next_at) for one in found] == [
        ("chat", "sent", None), ("mail", "sent", None),
    ]  # fmt: skip
    assert runner.ready() == []
    runner.conclude(run_id)
    assert len(channels.received) == 2


def test_a_run_without_alerts_sends_nothing_and_one_that_failed_does(
    runner: WatchlistRunner, control: ControlStore, channels: Channels, clock: Clock
) -> None:
    watchlists.create_channel(control, CHANNEL)
    run_once(runner, clock)
    run_once(runner, clock)
    assert channels.received == []
    assert isinstance(runner.scan_service, FakeScanService)
    runner.scan_service.failing.add(TRACKS[2])
    run_once(runner, clock)
    ((_, message),) = channels.received
    assert message.title.endswith("five-songs: 0 alerts, 1 not checked")
    assert "Could not be checked: " in message.body


def test_a_failed_message_is_repeated_with_growing_pauses_and_then_given_up(
    runner: WatchlistRunner, control: ControlStore, songs: Songs, channels: Channels, clock: Clock
) -> None:
    watchlists.create_channel(control, CHANNEL)
    run_once(runner, clock)
    songs.boosts[TRACKS[0], 1] = 900_000
    channels.outcomes = ["unreachable"] * 9
    run_id = run_once(runner, clock)
    for made, pause in enumerate(RETRY_AFTER_S, 1):
        assert len(outcomes(control, run_id)) == made
        clock.now += timedelta(seconds=pause - 1)
        assert runner.ready() == []
        clock.now += timedelta(seconds=1)
        assert [run.run_id for run in runner.ready()] == [run_id]
        runner.conclude(run_id)
    assert outcomes(control, run_id) == ["unreachable"] * (len(RETRY_AFTER_S) + 1)
    assert (delivery(control, run_id).status, delivery(control, run_id).next_at) == ("failed", None)
    clock.now += timedelta(days=30)
    assert runner.ready() == []


def test_a_message_that_was_refused_once_is_sent_later(
    runner: WatchlistRunner, control: ControlStore, songs: Songs, channels: Channels, clock: Clock
) -> None:
    watchlists.create_channel(control, CHANNEL)
    run_once(runner, clock)
    songs.boosts[TRACKS[0], 1] = 900_000
    channels.outcomes = ["refused"]
    run_id = run_once(runner, clock)
    clock.now += timedelta(seconds=RETRY_AFTER_S[0])
    runner.advance()
    assert outcomes(control, run_id) == ["refused", "sent"]
    assert channels.received[0] == channels.received[1]


def test_a_process_that_dies_while_it_sends_leaves_an_attempt_of_unknown_outcome(
    runner: WatchlistRunner, control: ControlStore, songs: Songs, channels: Channels, clock: Clock
) -> None:
    watchlists.create_channel(control, CHANNEL)
    run_once(runner, clock)
    songs.boosts[TRACKS[0], 1] = 900_000
    channels.outcomes = ["refused"]
    run_id = run_once(runner, clock)
    clock.now += timedelta(seconds=RETRY_AFTER_S[0])
    assert len(watchlists.take_due_alerts(control, run_id, lease_s=80)) == 1
    assert watchlists.take_due_alerts(control, run_id, lease_s=80) == []
    assert outcomes(control, run_id) == ["refused", "unknown"]
    clock.now += timedelta(seconds=80)
    runner.conclude(run_id)
    assert outcomes(control, run_id) == ["refused", "unknown", "sent"]


def test_what_waits_for_a_channel_goes_with_it_and_deliveries_go_with_their_runs(
    runner: WatchlistRunner, control: ControlStore, songs: Songs, channels: Channels, clock: Clock
) -> None:
    watchlists.create_channel(control, CHANNEL)
    watchlists.create_channel(control, replace(CHANNEL, name="mail"))
    run_once(runner, clock)
    songs.boosts[TRACKS[0], 1] = 900_000
    channels.outcomes = ["refused"]
    run_id = run_once(runner, clock)
    assert watchlists.delete_channel(control, "chat")
    assert delivery(control, run_id).channel == "mail"
    clock.now += timedelta(days=1)
    assert watchlists.runs_with_due_alerts(control) == []
    watchlists.delete_with_runs(control, PLAN.name)
    assert watchlists.read_alerts(control, [run_id])[run_id] == []


def test_the_outcome_of_a_test_is_kept_with_the_channel(
    control: ControlStore, channels: Channels
) -> None:
    watchlists.create_channel(control, CHANNEL)
    channels.outcomes = ["unreachable"]
    send_test(control, CHANNEL, send=channels)
    stored = watchlists.get_channel(control, "chat")
    assert stored is not None
    assert stored.test is not None
    assert stored.test.outcome == "unreachable"
    assert channels.received[0][1].title == "Sametrack: test"


def entry(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "track", "input": TRACKS[0], "subject": TRACKS[0], "title": "纸船 @all\nBoats",
        "error": None, "observed_at": "2026-03-02T00:00:00Z",
        "changes": {"figures": [], **changes},
    }  # fmt: skip


def digest(*entries: dict[str, Any]) -> dict[str, Any]:
    return {
        "watchlist": "songs", "failed_count": 0, "is_demo_data": False, "entries": list(entries),
    }  # fmt: skip


def test_a_message_names_every_kind_of_alert_and_mentions_nobody() -> None:
    video = {"aweme_id": "7310", "title": None}
    found = build_message(
        digest(
            entry(
                reached_likes=[{**video, "before": 9000, "after": 12_000}],
                new_creators=[
                    {"sec_uid": "MS4", "nickname": "@everyone", "follower_count": 200_000}
                ],
                disappeared_works=[{**video, "rank": 2, "reason": "status_deleted"}],
                rank_changes=[{**video, "before": 5, "after": 1}],
                new_music_ids=[{"music_id": "7300", "work_count": 3, "link_types": ["x"]}],
            )
        ),
        "en",
        console_url="http://127.0.0.1:8780/console",
    )
    assert found.title == "Sametrack · songs: 5 alerts"
    assert found.body.splitlines() == [
        "Track · 纸船 ＠all Boats",
        "- “7310” has reached 12,000 likes",
        "- New creator: ＠everyone, 200,000 followers",
        "- “7310” is no longer shown by the platform (status_deleted)",
        "- “7310” moved from rank 5 to 1",
        "- Another sound carries the recording: 7300 (3 videos)",
        "",
        "http://127.0.0.1:8780/console#/watchlists?list=songs",
    ]


def test_a_long_list_is_shortened_with_the_number_of_the_others() -> None:
    videos = [
        {"aweme_id": str(n), "title": f"Video {n}", "before": 1, "after": n} for n in range(9)
    ]
    found = build_message(digest(entry(reached_likes=videos)), "zh")
    assert found.body.splitlines()[-2:] == ["- “Video 4”点赞数已达 4", "- ……另有 4 项"]


def test_videos_that_a_run_only_missed_or_found_are_no_reason_for_a_message() -> None:
    quiet = entry(new_works=[{"aweme_id": "1"}], vanished_works=[{"aweme_id": "2", "reason": None}])
    assert not needs_alert(digest(quiet))
    assert needs_alert(digest(quiet, entry(reached_likes=[{"aweme_id": "1"}])))


def test_the_picture_is_the_curve_of_the_figure_over_the_runs() -> None:
    def run(day: int, value: int | None) -> dict[str, Any]:
        figure = {"name": "hot_score_sum", "after": value, "change": None}
        likes = {"aweme_id": "1", "title": "x", "after": 1}
        at = f"2026-03-0{day}T00:00:00Z"
        return digest({**entry(figures=[figure], reached_likes=[likes]), "observed_at": at})

    runs = [run(1, 100), run(2, None), run(3, 400)]
    found = build_message(runs[-1], "en", digests=runs)
    assert "Picture: 纸船 ＠all Boats, total hot score" in found.body
    assert found.picture is not None
    picture = Image.open(BytesIO(found.picture))
    assert (picture.format, picture.size) == ("PNG", (1000, 520))
    assert build_message(runs[-1], "en", digests=runs[-1:]).picture is None


@pytest.mark.parametrize("values", [[5, 5], [0, 10**12], [1, 2, 3]])
def test_a_curve_is_drawn_for_any_values_and_needs_two(values: list[int]) -> None:
    points = [(MONDAY + timedelta(days=day), value) for day, value in enumerate(values)]
    assert draw_curve(points)
    assert draw_curve(points[:1]) is None
