"""The state of a scan comes back from its checkpoint as it was, or not at all."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.captures.session import CaptureCounters
from pipelines.scan.rules.candidate_pool import Sighting
from pipelines.scan.rules.expansion import TrackLink
from pipelines.scan.state.scan_state import ScanState, pack_state, unpack_state
from warehouse.lake.record_rows import pack_bytes
from warehouse.records.coverage import SourceCoverage
from warehouse.records.evidence import Comparison, MatchThresholds, PairEvidence
from warehouse.records.videos import Author, Hashtag, Music, SoundAddresses, Statistics, Video

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
IDS = st.text("0123456789", min_size=1, max_size=19)
COUNTS = st.none() | st.integers(0, 2**53)
TIMES = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  # with its zone beside it
MUSIC = st.builds(Music, music_id=IDS, title=st.none() | TEXTS, duration_s=COUNTS)
VIDEOS = st.builds(
    Video,
    aweme_id=IDS,
    surface=TEXTS,
    observed_at=TIMES,
    desc=st.none() | TEXTS,
    create_time=COUNTS,
    author=st.none() | st.builds(Author, sec_uid=IDS),
    music=st.none() | MUSIC,
    hashtags=st.lists(st.builds(Hashtag, ch_id=IDS, name=TEXTS), max_size=3).map(tuple),
    statistics=st.builds(Statistics, digg_count=COUNTS, share_count=COUNTS),
)
SOUNDS = st.builds(SoundAddresses, urls=st.lists(TEXTS, max_size=2).map(tuple))
DETAILS = st.builds(lambda video, sound: replace(video, sound=sound), VIDEOS, SOUNDS)
SCORES = st.none() | st.floats(0, 2)
COMPARISONS = st.builds(
    Comparison,
    comparison_id=IDS,
    reference_aweme_id=IDS,
    candidate_aweme_id=IDS,
    reference_music_id=IDS,
    candidate_music_id=IDS,
    pair=st.builds(
        PairEvidence,
        verdict=st.sampled_from(["confirmed", "variant", "rejected", "not_comparable"]),
        reason=TEXTS,
        chroma_distance=SCORES,
        score=SCORES,
        speed=SCORES,
    ),
    limits=st.builds(MatchThresholds, match_threshold=st.floats(0, 1)),
    algorithm=TEXTS,
    feature_version=TEXTS,
    library_version=TEXTS,
)
SIGHTINGS = st.builds(
    Sighting,
    aweme_id=IDS,
    surface=TEXTS,
    entity_id=IDS,
    same_music=st.booleans(),
    digg_count=COUNTS,
    priority=st.floats(0, 9),
)
STATES = st.builds(
    ScanState,
    steps=st.dictionaries(
        TEXTS, st.dictionaries(TEXTS, st.integers(0, 99), max_size=2), max_size=3
    ),
    checkpoint=st.integers(0, 99),
    written=st.sets(TEXTS, max_size=3),
    sightings=st.lists(SIGHTINGS, max_size=3),
    pool=st.dictionaries(IDS, SIGHTINGS, max_size=3),
    details=st.dictionaries(IDS, DETAILS, max_size=3),
    outcomes=st.dictionaries(IDS, st.tuples(TEXTS, st.none() | TEXTS), max_size=3),
    confirmed=st.dictionaries(
        IDS,
        st.builds(
            TrackLink,
            link_type=st.just("exact_music_id"),
            expansion_round=st.integers(0, 8),
            comparison=st.none() | COMPARISONS,
        ),
        max_size=2,
    ),
    comparisons=st.lists(COMPARISONS, max_size=3),
    references=st.dictionaries(IDS, IDS, max_size=2),
    verified=st.dictionaries(IDS, st.none() | COMPARISONS, max_size=2),
    rounds=st.lists(st.tuples(st.lists(IDS, max_size=2).map(tuple), st.integers(0, 9)), max_size=2),
    coverage_report=st.lists(
        st.builds(
            SourceCoverage,
            surface=TEXTS,
            requests=st.integers(0, 99),
            pages=st.integers(0, 99),
            items=st.integers(0, 99),
            new_items=st.integers(0, 99),
            stop_reason=TEXTS,
        ),
        max_size=2,
    ),
    spent=st.builds(
        CaptureCounters,
        requests_used=st.integers(0, 999),
        verdicts=st.lists(st.tuples(TEXTS, TEXTS, TEXTS, st.integers(1, 9)), max_size=2),
    ),
    timings=st.dictionaries(TEXTS, st.floats(0, 1e6), max_size=2),
)


@settings(max_examples=50)
@given(STATES)
def test_scan_state_survives_packing(state: ScanState) -> None:
    again = unpack_state(pack_state(state))
    assert again == state
    assert list(again.pool) == list(state.pool)
    assert list(again.details) == list(state.details)
    assert list(again.steps) == list(state.steps)


@pytest.mark.parametrize("document", [b"{", b"[]", b'{"checkpoint": "soon"}'])
def test_a_document_that_is_no_state_is_refused(document: bytes) -> None:
    with pytest.raises(ValueError, match="no state of this revision"):
        unpack_state(pack_bytes(document))
