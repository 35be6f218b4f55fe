"""Excerpts of compared sounds: read again those that a scan did not keep, send a part of a file.

The sound is read as a guest, within the rate and the budget of its hosts, and deleted once its
excerpt is cut. Only the file that was compared is cut: the excerpt is named by its hash.
"""

import asyncio
import hashlib
import re
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import quote

from anyio.to_thread import run_sync
from starlette.responses import Response

from api.responses.errors import PARTIAL_CONTENT, NotFoundError
from api.services.evidence.service import EvidenceService, MissingExcerpt
from api.services.reads.sources import Deadline, Sources
from pipelines.documents.result_types import EvidenceDocument
from warehouse.records.evidence import MATCHES, ExcerptRole
from warehouse.records.values import ReadOnlyDocument
from warehouse.records.videos import UnavailableVideo

if TYPE_CHECKING:
    from api.services.evidence.plot import PlotLanguage
    from api.services.evidence.service import EvidenceService


SURFACE = "media"
_CUTTER = "pipelines.audio.decode.excerpt_process"
_SINGLE_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


async def read_missing_excerpt(
    evidence: EvidenceService,
    sources: Sources,
    comparison_id: str,
    role: ExcerptRole,
    *,
    deadline: Deadline,
) -> None:
    """Store the excerpt of a compared sound, unless it is stored already.

    Raises:
        NotFoundError: There is no such comparison, its sound cannot be read again, or the platform
            serves another file by now.
        UpstreamError: The platform refused the video or its sound, or was not read in time.
    """
    missing = await run_sync(evidence.missing_excerpt, comparison_id, role)
    if missing is None:
        return
    async with deadline.guard(SURFACE):
        encoded = await _read_and_cut(sources, missing)
    await run_sync(evidence.store_excerpt, missing.excerpt, encoded)


async def _read_and_cut(sources: Sources, missing: MissingExcerpt) -> bytes:
    """Return the excerpt of a sound as MP3, read from the platform into a temporary folder."""
    await run_sync(lambda: sources.sounds_dir.mkdir(parents=True, exist_ok=True))
    with TemporaryDirectory(dir=sources.sounds_dir, prefix=".kept-") as folder:
        async with sources.sounds(Path(folder)) as captures:
            detail = await captures.video(missing.aweme_id)
            if isinstance(detail, UnavailableVideo):
                raise NotFoundError(
                    f"The video {missing.aweme_id} is no longer available",
                    hint="Its measurements are still stored",
                )
            file = await captures.sound(detail)
        if file.sha256 != missing.excerpt.sha256:
            raise NotFoundError(
                f"The platform serves another sound for the video {missing.aweme_id} by now",
                hint="What was compared cannot be heard any more; a new scan compares what is "
                "there",
            )
        # Decoding runs in a process of its own, so that a damaged file cannot harm the service;
        # one at a time, because it takes a whole processor.
        async with sources.one_decoder:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                _CUTTER,
                file.path,
                str(missing.excerpt.start_s),
                str(missing.excerpt.duration_s),
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=DEVNULL,
            )
            try:
                encoded, _ = await process.communicate()
            except asyncio.CancelledError:
                process.kill()
                raise
    if not encoded:
        raise NotFoundError(f"The sound of the video {missing.aweme_id} cannot be decoded")
    return encoded


def range_response(
    content: bytes,
    request_headers: Mapping[str, str],
    *,
    media_type: str,
    headers: Mapping[str, str],
) -> Response:
    """Build a response with the whole content, or with the bytes that a `Range` header names.

    Players that seek in a sound request parts (RFC 9110, 14). A `Range` that is not one satisfiable
    byte range is ignored and the whole file is sent, as the standard allows.
    """
    size, tag = len(content), f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    all_headers = {**headers, "Accept-Ranges": "bytes", "ETag": tag}
    whole = Response(content, media_type=media_type, headers=all_headers)
    byte_range = _SINGLE_RANGE.fullmatch(request_headers.get("range", "").strip())
    if byte_range is None or request_headers.get("if-range", tag) != tag:
        return whole
    # One of three forms: `first-last`, `first-` or `-count` for the last bytes.
    start, end = byte_range.groups()
    if start:
        first, last = int(start), min(size - 1, int(end or size))
    elif end:
        first, last = max(0, size - int(end)), size - 1
    else:
        return whole
    if first > last:
        return whole
    all_headers["Content-Range"] = f"bytes {first}-{last}/{size}"
    part = content[first : last + 1]
    return Response(part, PARTIAL_CONTENT, media_type=media_type, headers=all_headers)


# Collects the compared pairs of a job for its report.
#
# Plots of the pairs that links depend on, and rejected candidates with as many plots as fit. It
# uses the evidence service, so nothing is decoded. Not here: markup, HTTP.

MAX_PLOTS = 24
MAX_PLOT_BYTES = 2_500_000
MAX_REJECTED = 20
_UNQUOTED = " =:/?;,+()!*@$&"  # characters allowed unescaped in both an attribute and a data URL


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportEvidence:
    """`pictures` are SVG data URLs by comparison id.

    `rejected` has the best pair of each rejected candidate, most credible first, out of
    `rejected_count`.
    """

    pictures: Mapping[str, str] = field(default_factory=dict)
    rejected: Sequence[EvidenceDocument] = ()
    rejected_count: int = 0


def collect_report_evidence(
    evidence_service: "EvidenceService", job: ReadOnlyDocument, *, language: "PlotLanguage" = "en"
) -> ReportEvidence:
    """Collect the pairs of a completed job document with its result; plots in one language."""
    result = job["result"]
    rejected = _best_rejected_pairs(evidence_service.pairs_of_job(job["scan_job_id"]))

    # Plots of confirmed videos and variants come first; a pair may belong to several videos.
    videos = (*result["aweme_list"], *result["variants"]["aweme_list"])
    linked = [video["evidence"] for video in videos if video.get("evidence")]
    listed = rejected[:MAX_REJECTED]
    ids = dict.fromkeys(evidence["comparison_id"] for evidence in (*linked, *listed))
    plots: dict[str, str] = {}
    free_bytes = MAX_PLOT_BYTES
    for comparison_id in list(ids)[:MAX_PLOTS]:
        try:
            plot = evidence_service.picture(comparison_id, "svg", language=language)
        except NotFoundError:
            continue  # features of its sounds are not stored
        address = f"data:image/svg+xml,{quote(plot, safe=_UNQUOTED)}"
        free_bytes -= len(address)
        if free_bytes < 0:
            break
        plots[comparison_id] = address
    return ReportEvidence(pictures=plots, rejected=listed, rejected_count=len(rejected))


def _best_rejected_pairs(pairs: Sequence[EvidenceDocument]) -> list[EvidenceDocument]:
    """Return the best pair of each candidate that no pair accepted, most credible first."""
    accepted = {pair["candidate_aweme_id"] for pair in pairs if pair["verdict"] in MATCHES}
    # An observed change, such as another speed, makes a rejection more interesting than its score.
    by_credibility = sorted(
        pairs,
        key=lambda pair: (pair["observation"] is not None, pair["score"] or 0.0),
        reverse=True,
    )
    best: dict[str, EvidenceDocument] = {}
    for pair in by_credibility:
        if pair["verdict"] == "rejected" and pair["candidate_aweme_id"] not in accepted:
            best.setdefault(pair["candidate_aweme_id"], pair)
    return list(best.values())
