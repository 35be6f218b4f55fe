"""Whole scans with a switch of the sandbox on do what is declared of it.

The switches here are the most telling ones of `tests/switch_outcomes.py`; `make bench-switches`
measures all of them. Each scan has a new home and a worker of its own, here as there. In the full
tier `test_scans.py` scans in the mode `autumn-2026`, and each switch is shown by itself.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scan.whole_scans.switch_scans import SwitchedPlatform, open_switched_platform
from tests.switch_outcomes import FURTHER_OUTCOMES, OUTCOMES, differences

pytestmark = pytest.mark.soak
TELLING = (
    "search_2483",
    "status_code_8",
    "captcha_json=slides_info",
    "captcha_json=hashtag_list+user_posts",
    "media_altered",
    "code_10001010A",
)
WITHOUT_SEARCH = {"status_code_8", "media_altered"}
ROWS = {row.name: row for row in (*OUTCOMES, *FURTHER_OUTCOMES)}


@pytest.fixture(scope="module")
def switched_platform(
    tmp_path_factory: pytest.TempPathFactory, sound_cache: Path
) -> Iterator[SwitchedPlatform]:
    root = tmp_path_factory.mktemp("switched")
    with open_switched_platform(root, sound_cache) as platform:
        yield platform


@pytest.mark.parametrize("name", TELLING)
def test_a_scan_does_what_is_declared_of_a_switch(
    name: str, switched_platform: SwitchedPlatform, tmp_path: Path
) -> None:
    found = switched_platform.scan(
        tmp_path / "home", ROWS[name], candidate_limit=20, search_enabled=name not in WITHOUT_SEARCH
    )
    assert differences(ROWS[name], found) == [], (found.stops, found.requests, found.decisions)
