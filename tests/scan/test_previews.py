"""The preview of a running scan shows what its present verdicts confirm."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from pipelines.documents.result_types import ScanPreview
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.state.preview import (
    EVERY_S,
    MOST_ROWS,
    PreviewWriter,
    preview_document,
)
from pipelines.scan.state.scan_state import ScanState
from tests.fake_clock import FakeClock
from warehouse.control import ControlStore, jobs, open_control, scan_journal
from warehouse.control.jobs import NewJob
from warehouse.lake.record_rows import unpack_document
from warehouse.records.evidence import Comparison, MatchThresholds, PairEvidence, Verdict
from warehouse.records.videos import Music, Statistics, Video

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def state_of(**videos: str) -> ScanState:
    """A scan that has read these videos, each with its music id; later ones have more likes."""
    details = {
        name: Video(
            aweme_id=name, surface="video_page", observed_at=NOW, music=Music(music_id=music_id),
            statistics=Statistics(
                digg_count=likes, comment_count=0, collect_count=0, share_count=0
            ),
        )
        for likes, (name, music_id) in enumerate(videos.items())
    }  # fmt: skip
    return ScanState(details=details)


def compared(aweme_id: str, music_id: str, verdict: Verdict) -> Comparison:
    return Comparison(
        comparison_id=f"{aweme_id} {verdict}", reference_aweme_id="r", candidate_aweme_id=aweme_id,
        reference_music_id="own", candidate_music_id=music_id,
        pair=PairEvidence(verdict=verdict, reason="below_limits"),
        limits=MatchThresholds(match_threshold=0.5),
        algorithm="a", feature_version="f", library_version="l",
    )  # fmt: skip


def preview_of(state: ScanState) -> ScanPreview:
    return preview_document(
        state,
        music_id="own",
        parameters=ScanParameters(sort_by="digg"),
        link_of=lambda music_id: f"https://vidplat.example/music/{music_id}",
    )


def read(packed: bytes) -> ScanPreview:
    return cast("ScanPreview", unpack_document(packed))


def ids(preview: ScanPreview) -> list[str]:
    return [video["aweme_id"] for video in preview["ranked"]]


def test_videos_of_the_tracks_own_id_are_shown_before_any_comparison() -> None:
    preview = preview_of(state_of(first="own", other="another", second="own"))
    assert ids(preview) == ["second", "first"]
    assert preview["confirmed_count"] == 2
    assert preview["music"] is None


def test_a_verified_music_id_adds_its_videos_but_not_those_that_were_rejected() -> None:
    state = state_of(own="own", muted="copy", matched="copy", unheard="copy")
    proof = compared("matched", "copy", "confirmed")
    state.comparisons = [proof, compared("muted", "copy", "rejected")]
    state.verified = {"own": None, "copy": proof}
    kinds = {video["aweme_id"]: video["link_type"] for video in preview_of(state)["ranked"]}
    assert kinds == {
        "own": "exact_music_id",
        "matched": "audio_fingerprint_match",
        "unheard": "verified_music_id_graph",
    }


def test_a_long_list_is_counted_as_a_whole_and_cut() -> None:
    preview = preview_of(state_of(**{f"v{number}": "own" for number in range(MOST_ROWS + 7)}))
    assert (len(preview["ranked"]), preview["confirmed_count"]) == (MOST_ROWS, MOST_ROWS + 7)


def test_an_equal_preview_is_written_once_and_another_not_before_its_time() -> None:
    clock, written = FakeClock(), list[bytes]()
    writer = PreviewWriter(written.append, clock=clock.monotonic)
    for videos in ({"a": "own"}, {"a": "own", "b": "own"}):
        writer.offer(lambda videos=videos: preview_of(state_of(**videos)))  # type: ignore[misc]  # bound now
    assert [ids(read(one)) for one in written] == [["a"]]
    for _ in range(3):
        clock.advance(EVERY_S)
        writer.offer(lambda: preview_of(state_of(a="own", b="own")))
    assert [ids(read(one)) for one in written] == [["a"], ["b", "a"]]


def open_store(root: Path) -> ControlStore:
    return open_control(f"sqlite:///{root / 'control.sqlite'}", world="sandbox")


def test_only_the_run_that_holds_a_job_replaces_its_preview_which_goes_with_its_end(
    tmp_path: Path,
) -> None:
    control = open_store(tmp_path)
    new = NewJob(
        kind="scan", input="1", target="1", music_id="1", parameters={}, fingerprint="f",
        scan_key=None, origin="cli", priority=1,
    )  # fmt: skip
    job_id = jobs.create_or_join(control, new)[0].job_id
    scan_journal.save_preview(control, job_id, b"queued", run_number=0)
    assert scan_journal.read_preview(control, job_id) is None
    claimed = jobs.claim(control, "worker")
    assert claimed is not None
    for document in (b"first", b"second"):
        scan_journal.save_preview(control, job_id, document, run_number=claimed.run_number)
    scan_journal.save_preview(control, job_id, b"given up", run_number=claimed.run_number - 1)
    shown = scan_journal.read_preview(control, job_id)
    assert shown is not None
    assert replace(shown, updated_at=NOW).document == b"second"
    jobs.finish(control, job_id, "completed", expires_at=NOW)
    assert scan_journal.read_preview(control, job_id) is None
    control.close()
