"""Benchmark manifests: read the pairs to compare, verify them and write their scores.

Holds the two file formats and the loop over the rows. Not here: printing.
"""

import csv
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pipelines.audio.decode.decoder_pool import DecoderPool
from pipelines.audio.features.sound_features import Features
from pipelines.audio.features.sounds import MeasuredSound, NotComparable, SoundMeasurement
from pipelines.audio.matching import common_sounds, judging, verify
from pipelines.audio.matching.group_verdict import MOST_REFERENCES, GroupVerdict
from warehouse.files import file_problem, is_url
from warehouse.records.errors import InputError
from warehouse.records.evidence import MatchThresholds, PairEvidence

SCORE_COLUMNS = (
    "pair_id",
    "score",
    "verdict",
    "segment",
    "chroma_distance",
    "mfcc_distance",
    "overlap_s",
    "reference_start_s",
    "candidate_start_s",
    "speed",
    "semitones",
    "reason",
    "cpu_ms",
    "observation",
)
_REQUIRED = {"pair_id", "refs", "candidate"}
_MISSING = NotComparable(sha256=None, reason="file_missing")


class ManifestUnreadableError(InputError):
    """The manifest is not a CSV file or lacks a required column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestRow:
    """One row of the manifest, with absolute paths, or a URL where it has one."""

    pair_id: str
    references: tuple[Path, ...]
    candidate: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestScore:
    """The verdict on one row.

    `cpu_ms` is the CPU time of comparing features only; decoding and measuring happen once per
    file and are reported separately (`Sound.cpu_ms`).
    """

    pair_id: str
    verdict: GroupVerdict
    cpu_ms: float


def read_manifest(path: Path) -> list[ManifestRow]:
    """Read the columns `pair_id`, `refs` and `candidate`; other columns are ignored.

    Paths are relative to the manifest.

    Raises:
        ManifestUnreadableError: The file cannot be read, or a column is missing.
    """
    problem = file_problem(path)
    if problem is not None:
        raise ManifestUnreadableError(problem.detail)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = _REQUIRED - set(reader.fieldnames or ())
            if missing:
                raise ManifestUnreadableError(f"the manifest lacks {', '.join(sorted(missing))}")
            return [
                ManifestRow(
                    pair_id=fields["pair_id"] or "",
                    references=tuple(
                        _path(path.parent, name.strip())
                        for name in (fields["refs"] or "").split(";")
                        if name.strip()
                    ),
                    candidate=_path(path.parent, (fields["candidate"] or "").strip()),
                )
                for fields in reader
            ]
    except (OSError, UnicodeDecodeError, csv.Error) as exc:
        raise ManifestUnreadableError(f"{path.name} cannot be read as CSV") from exc


def crowded_count(rows: Sequence[ManifestRow]) -> int:
    """Return how many rows have more references than are compared."""
    return sum(len(row.references) > MOST_REFERENCES for row in rows)


def measure_files(
    pool: DecoderPool, paths: Sequence[Path], *, on_measured: Callable[[int], None]
) -> dict[Path, SoundMeasurement]:
    """Measure each file once; `on_measured` is called with the number of files done so far."""
    futures = {path: pool.submit(path) for path in dict.fromkeys(paths)}
    verify.warm_up()  # while the decoder processes are busy
    sounds: dict[Path, SoundMeasurement] = {}
    for path, future in futures.items():
        sounds[path] = future.result()
        on_measured(len(sounds))
    return sounds


def verify_rows(
    rows: Sequence[ManifestRow], sounds: Mapping[Path, SoundMeasurement], *, limits: MatchThresholds
) -> Iterator[ManifestScore]:
    """Verify each row; a file that was not measured counts as missing."""
    for row in rows:
        references = [sounds.get(path, _MISSING) for path in row.references]
        candidate = sounds.get(row.candidate, _MISSING)
        for sound in (*references, candidate):
            if isinstance(sound, MeasuredSound):
                # Centred features are cached, so they are not timed with the pair.
                assert len(sound.features.centred.chroma)
        started = time.process_time()
        verdict = verify.verify_group(references, [candidate], limits=limits)
        cpu_ms = 1000 * (time.process_time() - started)
        yield ManifestScore(pair_id=row.pair_id, verdict=verdict, cpu_ms=cpu_ms)


def score_fields(score: ManifestScore) -> dict[str, object]:
    """Return one line of the scores file; fields without a measurement are empty."""
    verdict = score.verdict
    empty = PairEvidence(verdict=verdict.verdict, reason=verdict.reason)
    evidence = verdict.best.evidence if verdict.best else empty
    measured = {name: getattr(evidence, name) for name in SCORE_COLUMNS if hasattr(evidence, name)}
    fields: dict[str, object] = {
        name: round(value, 6) if isinstance(value, float) else value
        for name, value in measured.items()
    }
    return {"pair_id": score.pair_id, **fields, "cpu_ms": round(score.cpu_ms, 3)}


def prepare_scores(path: Path) -> None:
    """Make the folder of the scores file, and check that a file can be written there.

    Raises:
        OSError: No file can be written there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = _part(path)
    part.open("ab").close()
    part.unlink()


