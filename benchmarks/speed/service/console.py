"""The console: the first paint, how long five hundred rows take, how smoothly 10,000 scroll."""

import statistics
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import CDPSession, Error

from benchmarks.speed.running import Figure, Workspace
from tests.browser.console_pages import ConsolePages, open_console_pages
from tests.browser.test_console_rules import JOB_ID, answer, completed
from tests.deployment import open_deployment

TIMES = 5
DRAWN = """() => new Promise((resolve) => {
  new MutationObserver((_, watch) => {
    if (!document.querySelector('tbody tr.data')) return;
    watch.disconnect();
    requestAnimationFrame(() => {
      const all = performance.getEntriesByType('resource');
      const got = all.filter((one) => one.name.includes('%s')).at(-1);
      resolve(performance.now() - got.responseEnd);
    });
  }).observe(document.body, {childList: true, subtree: true});
  location.hash = '#/job/%s';
})"""

MANY_ROWS = 10_000
FRAMES = 400
SCROLLED = """(frames) => new Promise((resolve) => {
  const box = document.querySelector('main .table-wrap');
  const intervals = [];
  let last = null;
  const step = (now) => {
    if (last !== null) intervals.push(now - last);
    last = now;
    box.scrollTop += 150;
    if (intervals.length < frames) requestAnimationFrame(step);
    else resolve(intervals.sort((a, b) => a - b)[Math.floor(intervals.length * 0.95)]);
  };
  requestAnimationFrame(step);
})"""
"""Scrolls as fast as a long flick does; resolves with the 95th percentile between frames, in ms."""


def measure_console(space: Workspace) -> Iterator[Figure]:
    """First paint and a whole result, in Chromium before a real service."""
    try:
        with (
            open_deployment(space.folder / "console", space.sounds) as deployment,
            open_console_pages(str(deployment.start_api().base_url)) as pages,
        ):
            paint = statistics.median(_first_paint(pages) for _ in range(TIMES))
            yield "console: first paint", f"{paint:.0f} ms", "under 500 ms"
            rows = statistics.median(_five_hundred(pages) for _ in range(TIMES))
            what = "console: 500 rows, from the last byte to the frame"
            yield what, f"{rows:.0f} ms", "under 100 ms"
            runs = [_scrolled(pages) for _ in range(3)]
            what = f"console: {MANY_ROWS:,} rows at 9,000 pixels a second, 95 % of the frames"
            yield what, f"{statistics.median(run[0] for run in runs):.1f} ms", "at most 32 ms"
            what = "console: the same, processor time of the page for a frame"
            yield what, f"{statistics.median(run[1] for run in runs):.1f} ms", "at most 16 ms"
    except Error as error:
        yield "console", f"no browser: {error.message.splitlines()[0]}", ""


def _first_paint(pages: ConsolePages) -> float:
    page = pages.open().page
    found: float = page.evaluate(
        "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    )
    page.context.close()
    return found


def _five_hundred(pages: ConsolePages) -> float:
    view = pages.open()
    view.show("#/job/nowhere")  # its modules are there, as after the first result
    answer(view, f"**/music_collection_jobs/{JOB_ID}", completed(500))
    found: Any = view.page.evaluate(DRAWN % (JOB_ID, JOB_ID))
    view.page.context.close()
    return float(found)


def _scrolled(pages: ConsolePages) -> tuple[float, float]:
    """Return the 95th percentile between frames, and the processor time of one, both in ms."""
    view = pages.open()
    answer(view, f"**/music_collection_jobs/{JOB_ID}", completed(MANY_ROWS))
    view.show(f"#/job/{JOB_ID}")
    view.page.wait_for_selector("tbody tr.data")
    session = view.page.context.new_cdp_session(view.page)
    session.send("Performance.enable")
    before = _thread_s(session)
    between: float = view.page.evaluate(SCROLLED, FRAMES)
    used = _thread_s(session) - before
    view.page.context.close()
    return between, 1000 * used / FRAMES


def _thread_s(session: CDPSession) -> float:
    """Return the processor time of the main thread of a page, in seconds.

    A busy machine shows frames late, but does not change this.
    """
    metrics: list[dict[str, Any]] = session.send("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in metrics if one["name"] == "ThreadTime"))
