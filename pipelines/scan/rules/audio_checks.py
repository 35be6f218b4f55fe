"""What was measured of a video's own sound, derived from the compared pairs of a scan.

One derivation for ranking, variants, coverage and reports, so that they agree with the pairs.
"""

from collections.abc import Iterable

from pipelines.documents.result_types import (
    AudioCheck,
    AudioCheckKind,
    LinkedVideo,
    ShiftedVideo,
    StoredResult,
)
from warehouse.records.evidence import MATCHES, STRENGTH
from warehouse.records.values import ReadOnlyRow


def with_audio_checks(result: StoredResult, pairs: Iterable[ReadOnlyRow]) -> StoredResult:
    """Return the result with the `audio_check` of each confirmed video and of each variant.

    Args:
        result: A stored result; it is not modified.
        pairs: Rows of all pairs that its scan compared.
    """
    pairs = tuple(pairs)
    own = deciding_pairs(pairs)
    as_reference = _most_credible(pairs, "reference_aweme_id")

    def check(video: LinkedVideo | ShiftedVideo) -> AudioCheck:
        own_pair, reference_pair = own.get(video["aweme_id"]), as_reference.get(video["aweme_id"])
        # A reference that a song of the music service contradicts is a reference all the same.
        if own_pair is not None and (own_pair["verdict"] in MATCHES or reference_pair is None):
            return _audio_check("compared", own_pair)
        if reference_pair is not None:
            return _audio_check("reference", reference_pair)
        evidence = video.get("evidence")
        if evidence is None:
            return {"kind": "not_compared", "verdict": None, "comparison_id": None}
        is_own = evidence["candidate_aweme_id"] == video["aweme_id"]
        return _audio_check("compared" if is_own else "same_sound", evidence)

    variants = result["variants"]
    return {
        **result,
        "ranked": [{**video, "audio_check": check(video)} for video in result["ranked"]],
        "variants": {
            **variants,
            "aweme_list": [
                {**video, "audio_check": check(video)} for video in variants["aweme_list"]
            ],
        },
    }


def deciding_pairs[Pair: ReadOnlyRow](pairs: Iterable[Pair]) -> dict[str, Pair]:
    """Return the pair of each candidate that decides about it: the most credible, by its id."""
    return _most_credible(pairs, "candidate_aweme_id")


def _most_credible[Pair: ReadOnlyRow](pairs: Iterable[Pair], key: str) -> dict[str, Pair]:
    # Of several pairs, the last one stays.
    return {pair[key]: pair for pair in sorted(pairs, key=_credibility)}


def _credibility(pair: ReadOnlyRow) -> tuple[int, bool, float]:
    # Stored rows have no relation: they decide about matches, whose verdict says it.
    return (STRENGTH[pair["verdict"]], pair.get("relation") is not None, pair["score"] or 0.0)


def _audio_check(kind: AudioCheckKind, pair: ReadOnlyRow) -> AudioCheck:
    return {"kind": kind, "verdict": pair["verdict"], "comparison_id": pair["comparison_id"]}
