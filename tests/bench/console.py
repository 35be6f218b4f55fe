"""The console: when a visitor first sees something, and how long five hundred rows take."""

import statistics
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Error

from tests.bench.running import Figure, Workspace
from tests.browser.test_console_rules import JOB_ID, answer, completed
from tests.stage import open_stage
from tests.visitor import Visitors, open_visitors

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


def measure_console(space: Workspace) -> Iterator[Figure]:
    """First paint and a whole result, in Chromium before a real service."""
    try:
        with (
            open_stage(space.folder / "console", space.sounds) as stage,
            open_visitors(str(stage.start_api().base_url)) as visitors,
        ):
            paint = statistics.median(_first_paint(visitors) for _ in range(TIMES))
            yield "console: first paint", f"{paint:.0f} ms", "under 500 ms"
            rows = statistics.median(_five_hundred(visitors) for _ in range(TIMES))
            what = "console: 500 rows, from the last byte to the frame"
            yield what, f"{rows:.0f} ms", "under 100 ms"
    except Error as error:
        yield "console", f"no browser: {error.message.splitlines()[0]}", ""


def _first_paint(visitors: Visitors) -> float:
    page = visitors.open().page
    found: float = page.evaluate(
        "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    )
    page.context.close()
    return found


def _five_hundred(visitors: Visitors) -> float:
    view = visitors.open()
    view.show("#/job/nowhere")  # its modules are there, as after the first result
    answer(view, f"**/music_collection_jobs/{JOB_ID}", completed(500))
    found: Any = view.page.evaluate(DRAWN % (JOB_ID, JOB_ID))
    view.page.context.close()
    return float(found)
