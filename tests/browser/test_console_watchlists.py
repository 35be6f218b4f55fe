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
from warehouse.records.watchlists import DigestThresholds, DueRun, WatchlistEntry, WatchlistPlan

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
    view.show("#/watchlists")
    page = view.page
    page.get_by_role("button", name="New watchlist").click()
    page.get_by_label("Name", exact=True).fill("songs")
    page.get_by_label("Schedule", exact=True).select_option(label="Weekly")
    page.get_by_label("Day", exact=True).select_option(label="Tuesday")
    page.get_by_label("Time (UTC)").fill("08:30")
    page.get_by_label("Ids or links, one per line").fill(f"{TRACK}\n")
    page.get_by_role("checkbox", name="A video moves").uncheck()
    page.get_by_label("A video reaches likes").fill("5000")
    assert view.axe() == []
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("button", name="songs", exact=True)).to_be_visible()
    expect(page.locator("main")).to_contain_text("Tuesdays at 08:30 UTC")
    kept = watchlists.read_all(deployment.control)[0].plan
    assert kept.every == "weekly on tuesday at 08:30"
    assert kept.thresholds == DigestThresholds(rank_change=None, likes=5000)
    _end_a_run(deployment)
    page.reload()
    titles = page.get_by_role("link", name="Paper Boats")  # in the watchlist and in its digest
    expect(titles).to_have_count(2)
    for title in titles.all():
        expect(title).to_have_attribute("href", f"#/track/{TRACK}")
    for words in (
        "1,235 hot score a day",
        "<b>Boats</b>",
        "7300000000000000077",
        "status_deleted",
        "followers: 51,000 (+50,000, +50,000 a day)",
    ):
        expect(page.locator("main")).to_contain_text(words)
    page.get_by_role("button", name="Change", exact=True).click()
    page.get_by_label("Schedule", exact=True).select_option(label="Daily")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("main")).to_contain_text("Daily at 08:30 UTC")
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
    view.show("#/watchlists")
    view.page.get_by_role("button", name="Run now").click()
    card = view.page.locator(".card", has_text="Run now")
    expect(card.locator(".note.bad")).to_be_visible()
    expect(card.get_by_role("button", name="songs")).to_be_visible()


def test_a_run_that_goes_on_is_shown_to_its_end_without_a_reload(
    deployment: Deployment, view: ConsolePage
) -> None:
    plan = WatchlistPlan(
        name="songs", every="daily", entries=(WatchlistEntry(kind="track", input=TRACK),)
    )
    watchlists.create(deployment.control, plan, "0 0 * * *")
    try:
        view.page.clock.install()
        view.show("#/watchlists")
        view.page.get_by_role("button", name="Run now").click()
        table = view.page.get_by_role("region", name="Watchlists")
        expect(table).to_contain_text("due")
        _end_a_run(deployment, is_requested=True)
        view.page.clock.run_for(6_000)
        expect(table).to_contain_text("completed")
        expect(table).to_contain_text("3 changes")
    finally:
        watchlists.delete_with_runs(deployment.control, "songs")
    _is_clean(view)


def test_an_account_is_watched_from_its_page_which_says_so_afterwards(
    deployment: Deployment, view: ConsolePage
) -> None:
    profile = read_example("handler_user_profile")
    answer(view, "**/handler_user_profile*", profile)
    sec_uid = profile["data"]["user"]["sec_uid"]
    view.show(f"#/profile?id={sec_uid}")
    page = view.page
    page.get_by_role("button", name="Watch", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("creator")
    expect(dialog.get_by_role("checkbox", name="A new creator")).to_have_count(0)
    assert view.axe() == []
    dialog.get_by_role("button", name="Watch", exact=True).click()
    expect(page.get_by_role("link", name="Watched")).to_have_attribute(
        "href", "#/watchlists?list=creator"
    )
    try:
        (stored,) = watchlists.read_all(deployment.control)
        assert stored.plan.entries == (WatchlistEntry(kind="account", input=sec_uid),)
        page.get_by_role("link", name="Watched").click()
        expect(page.get_by_role("heading", name="creator")).to_be_visible()
    finally:
        watchlists.delete_with_runs(deployment.control, "creator")
    _is_clean(view)


def test_a_channel_for_alerts_is_made_tested_and_deleted_and_hides_its_address(
    deployment: Deployment, view: ConsolePage
) -> None:
    view.show("#/watchlists")
    page = view.page
    page.get_by_label("Name of the channel").fill("team-chat")
    page.get_by_label("Apprise URL").fill("json://127.0.0.1:9/s3cr3t")
    page.get_by_role("button", name="Save the channel").click()
    row = page.get_by_role("row", name="team-chat")
    expect(row).to_contain_text("JSON")
    expect(row).to_contain_text("not tested yet")
    row.get_by_role("button", name="Send a test").click()
    expect(row).to_contain_text("inside this machine or its network")
    assert view.axe() == []
    assert "s3cr3t" not in page.content()
    row.get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
    assert watchlists.read_channels(deployment.control) == []
    _is_clean(view)


def _end_a_run(deployment: Deployment, *, is_requested: bool = False) -> None:
    """A run with a digest, as a watcher ends it; the one that was requested, or one on schedule."""
    control = deployment.control
    due = DueRun(due_at=datetime.now(UTC) + timedelta(seconds=1))
    if is_requested:
        run_id = watchlists.request_run(control, "songs", origin="api")
    else:
        run_id = watchlists.take_due(control, "songs", due)
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
