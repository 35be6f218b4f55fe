"""The discovery of related videos: a small scan around a track, told candidate by candidate. Pure.

Layer 1: first-screen works of the authors of the track. Layer 2: those whose text relates to the
song, under other music ids, confirmed or rejected by listening. Reading is `scan/discover.py`.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from pipelines.documents.videos import Document
from pipelines.parameters.scan import Parameter, ScanParameters, fingerprint
from pipelines.scan.rules.candidate_pool import Sighting
from pipelines.scan.rules.expansion import Confirmed
from pipelines.scan.rules.ranking import hot_score, is_viral
from pipelines.scan.rules.titles import mentions

AssociationType = Literal["audio_fingerprint_match", "exact_music_id_discovered"]
TitleRelation = Literal["names_the_song", "none"]

DISCOVERY_PARAMETERS: tuple[Parameter, ...] = (
    Parameter(
        name="author_limit", kind=int, default=5, minimum=1, maximum=10,
        meaning="seed authors of the track whose first screen is read",
        meaning_zh="读取首屏的种子作者数量",
    ),
    Parameter(
        name="candidate_limit", kind=int, default=20, minimum=1, maximum=30,
        meaning="text candidates whose detail page is read",
        meaning_zh="读取详情的文本候选数量",
    ),
    Parameter(
        name="match_threshold", kind=float, default=0.65, minimum=0.0, maximum=1.0,
        meaning="composite audio score that a match must reach",
        meaning_zh="音频匹配综合得分阈值",
    ),
    Parameter(
        name="verify_audio", kind=bool, default=True,
        meaning="listen to text candidates under other music ids",
        meaning_zh="是否对其他音乐 ID 的文本候选做音频核验",
    ),
    Parameter(
        name="viral_threshold", kind=int, default=10_000, minimum=0,
        meaning="likes from which a video counts as viral",
        meaning_zh="点赞数达到该值视为爆款",
    ),
)  # fmt: skip
SEED_WORKS = 20  # one page of the track's own list: seed authors and reference works


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveryParameters:
    """The effective parameters of one discovery. Names and limits: `DISCOVERY_PARAMETERS`."""

    author_limit: int = 5
    candidate_limit: int = 20
    match_threshold: float = 0.65
    verify_audio: bool = True
    viral_threshold: int = 10_000

    def to_document(self) -> dict[str, object]:
        """Plain JSON values, in the order of the fields."""
        return asdict(self)

    def to_scan_parameters(self) -> ScanParameters:
        """The limits of the scan that a discovery is: its own list, no search, no profiles."""
        return ScanParameters(
            candidate_limit=SEED_WORKS,
            match_threshold=self.match_threshold,
            verify_audio=self.verify_audio,
            viral_threshold=self.viral_threshold,
            search_enabled=False,
            account_profile_limit=0,
        )


def discovery_key(
    target: str, world: str, provider: str, algorithm: str, parameters: DiscoveryParameters
) -> str:
    """Identity of a discovery: while it runs a twin joins it, afterwards its result serves.

    `target` is the music id, or the input as given while that is not known.
    """
    return fingerprint(f"discovery:{algorithm}:{target}", world, provider, parameters)


def title_relation(seen: Sighting, title: str | None) -> TitleRelation:
    """How the text of a candidate relates to the song."""
    return "names_the_song" if mentions(title, (seen.desc, *seen.hashtag_names)) else "none"


def association_of(entry: Confirmed) -> AssociationType:
    """Why a discovered work belongs to the track: by its own id, or by listening."""
    is_own = entry.link_type == "exact_music_id"
    return "exact_music_id_discovered" if is_own else "audio_fingerprint_match"


def to_discovered(document: Document, entry: Confirmed, *, viral_threshold: int) -> Document:
    """A verified match: the ranked video with its association."""
    return {
        **document,
        "association_type": association_of(entry),
        "reference_aweme_id": entry.comparison.reference_aweme_id if entry.comparison else None,
        "hot_score": hot_score(entry.video.statistics),
        "is_viral": is_viral(document, viral_threshold=viral_threshold),
    }


def layer_counts(outcomes: Sequence[str], *, naming: int, seen: int, own: int) -> Document:
    """What each layer saw and what became of it.

    Args:
        outcomes: What became of each candidate.
        naming: Candidates whose text names the song.
        seen: Works on the first screens of the seed authors.
        own: Candidates under the track's own music id.
    """
    return {
        "layer1_first_screen_works": seen,
        "layer1_same_music_id": own,
        "layer2_text_candidates": len(outcomes),
        "layer2_naming_the_song": naming,
        "layer2_verified": outcomes.count("confirmed") - own,
        "layer2_variants": outcomes.count("variant"),
        "layer2_rejected": outcomes.count("rejected"),
        "layer2_not_comparable": outcomes.count("not_comparable"),
        "unavailable": outcomes.count("unavailable"),
    }
