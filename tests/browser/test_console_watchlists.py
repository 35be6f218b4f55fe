"""Watchlists in the console: made, opened with what the last run found, paused and removed."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from api.schemas.examples import read_example
from tests.browser.console_pages import ConsolePage
from tests.browser.test_console_rules import answer, refusal
from tests.deployment import Deployment
from warehouse.control import watchlists
from warehouse.records.watchlists import DueRun

pytestmark = [pytest.mark.full, pytest.mark.browser]

TRACK = "7300000000000000001"
GONE = {"aweme_id": "7310000000000000009", "title": None, "rank": 4, "reason": "status_deleted"}
FOLLOWERS = {
    "name": "follower_count", "before": 1000, "after": 51_000, "change": 50_000,
    "elapsed_s": 86_400.0, "per_day": 50_000.0,
}  # fmt: skip
CHANGES: dict[str, Any] = {
    "since": "2026-11-20T00:00:00+00:00", "until": "2026-11-21T00:00:00+00:00",
    "figures": [FOLLOWERS],
    "fast_works": [{"aweme_id": "7310000000000001", "title": "<b>Boats</b>", "velocity": 1234.5}],
    "rank_changes": [], "new_works": [], "vanished_works": [GONE], "change_count": 3,
    "new_music_ids": [{"music_id": "7300000000000000077", "work_count": 2}],
}  # fmt: skip


def test_a_watchlist_is_made_opened_paused_and_removed(
    deployment: Deployment, view: ConsolePage
) -> None:
    view.show("#/operator")
    page = view.page
    page.get_by_role("button", name="New watchlist").click()
    page.get_by_label("Name", exact=True).fill("songs")
    page.get_by_label("Ids or links, one per line").fill(f"{TRACK}\n")
    page.get_by_label("Rank change, at least").fill("")
    assert view.axe() == []
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("button", name="songs")).to_be_visible()
    kept = watchlists.read_all(deployment.control)[0].plan
    assert (kept.every, kept.thresholds.rank_change, kept.thresholds.velocity) == (
        "daily",
        None,
        1000,
    )
    _end_a_run(deployment)
    page.reload()
    page.get_by_role("button", name="songs").click()
    for words in (
        "1,235 hot score a day",
        "<b>Boats</b>",
        "7300000000000000077",
        "status_deleted",
        "followers: 51,000 (+50,000, +50,000 a day)",
    ):
        expect(page.locator("main")).to_contain_text(words)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    assert not watchlists.read_all(deployment.control)[0].plan.enabled
    assert view.axe() == []
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete it and its runs").click()
    expect(page.locator("main")).to_contain_text("No watchlists")
    assert watchlists.read_all(deployment.control) == []
    _is_clean(view)


def test_a_read_that_fails_leaves_the_watchlists_shown(view: ConsolePage) -> None:
    one = {
        "name": "songs", "every": "daily", "entries": [], "enabled": True, "next_due_at": None,
        "last_run": None,
    }  # fmt: skip
    found = read_example("history") | {"data": {"watchlists": [one]}}
    reads = iter((found, None))

    def watchlists(route: Route) -> None:
        envelope = next(reads)
        if envelope is None:
            route.fulfill(status=503, json=refusal())
        else:
            route.fulfill(json=envelope)

    view.page.route("**/sametrack/watchlists", watchlists)
    answer(view, "**/watchlists/songs/runs", found)
    view.show("#/operator")
    view.page.get_by_role("button", name="Run now").click()
    card = view.page.locator(".card", has_text="Watchlists")
    expect(card.locator(".note.bad")).to_be_visible()
    expect(card.get_by_role("button", name="songs")).to_be_visible()


def _end_a_run(deployment: Deployment) -> None:
    """A run with a digest, as a watcher ends it."""
    control = deployment.control
    run_id = watchlists.take_due(
        control, "songs", DueRun(due_at=datetime.now(UTC) + timedelta(seconds=1))
    )
    assert run_id is not None
    assert watchlists.hold_run(control, run_id, "watcher", ttl_s=60)
    entry = {
        "kind": "track", "input": TRACK, "subject": TRACK, "title": "Paper Boats",
        "status": "completed", "error": None, "changes": CHANGES,
    }  # fmt: skip
    digest = {"ended_at": "2026-11-21T00:00:00Z", "change_count": 3, "entries": [entry]}
    assert watchlists.end_run(
        control, run_id, "watcher", status="completed", outcome="", digest=digest
    )


def _is_clean(view: ConsolePage) -> None:
    assert view.faults == []
    assert view.broken_rules() == []
    assert view.hosts == {view.base.partition("//")[2]}
