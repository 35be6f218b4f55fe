"""Runs pairs and groups through the ear in several processes and brings the verdicts home.

What belongs here: processes and records. Not here: what the verdicts are worth (`figures.py`).
"""

import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Self

from benchmarks.accuracy.hearing import Hearing
from benchmarks.accuracy.pairs import Group
from benchmarks.speed.running import counted
from pipelines.audio.features.sounds import SoundMeasurement
from pipelines.audio.matching.verify import compare_pair, verify_group
from warehouse.records.evidence import EvidenceRelation, MatchThresholds, PairEvidence, Verdict

LIMITS = MatchThresholds()
_CHUNK = 24
_LABELS_OF_OTHERS = frozenset({"shared_voice"})
_REASONS_OF_OTHERS = frozenset({"tones_differ"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A pair's verdict and numbers. `score` is 0 for what could not be compared."""

    verdict: Verdict
    score: float
    reason: str
    speed: float | None
    semitones: float | None
    observation: str | None
    shared_part: str | None
    relation: EvidenceRelation | None
    agreement: float
    chroma: float
    mfcc: float
    cpu_ms: float


_ears: dict[str, "Ear"] = {}


class Ear:
    """One process's ear: sounds are read once."""

    def __init__(self, hearing: Hearing) -> None:
        self.hearing = hearing
        self.sounds: dict[str, SoundMeasurement] = {}

    def sound(self, file: str) -> SoundMeasurement:
        if file not in self.sounds:
            self.sounds[file] = self.hearing.sound(file)
        return self.sounds[file]

    def judge(self, reference: str, candidate: str, search: bool) -> Judged:
        left, right = self.sound(reference), self.sound(candidate)
        began = time.process_time()
        evidence = compare_pair(left, right, limits=LIMITS, search=search)
        return _judged(evidence, 1000 * (time.process_time() - began))

    def judge_group(self, group: Group) -> Judged:
        began = time.process_time()
        verdict = verify_group(
            [self.sound(file) for file in group.references],
            [self.sound(file) for file in group.candidates],
            limits=LIMITS,
        )
        spent = 1000 * (time.process_time() - began)
        nothing = PairEvidence(verdict=verdict.verdict, reason=verdict.reason)
        return _judged(verdict.best.evidence if verdict.best else nothing, spent)


class Bench:
    """Compares in `processes` processes. Use it as a context manager."""

    def __init__(self, hearing: Hearing, *, processes: int) -> None:
        self._pool = ProcessPoolExecutor(
            processes, mp_context=get_context("spawn"), initializer=_open, initargs=(hearing,)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def pairs(self, pairs: Sequence[tuple[str, str]], *, search: bool = True) -> list[Judged]:
        """Verdicts in the order of (reference, candidate)."""
        jobs = [(*pair, search) for pair in pairs]
        judged = self._pool.map(_judge, *zip(*jobs, strict=True), chunksize=_CHUNK)
        return list(counted(judged, what="comparing pairs", total=len(jobs)))

    def groups(self, groups: Sequence[Group]) -> list[Judged]:
        """Verdicts in the order of the groups."""
        judged = self._pool.map(_judge_group, groups, chunksize=4)
        return list(counted(judged, what="comparing groups", total=len(groups)))


def _open(hearing: Hearing) -> None:
    _ears["ear"] = Ear(hearing)


def _judge(reference: str, candidate: str, search: bool) -> Judged:
    return _ears["ear"].judge(reference, candidate, search)


def _judge_group(group: Group) -> Judged:
    return _ears["ear"].judge_group(group)


def _judged(evidence: PairEvidence, cpu_ms: float) -> Judged:
    return Judged(
        verdict=evidence.verdict, score=evidence.score or 0.0, reason=evidence.reason,
        speed=evidence.speed, semitones=evidence.semitones, observation=evidence.observation,
        shared_part=evidence.shared_part, relation=evidence.relation,
        agreement=evidence.peak_agreement or 0.0,
        chroma=evidence.chroma_distance or 0.0, mfcc=evidence.mfcc_distance or 0.0,
        cpu_ms=cpu_ms,
    )  # fmt: skip


def called_others(is_same: Sequence[bool], judged: Sequence[Judged]) -> dict[str, int]:
    """Rejected copies (`total`), and how many are called what only other recordings may be."""
    rejected = [
        one for same, one in zip(is_same, judged, strict=True)
        if same and one.verdict == "rejected"
    ]  # fmt: skip
    wrong = [
        one for one in rejected
        if one.observation in _LABELS_OF_OTHERS or one.reason in _REASONS_OF_OTHERS
    ]  # fmt: skip
    return {"hits": len(wrong), "total": len(rejected)}
