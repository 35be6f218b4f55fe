"""Which branches of the product the tests take in their own processes: `pytest -p tests.measured`.

SlipCover stops watching a line once it has run, so it costs some percent of the time, where tracing
costs twice the time. Processes that tests start are not watched: the share is a lower bound.
Works with the processes of pytest-xdist, each of which writes a file that `tests.coverage_floor`
reads. A plugin, because modules count from their import on.
"""

import os
from pathlib import Path

import orjson
import pytest
from slipcover import FileMatcher, ImportManager, Slipcover

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "coverage"
PRODUCT = [str(ROOT / name) for name in ("api", "pipelines", "warehouse")]
EXCLUDED = [
    r"^ +\.\.\.$",  # the body of a Protocol's method
    r"if __name__ == .__main__.:",
    r"@numba\.njit",  # compiled: no interpreter sees its lines
]
WORKER = os.environ.get("PYTEST_XDIST_WORKER")


def new_measure(source: list[str] | None = None) -> Slipcover:
    """Return a measure; `source`: folders whose modules count even if nobody loads them."""
    return Slipcover(branch=True, source=source, exclude_also=EXCLUDED)


if WORKER is not None:
    MEASURE = new_measure()
    ImportManager(MEASURE, FileMatcher(PRODUCT)).__enter__()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if WORKER is None:
        return
    tier = session.config.getoption("markexpr") or "all"
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{tier}-{WORKER}.json").write_bytes(orjson.dumps(MEASURE.get_coverage()))
