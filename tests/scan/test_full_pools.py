"""With a full pool, lists of confirmed music ids are read for the number of their videos alone."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from pipelines.captures.walks import ListWalk
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.collect import begin_pool, fill_pool
from pipelines.scan.confirm import MAX_VERIFYING_ROUNDS, expand
from pipelines.scan.rules.candidate_pool import Sighting, genuine_shares
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import ScanState
from tests.scan.scan_fakes import FakeScan
from warehouse.records.coverage import SourceCoverage
from warehouse.records.videos import Music, Video

LIMIT = 15


class FullScan(FakeScan):
    """The part of a scan that its expansion needs; each list of the platform shows one video."""

    music_id = "own"
    song_title = "Boats"
    keyword = None
    parameters = ScanParameters(candidate_limit=LIMIT)
    verifies_audio = True

    def __init__(self, verified: list[str]) -> None:
        pooled = [
            Sighting(aweme_id=f"v{number}", surface="search", entity_id="term", same_music=False)
            for number in range(LIMIT)
        ]
        self.state = ScanState(
            pool={seen.aweme_id: seen for seen in pooled},
            verified=dict.fromkeys(["own", *verified]),
            screened={"own"},
        )
        self.captures = self.stopwatch = self
        self.items_read = self.requests_used = 0
        self.note_item = None

    async def walk_music(
        self, music_id: str, *, limit: int, on_item: Callable[[str], None] | None
    ) -> ListWalk:
        assert limit == LIMIT
        assert on_item is None
        shown = Video(
            aweme_id=f"of {music_id}", surface="music_list", music=Music(music_id=music_id),
            observed_at=datetime(2026, 1, 1, tzinfo=UTC),
        )  # fmt: skip
        coverage = SourceCoverage(
            surface="music_list", requests=1, pages=1, items=1, new_items=1,
            stop_reason="exhausted",
        )  # fmt: skip
        return ListWalk(videos=(shown,), coverage=coverage)


def test_lists_are_read_past_a_full_pool_and_their_videos_are_no_candidates() -> None:
    scan = FullScan(["m1", "m2"])
    assert not expand(cast("ScanRun", scan))
    assert len(scan.state.pool) == LIMIT
    assert {seen.aweme_id for seen in scan.state.sightings} == {"of m1", "of m2"}
    assert (scan.state.screened, scan.state.not_reached) == ({"own", "m1", "m2"}, [])


def test_so_many_lists_are_read_and_the_others_are_not_reached() -> None:
    scan = FullScan(["m1", "m2", "m3", "m4", "m5"])
    assert not expand(cast("ScanRun", scan))
    assert scan.state.screened == {"own", "m1", "m2", "m3"}
    assert scan.state.not_reached == ["music_list:m4", "music_list:m5"]


def test_after_the_last_round_that_may_verify_an_id_its_lists_are_not_reached() -> None:
    scan = FullScan(["m1", "m2"])
    scan.state.pool.popitem()
    scan.state.rounds = [(("m",), 1)] * MAX_VERIFYING_ROUNDS
    assert not expand(cast("ScanRun", scan))
    assert scan.state.not_reached == ["music_list:m1", "music_list:m2"]
    assert (scan.state.screened, scan.state.sightings) == ({"own"}, [])


def test_rounds_that_verify_no_id_go_on_until_every_place_is_taken() -> None:
    """Half of many free places are taken at a time, so a large pool needs more than eight."""
    scan = FullScan([])
    scan.verifies_audio = False
    scan.state.pool = {}
    scan.state.rounds = [((), 0)] * MAX_VERIFYING_ROUNDS
    scan.state.sightings = [seen("1", is_own=True)]
    scan.state.outcomes = {"1": ("unavailable", "deleted")}
    assert expand(cast("ScanRun", scan))


def seen(name: str, *, is_own: bool) -> Sighting:
    surface = "music_list" if is_own else "user_posts"
    return Sighting(
        aweme_id=name, surface=surface, entity_id="own", same_music=is_own, desc="with Boats"
    )


@pytest.mark.parametrize("verifies_audio", [True, False])
def test_a_long_list_of_the_own_id_leaves_places_for_what_other_sources_show(
    verifies_audio: bool,
) -> None:
    scan = FullScan([])
    scan.verifies_audio = verifies_audio
    scan.state.pool = {}
    scan.state.sightings = [seen(f"own {number}", is_own=True) for number in range(40)]
    begin_pool(cast("ScanRun", scan))
    assert len(scan.state.pool) == (9 if verifies_audio else LIMIT)
    scan.state.sightings += [seen(f"copy {number}", is_own=False) for number in range(10)]
    fill_pool(cast("ScanRun", scan))
    assert len(scan.state.pool) == LIMIT
    copies = [name for name in scan.state.pool if name.startswith("copy")]
    assert len(copies) == (2 if verifies_audio else 0)


def test_foreign_rows_of_a_music_list_are_candidates_under_the_id_that_they_name() -> None:
    scan = FullScan(["m1"])
    foreign = Video(
        aweme_id="stranger", surface="music_list", music=Music(music_id="other"),
        observed_at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    walk = scan.walk_music

    async def walk_music(music_id: str, **options: Any) -> ListWalk:
        return replace(await walk(music_id, **options), foreign=(foreign,))

    scan.walk_music = walk_music  # type: ignore[method-assign]  # of this scan alone
    assert not expand(cast("ScanRun", scan))
    rows = {row.aweme_id: (row.music_id, row.same_music) for row in scan.state.sightings}
    assert rows == {"of m1": ("m1", True), "stranger": ("other", False)}
    (share,) = genuine_shares(scan.state.sightings, music_of={})
    assert (share.music_id, share.rows, share.own_rows) == ("m1", 2, 1)
