"""The librosa side of `sametrack audio explain --librosa`: sounds, text and JSON.

Not here: what librosa measures (`pipelines/audio/cross_check.py`), the picture.
"""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

from rich.table import Table

from api.cli.terminal import exit_with_input_error, out, safe
from pipelines.audio.decode.decoder_pool import DecodedSamples, DecoderPool
from pipelines.audio.features.sounds import NotComparable
from warehouse.records.evidence import EXCERPT_ROLES, PairEvidence
from warehouse.records.values import Document

if TYPE_CHECKING:
    from api.services.evidence.service import EvidenceService
    from pipelines.audio.cross_check import CrossCheck


def check_files(reference: Path, candidate: Path) -> "CrossCheck":
    """Measure two files with librosa; what it cannot measure is an input error."""
    from pipelines.audio.cross_check import TooShortError, cross_check  # noqa: PLC0415 - if asked

    with DecoderPool(1) as pool:
        futures = [pool.submit_decode(path) for path in (reference, candidate)]
        sounds = [future.result() for future in futures]
    for sound in sounds:
        if isinstance(sound, NotComparable):
            exit_with_input_error(f"a sound cannot be decoded: {sound.reason}")
    try:
        return cross_check(*cast("list[DecodedSamples]", sounds))
    except TooShortError as error:
        exit_with_input_error(str(error))


def check_stored(evidence_service: "EvidenceService", comparison_id: str) -> "CrossCheck":
    """Measure the stored excerpts of a comparison; times are those of the whole sounds.

    Raises:
        NotFoundError: An excerpt is not stored.
    """
    excerpts = evidence_service.pair(comparison_id).excerpts
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{role}.mp3" for role in EXCERPT_ROLES]
        for role, path in zip(EXCERPT_ROLES, paths, strict=True):
            path.write_bytes(evidence_service.excerpt(comparison_id, role))
        check = check_files(*paths)
    return replace(
        check,
        reference_s=check.reference_s + excerpts["reference"].start_s,
        candidate_s=check.candidate_s + excerpts["candidate"].start_s,
    )


def check_document(check: "CrossCheck", evidence: PairEvidence) -> Document:
    """Return the numbers and sentences for `--json`."""
    from pipelines.audio.cross_check import differences  # noqa: PLC0415 - if asked

    return {
        "chroma_distance": check.chroma_distance,
        "mfcc_distance": check.mfcc_distance,
        "tempo": check.tempo,
        "key_shift": check.key_shift,
        "bend_s": check.bend_s,
        "reference_s": [float(check.reference_s[0]), float(check.reference_s[-1])],
        "candidate_s": [float(check.candidate_s[0]), float(check.candidate_s[-1])],
        "differences": list(differences(check, evidence)),
    }


def show_check(check: "CrossCheck", evidence: PairEvidence) -> None:
    """Print both implementations beside each other, then the sentences."""
    from pipelines.audio.cross_check import differences, measures  # noqa: PLC0415 - if asked

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("measure", "matcher", "librosa"):
        table.add_column(name, justify="left" if name == "measure" else "right")
    for name, ours, theirs in measures(check, evidence):
        table.add_row(name, ours, theirs)
    out.print(table)
    for sentence in differences(check, evidence):
        out.print(f"[dim]·[/] {safe(sentence)}", soft_wrap=True)
