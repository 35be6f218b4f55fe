"""The preview of a running scan: what it has confirmed so far.

A preview decides nothing: it applies the rule of `confirm.py` to what is verified at the moment, so
a later comparison can still remove a video. Its rows are in the order of the job, without ranks.
"""

import time
from collections.abc import Callable

from pipelines.documents.result_types import ScanPreview
from pipelines.documents.videos import to_ranked_document, to_track_document
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.rules.expansion import TrackLink, best_comparisons, link_video
from pipelines.scan.rules.results import rank_documents
from pipelines.scan.state.scan_state import ScanState
from warehouse.lake.record_rows import pack_document
from warehouse.records.videos import Video

MOST_ROWS = 50
EVERY_S = 2.0


def preview_document(
    state: ScanState,
    *,
    music_id: str,
    parameters: ScanParameters,
    link_of: Callable[[str], str],
) -> ScanPreview:
    """Return the track and the first `MOST_ROWS` confirmed videos in the order of the job.

    Args:
        state: The scan so far.
        music_id: The track's own music id.
        parameters: Their `sort_by` orders the rows.
        link_of: Returns the public link of a music id.
    """
    documents = []
    for video, link in confirmed_so_far(state, music_id=music_id):
        source = video.music.music_id if video.music else music_id
        document = to_ranked_document(
            video,
            link_type=link.link_type,
            source_music_id=source,
            source_music_url=link_of(source),
            comparison=link.comparison,
        )
        documents.append(document)
    return {
        "music": None if state.track is None else to_track_document(state.track),
        "ranked": rank_documents(documents, sort_by=parameters.sort_by)[:MOST_ROWS],
        "confirmed_count": len(documents),
    }


def confirmed_so_far(state: ScanState, *, music_id: str) -> list[tuple[Video, TrackLink]]:
    """Return the videos that the present verdicts confirm, those of finished rounds included."""
    # Before the first round `state.verified` is empty, and the track's own videos are confirmed.
    verified = {music_id: None, **state.verified}
    compared = best_comparisons(state.comparisons)
    confirmed = []
    for video in state.videos():
        link = state.confirmed.get(video.aweme_id) or link_video(
            video,
            verified=verified,
            own=compared.get(video.aweme_id),
            expansion_round=len(state.rounds),
        )
        if link is not None:
            confirmed.append((video, link))
    return confirmed


class PreviewWriter:
    """Writes the preview of a run when its rows have changed, at most every `EVERY_S` seconds."""

    def __init__(
        self,
        write: Callable[[bytes], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`write` stores a packed preview; `clock` returns seconds."""
        self._write = write
        self._clock = clock
        self._built_at = float("-inf")
        self._written: object = None

    def offer(self, build: Callable[[], ScanPreview]) -> None:
        """Store the preview that `build` returns, unless the last one is recent or equal."""
        now = self._clock()
        if now - self._built_at < EVERY_S:
            return
        # Also if nothing has changed: building a preview costs time, not only writing it.
        self._built_at = now
        preview = build()
        rows = [video["aweme_id"] for video in preview["ranked"]]
        content = (preview["confirmed_count"], preview["music"] is None, rows)
        if content != self._written:
            self._written = content
            self._write(pack_document(preview))