def write_scores(path: Path, scores: Sequence[ManifestScore]) -> None:
    """Write the scores file atomically.

    Raises:
        OSError: It cannot be written.
    """
    part = _part(path)
    with part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, SCORE_COLUMNS)
        writer.writeheader()
        writer.writerows(score_fields(score) for score in scores)
    part.replace(path)


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def _path(folder: Path, name: str) -> Path:
    """Return the absolute path of a name in the manifest; a URL stays as it is."""
    return Path(name) if is_url(name) else (folder / name).absolute()


# Recompute stored evidence from stored features, so that users can check a verdict.
#
# Holds the second measurement and its difference from the first.

TOLERANCE = 1e-6
_YOUNGER = frozenset({"observation", "shared_part", "version_score"})
"""Fields that evidence of earlier releases does not have."""


def recompute(
    reference: Features, candidate: Features, stored: PairEvidence, *, limits: MatchThresholds
) -> PairEvidence | None:
    """Judge the pair again the same way: unchanged, or with a variant undone.

    Returns None if there is nothing to measure: the pair is not comparable, or no variant is
    likely.
    """
    if stored.score is None:
        return None
    again: PairEvidence | None
    unchanged = judging.judge_unchanged(reference, candidate, limits)
    if (stored.speed, stored.semitones) != (1.0, 0.0):
        # A speed is that of a window in which the clocks drift apart, or of an edit.
        stretches = verify.stretches_to_judge(reference, candidate, unchanged)
        again = judging.judge_windows(reference, candidate, limits, stretches)
        if again is None or again.verdict != "variant":
            again = judging.judge_edits(reference, candidate, limits).evidence
    else:
        # The evidence of unchanged sounds is of both rules, of windows that peaks suggest, or of
        # an excerpt, which is shorter than the rules allow.
        again = unchanged
        is_excerpt = stored.overlap_s is not None and stored.overlap_s < limits.local_overlap_s
        if is_excerpt or unchanged.verdict != stored.verdict:
            stretches = verify.stretches_to_judge(reference, candidate, unchanged)
            if is_excerpt:
                again = judging.judge_excerpt(reference, candidate, limits, stretches)
            else:
                again = judging.judge_windows(reference, candidate, limits, stretches) or unchanged
    if again is None:
        return None
    if stored.shared_part == common_sounds.COMMON_SOUND and again.verdict == "variant":
        again = common_sounds.as_common_sound(again)  # the list of then is no measure of the pair
    again = verify.with_likely_kind(reference, candidate, again, limits)
    if stored.version_score is None:
        return again
    return verify.with_version_score(reference, candidate, again)


def deviations(stored: PairEvidence, again: PairEvidence | None) -> dict[str, object]:
    """Return the new values of fields that differ: by more than 1e-6, or at all if not numbers.

    What evidence of earlier releases lacks is not a difference. What was searched is no measurement
    and is not compared.
    """
    if again is None:
        return {} if stored.score is None else {"score": None}
    values = asdict(again)
    differing = {}
    for name, value in asdict(stored).items():
        other = values[name]
        if isinstance(value, float) and isinstance(other, float):
            is_equal = abs(value - other) <= TOLERANCE
        else:
            is_equal = value == other
        is_missing = value is None and name in _YOUNGER
        if name != "searched" and not is_equal and not is_missing:
            differing[name] = other
    return differing
