"""Whole scans with a switch of the sandbox on do what is declared of it.

The switches here are the most telling ones of `tests/switch_outcomes.py`, two of them in the full
tier: one ends a surface by its answers, the other falsifies sounds. `make bench-switches` measures
all of them, each in a new home. Here one worker scans a track of its own for each.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stage import HOUR_S, Stage, open_stage
from tests.switch_outcomes import FURTHER_OUTCOMES, OUTCOMES, differences
from tests.switch_scans import (
    LATENCY_MS,
    PARAMETERS,
    measure,
    profile_with_long_circuits,
    switch_to,
)
from tests.town import SEED, SIZE

TELLING = (
    "search_2483",
    "status_code_8",
    "captcha_json=slides_info",
    "captcha_json=hashtag_list+user_posts",
    "media_altered",
    "code_10001010A",  # the last one, because the host then rests for half a minute
)
SHORT = {"status_code_8", "media_altered"}
"""Those of the full tier, which do not concern the search."""
ROWS = {row.name: row for row in (*OUTCOMES, *FURTHER_OUTCOMES)}


@pytest.fixture(scope="module")
def switched_town(tmp_path_factory: pytest.TempPathFactory, sound_cache: Path) -> Iterator[Stage]:
    root = tmp_path_factory.mktemp("switched")
    with open_stage(root, sound_cache, is_measured=True) as stage:
        stage.settings["PROFILE"] = str(profile_with_long_circuits(root))
        stage.start_platform(seed=SEED, size=SIZE, latency_ms=LATENCY_MS)
        stage.start_worker()
        yield stage


def forget(stage: Stage) -> None:
    """No circuit is open, no host rests, and nothing is known of any surface."""
    stage.settle()
    for host, surface in stage.control.surface_answers(max_age_s=HOUR_S):
        stage.control.note_answer(host, surface, kind="", keep=1, max_age_s=HOUR_S)


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[] if one in SHORT else pytest.mark.soak) for one in TELLING],
)
def test_a_scan_does_what_is_declared_of_a_switch(name: str, switched_town: Stage) -> None:
    stage, place = switched_town, TELLING.index(name)
    forget(stage)
    track = stage.world("/_world/tracks?counts=0")["tracks"][place]
    switch_to(stage.port, ROWS[name])
    asked = {**PARAMETERS, "candidate_limit": 20, "search_enabled": name not in SHORT}
    job = stage.ended(stage.ask(track["music_id"], music_id=track["music_id"], **asked))
    found = measure(stage, job.job_id, seconds=0.0)
    assert differences(ROWS[name], found) == [], (found.stops, found.requests, found.decisions)
