"""The ear on a small fixed part of the accuracy bench: real files, every common transform.

For `make soak`: the quick tier shows the same of single transforms (`unit/audio`).
"""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from benchmarks.accuracy.accuracy import Document

pytestmark = pytest.mark.soak
RECALL_FLOOR = 0.95


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> "Document":
    # the bench loads what only one of the processes that share the tests needs
    from benchmarks.accuracy.accuracy import listen, measure_tracks  # noqa: PLC0415 -- as above
    from benchmarks.accuracy.comparing import Bench  # noqa: PLC0415 -- as above
    from benchmarks.accuracy.hearing import Hearing  # noqa: PLC0415 -- as above
    from benchmarks.accuracy.sounds.making import make_clips  # noqa: PLC0415 -- as above
    from benchmarks.accuracy.sounds.tracks import Sources, list_few_tracks  # noqa: PLC0415 -- as above

    folder = tmp_path_factory.mktemp("accuracy")
    tracks = list_few_tracks()[5:7]  # one played by hand, one by a machine
    clips = make_clips(tracks, Sources(), folder, processes=1)
    hearing = Hearing(clips, folder)
    listen(tracks, hearing, workers=1)
    with Bench(hearing, processes=1) as bench:
        document, _, _ = measure_tracks(tracks, bench)
    return document


def test_accuracy_bench_confirms_no_other_recording(figures: "Document") -> None:
    assert figures["summary"]["clear"]["precision"]["value"] == 1.0
    assert figures["groups"]["precision"]["value"] == 1.0


def test_the_recording_is_found_whatever_was_done_to_it(figures: "Document") -> None:
    assert figures["summary"]["clear"]["recall"]["total"] >= 20
    assert figures["summary"]["clear"]["recall"]["value"] >= RECALL_FLOOR


def test_a_changed_recording_is_never_confirmed_as_heard(figures: "Document") -> None:
    assert figures["as_heard"]["variant"].get("confirmed", 0) == 0
    assert figures["as_heard"]["same"].get("variant", 0) == 0
