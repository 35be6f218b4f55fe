"""The parameters of a discovery of related videos, and its identity.

Not here: the discovery (`scan/discover.py`).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from pipelines.parameters import scan

SEED_VIDEOS = 20  # one page of the track's own list: seed authors and reference videos


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveryParameters:
    """The effective parameters of one discovery: what each means, its default and its limits."""

    author_limit: int = scan.parameter(
        5,
        "seed authors of the track whose first screen is read",
        "读取首屏的种子作者数量",
        minimum=1,
        maximum=10,
    )
    candidate_limit: int = scan.parameter(
        20,
        "text candidates whose detail page is read",
        "读取详情的文本候选数量",
        minimum=1,
        maximum=30,
    )
    match_threshold: float = scan.parameter_like(scan.BY_NAME["match_threshold"])
    verify_audio: bool = scan.parameter(
        True,
        "listen to text candidates under other music ids",
        "是否对其他音乐 ID 的文本候选做音频核验",
    )
    viral_threshold: int = scan.parameter_like(scan.BY_NAME["viral_threshold"])

    def to_document(self) -> dict[str, object]:
        """Return plain JSON values, in field order."""
        return asdict(self)

    def to_scan_parameters(self) -> scan.ScanParameters:
        """Return the parameters of the underlying scan: no search, no profiles."""
        return scan.ScanParameters(
            candidate_limit=SEED_VIDEOS,
            match_threshold=self.match_threshold,
            verify_audio=self.verify_audio,
            viral_threshold=self.viral_threshold,
            search_enabled=False,
            account_profile_limit=0,
        )


DISCOVERY_PARAMETERS = scan.parameters_of(DiscoveryParameters)


def discovery_parameters(values: Mapping[str, object]) -> DiscoveryParameters:
    """Fill in defaults; `values` must be validated."""
    return DiscoveryParameters(**values)  # type: ignore[arg-type]  # validated by the caller


def discovery_key(
    target: str, world: str, provider: str, algorithm: str, parameters: DiscoveryParameters
) -> str:
    """Return the identity of a discovery, for joining a running one or reusing its result.

    `target` is the music id, or the raw input until it is resolved.
    """
    return scan.fingerprint(f"discovery:{algorithm}:{target}", world, provider, parameters)
