"""Rules of the discovery of related videos, reported candidate by candidate.

Layer 1: first-screen videos of the track's authors. Layer 2: those of other music ids whose text
names the song, confirmed or rejected by audio. Not here: reading (`scan/discover.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from pipelines.documents.result_types import AssociationType, DiscoveredVideo, TitleRelation
from pipelines.documents.video_types import LinkedVideo
from pipelines.parameters.scan import BY_NAME, Parameter, ScanParameters, fingerprint
from pipelines.scan.rules.candidate_pool import Sighting
from pipelines.scan.rules.expansion import ConfirmedVideo
from pipelines.scan.rules.ranking import hot_score, is_viral

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
    BY_NAME["match_threshold"],
    Parameter(
        name="verify_audio", kind=bool, default=True,
        meaning="listen to text candidates under other music ids",
        meaning_zh="是否对其他音乐 ID 的文本候选做音频核验",
    ),
    BY_NAME["viral_threshold"],
)  # fmt: skip
SEED_VIDEOS = 20  # one page of the track's own list: seed authors and reference videos


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveryParameters:
    """The effective parameters of one discovery; `DISCOVERY_PARAMETERS` describes them."""

    author_limit: int = 5
    candidate_limit: int = 20
    match_threshold: float = 0.65
    verify_audio: bool = True
    viral_threshold: int = 10_000

    def to_document(self) -> dict[str, object]:
        """Return plain JSON values, in field order."""
        return asdict(self)

    def to_scan_parameters(self) -> ScanParameters:
        """Return the parameters of the underlying scan: no search, no profiles."""
        return ScanParameters(
            candidate_limit=SEED_VIDEOS,
            match_threshold=self.match_threshold,
            verify_audio=self.verify_audio,
            viral_threshold=self.viral_threshold,
            search_enabled=False,
            account_profile_limit=0,
        )


def discovery_parameters(given: Mapping[str, object]) -> DiscoveryParameters:
    """Fill in defaults; `given` must be validated."""
    return DiscoveryParameters(**given)  # type: ignore[arg-type]  # validated by the caller


def discovery_key(
    target: str, world: str, provider: str, algorithm: str, parameters: DiscoveryParameters
) -> str:
    """Return the identity of a discovery, for joining a running one or reusing its result.

    `target` is the music id, or the raw input until it is resolved.
    """
    return fingerprint(f"discovery:{algorithm}:{target}", world, provider, parameters)


def title_relation(seen: Sighting, title: str | None) -> TitleRelation:
    """Return how the text of a candidate relates to the song."""
    return "names_the_song" if seen.mentions(title) else "none"


def association_of(entry: ConfirmedVideo) -> AssociationType:
    """Return how a discovered video is linked to the track: by music id or by audio."""
    is_own = entry.link_type == "exact_music_id"
    return "exact_music_id_discovered" if is_own else "audio_fingerprint_match"


def to_discovered(
    rank: int, document: LinkedVideo, entry: ConfirmedVideo, *, viral_threshold: int
) -> DiscoveredVideo:
    """Return the document of a verified match: the ranked video with its association."""
    return {
        "rank": rank,
        **document,
        "association_type": association_of(entry),
        "reference_aweme_id": entry.comparison.reference_aweme_id if entry.comparison else None,
        "hot_score": hot_score(entry.video.statistics),
        "is_viral": is_viral(document, viral_threshold=viral_threshold),
    }


def layer_counts(outcomes: Sequence[str], *, naming: int, seen: int, own: int) -> dict[str, int]:
    """Count the candidates of each layer by outcome.

    Args:
        outcomes: The outcome of each candidate.
        naming: Number of candidates whose text names the song.
        seen: Number of videos on the first screens of the seed authors.
        own: Number of candidates with the track's own music id.
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
