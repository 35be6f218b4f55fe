"""Signing in once, at the console, opens the orchestrator's UI too, with the same role."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import httpx2
import pytest
from dagster import DagsterRun
from playwright.sync_api import Page, expect

from api.cli.processes.child_processes import find_port
from tests.browser.console_pages import PATIENCE_MS, ConsolePages
from tests.deployment import Deployment, open_deployment, wait_for

pytestmark = [pytest.mark.full, pytest.mark.browser]
ROOT = Path(__file__).parents[2]
TOKEN = "token-of-the-owner"
RUN_ID = "0a3c2f5e-1111-4222-8333-444455556666"
POST = """async query => (await fetch('/graphql', {
  method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({query}),
})).status"""


class SignedInServices:
    """Addresses of a service and of the orchestrator's UI, and the instance behind it."""

    def __init__(self, deployment: Deployment, console: str, ui: str) -> None:
        self.deployment, self.console, self.ui = deployment, console, ui


@pytest.fixture(scope="module")
def signed_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SignedInServices]:
    """A service and a UI for an operator, with a run."""
    root = tmp_path_factory.mktemp("guarded")
    (root / "tokens").write_text(f"operate {sha256(TOKEN.encode()).hexdigest()}\n")
    with open_deployment(root, root) as deployment:
        port = find_port()
        ui = f"http://127.0.0.1:{port}"
        deployment.settings = {
            "OWN_API_TOKENS": str(root / "tokens"),
            "DAGSTER_URL": ui,
            "DAGSTER_HOME": str(deployment.home.dagster_dir),
        }
        with deployment.instance() as instance:
            instance.add_run(DagsterRun(job_name="scan", run_id=RUN_ID))
        deployment.start_dagster_ui(port)
        yield SignedInServices(deployment, str(deployment.start_api().base_url).rstrip("/"), ui)


def sign_in(page: Page) -> None:
    page.locator("dialog[open] input[type=password]").fill(TOKEN)
    page.locator("dialog[open] button[type=submit]").click()
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_a_token_is_asked_for_and_sent_once_for_a_session(
    signed_in: SignedInServices, pages: ConsolePages
) -> None:
    view = pages.of(signed_in.console).open()
    sent: list[tuple[str, str, str | None]] = []
    view.page.on("request", lambda one: sent.append((one.method, one.url, one.post_data)))
    view.page.locator("dialog[open] input[type=password]").fill(TOKEN)
    view.page.locator("dialog[open] button[type=submit]").click()
    expect(view.page.locator("dialog[open]")).to_have_count(0)
    view.page.wait_for_selector("main .intro, main .scans")
    assert [url for _, url, _ in sent if "/api/" in url]
    assert not [url for _, url, _ in sent if TOKEN in url]
    with_token = [(method, url) for method, url, body in sent if TOKEN in (body or "")]
    assert with_token == [("POST", f"{signed_in.console}/session")]
    assert view.page.evaluate("JSON.stringify(localStorage)").find(TOKEN) == -1
    assert view.page.evaluate("document.cookie") == ""  # no script can read the session


def test_a_wrong_token_is_said_and_signing_out_asks_again(
    signed_in: SignedInServices, pages: ConsolePages
) -> None:
    view = pages.of(signed_in.console).open()
    dialog = view.page.locator("dialog[open]")
    dialog.locator("input[type=password]").fill("wrong")
    dialog.locator("button[type=submit]").click()
    expect(dialog.locator("[role=status]")).to_contain_text("not accepted")
    dialog.locator("input[type=password]").fill(TOKEN)
    dialog.locator("button[type=submit]").click()
    expect(dialog).to_have_count(0)
    view.page.get_by_role("button", name="Sign in").click()
    with view.page.expect_response(lambda answer: answer.request.method == "DELETE"):
        dialog.get_by_role("button", name="Sign out").click()
    expect(dialog.locator("input[type=password]")).to_be_visible()
    expect(dialog.locator("[role=status]")).to_contain_text("You were signed out")
    assert view.page.evaluate("fetch('/api/v1/sametrack/jobs').then(one => one.status)") == 401


