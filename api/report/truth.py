"""A demo result against the ground truth of the invented world. Pure.

Only the stand-in platform has a truth, so this is never part of a result on real data.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

RECALL_GOAL = 0.95
PRECISION_GOAL = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrueWork:
    """A public work that truly carries the recording.

    `is_reachable`: some surface that a guest can read leads to it. `kind` is the world's word for
    how it was made (`original`, `reupload`, `sped_up`, ...).
    """

    aweme_id: str
    kind: str
    is_normal_speed: bool
    is_reachable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """How a confirmed set compares with the truth. Shares are None where nothing was there."""

    confirmed_count: int
    true_count: int
    reachable_count: int
    precision: float | None
    recall: float | None
    recall_reachable: float | None
    wrong: tuple[str, ...]
    missed: tuple[TrueWork, ...]
    variant_count: int
    variants_heard: int
    variants_confirmed: int

    @property
    def is_good(self) -> bool:
        """Whether the scan reached its goals: nothing wrong, and of the reachable works most."""
        return (
            self.precision is not None
            and self.recall_reachable is not None
            and self.precision >= PRECISION_GOAL
            and self.recall_reachable >= RECALL_GOAL
        )

    def to_document(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "confirmed_count": self.confirmed_count,
            "true_count": self.true_count,
            "reachable_count": self.reachable_count,
            "precision": self.precision,
            "recall": self.recall,
            "recall_reachable": self.recall_reachable,
            "wrong": list(self.wrong),
            "missed": [
                {"aweme_id": work.aweme_id, "kind": work.kind, "is_reachable": work.is_reachable}
                for work in self.missed
            ],
            "variant_count": self.variant_count,
            "variants_heard": self.variants_heard,
            "goals_met": self.is_good,
        }


def judge(result: Mapping[str, Any], works: Iterable[TrueWork]) -> Judgement:
    """Compare a result that returned its whole confirmed set with the truth.

    Precision counts a confirmed variant as wrong: what is not the recording as heard does not
    belong in the ranking. Recall is over works at normal speed.
    """
    works = list(works)
    confirmed = {video["aweme_id"] for video in result["aweme_list"]}
    heard = {video["aweme_id"] for video in result["variants"]["aweme_list"]}
    normal = {work.aweme_id: work for work in works if work.is_normal_speed}
    variants = {work.aweme_id for work in works if not work.is_normal_speed}
    reachable = {name for name, work in normal.items() if work.is_reachable}
    right = confirmed & normal.keys()
    return Judgement(
        confirmed_count=len(confirmed),
        true_count=len(normal),
        reachable_count=len(reachable),
        precision=_share(len(right), len(confirmed)),
        recall=_share(len(right), len(normal)),
        recall_reachable=_share(len(right & reachable), len(reachable)),
        wrong=tuple(sorted(confirmed - normal.keys())),
        missed=tuple(work for name, work in sorted(normal.items()) if name not in confirmed),
        variant_count=len(variants),
        variants_heard=len(variants & heard),
        variants_confirmed=len(variants & confirmed),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def to_true_works(document: Mapping[str, Any]) -> tuple[TrueWork, ...]:
    """The public works of a truth document (`works`: one document per related work).

    A guest reaches a work that is met in some round over confirmed music ids.
    """
    return tuple(
        TrueWork(
            aweme_id=work["aweme_id"],
            kind=work["kind"],
            is_normal_speed=work["relation"] == "same",
            is_reachable=work["round"] is not None,
        )
        for work in document["works"]
        if work["is_public"] and work["relation"] in {"same", "variant"}
    )