def test_a_session_that_ended_in_another_tab_is_said(
    signed_in: SignedInServices, pages: ConsolePages
) -> None:
    view = pages.of(signed_in.console).open()
    dialog = view.page.locator("dialog[open]")
    dialog.locator("input[type=password]").fill(TOKEN)
    dialog.locator("button[type=submit]").click()
    expect(dialog).to_have_count(0)
    view.page.evaluate("fetch('/session', {method: 'DELETE'}).then(one => one.status)")
    view.page.evaluate("location.hash = '#/catalogs'")
    expect(dialog.locator("[role=status]")).to_contain_text("You were signed out")


def test_an_expired_session_keeps_what_was_typed_and_sends_it_after_the_sign_in(
    signed_in: SignedInServices, pages: ConsolePages
) -> None:
    view = pages.of(signed_in.console).open()
    sign_in(view.page)
    view.show("#/search")
    view.page.get_by_label("Song title").fill("Paper Boats")
    view.page.evaluate("fetch('/session', {method: 'DELETE'}).then(one => one.status)")
    # By script: a read of the view that is still under way may open the dialog before.
    view.page.evaluate("document.querySelector('main form').requestSubmit()")
    dialog = view.page.locator("dialog[open]")
    expect(dialog.locator("[role=status]")).to_have_text(
        "You were signed out. Sign in to continue."
    )
    # No scan is started: its page would take the place of the form.
    view.page.route("**/music_collection_jobs", lambda route: route.abort())
    with view.page.expect_request(
        lambda request: request.method == "POST" and request.url.endswith("music_collection_jobs")
    ) as sent:
        sign_in(view.page)
    assert "Paper Boats" in (sent.value.post_data or "")
    assert "#/search" in view.page.url
    expect(view.page.get_by_label("Song title")).to_have_value("Paper Boats")


def test_a_service_that_cannot_answer_does_not_blame_the_token(
    signed_in: SignedInServices, pages: ConsolePages
) -> None:
    view = pages.of(signed_in.console).open()
    dialog = view.page.locator("dialog[open]")
    view.page.route("**/session", lambda route: route.abort())
    dialog.locator("input[type=password]").fill(TOKEN)
    dialog.locator("button[type=submit]").click()
    expect(dialog.get_by_role("alert")).to_contain_text("The service does not respond")
    expect(dialog).not_to_contain_text("not accepted")
    expect(dialog.locator("input[type=password]")).to_have_value(TOKEN)
    view.page.unroute_all()
    dialog.locator("button[type=submit]").click()
    expect(dialog).to_have_count(0)
    view.page.get_by_role("button", name="Sign in").click()
    view.page.route("**/session", lambda route: route.abort())
    dialog.get_by_role("button", name="Sign out").click()
    expect(dialog.get_by_role("alert")).to_contain_text("The service does not respond")


def test_session_of_the_console_opens_the_dagster_ui(
    signed_in: SignedInServices, pages: ConsolePages
) -> None:
    view = pages.of(signed_in.console).open()
    sign_in(view.page)
    expect(view.page.get_by_role("button", name="Sign in")).to_contain_text("operate")
    with view.page.expect_popup() as opened:
        view.page.get_by_role("link", name="Dagster").click()
    page = opened.value
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{signed_in.ui}/runs")
    expect(page.get_by_text(RUN_ID[:8]).first).to_be_visible(timeout=PATIENCE_MS)
    assert page.evaluate(POST, "{ version }") == 200


def test_a_stranger_of_the_ui_is_led_to_its_page_and_back(
    signed_in: SignedInServices, pages: ConsolePages
) -> None:
    view = pages.of(signed_in.ui).open("runs", wait=False)
    assert view.page.url == f"{signed_in.ui}/login?next=%2Fruns"
    assert view.axe() == []
    view.page.get_by_label("Token").fill("wrong")
    view.page.get_by_role("button").click()
    expect(view.page.get_by_role("alert")).to_be_visible()
    view.page.get_by_label("Token").fill(TOKEN)
    view.page.get_by_role("button").click()
    expect(view.page.get_by_text(RUN_ID[:8]).first).to_be_visible(timeout=PATIENCE_MS)
    assert view.page.url.startswith(f"{signed_in.ui}/runs")
    wait_for(lambda: httpx2.get(f"{signed_in.ui}/runs").status_code == 401)
