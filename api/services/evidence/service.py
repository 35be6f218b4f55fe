"""Where stored evidence is asked for: the numbers of a comparison, and its picture.

Blocking reads: routes run them in a thread, the command line directly. A picture is drawn from
stored features; nothing is decoded. Not here: HTTP, judging.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from api.responses.errors import NotFoundError
from pipelines.documents.videos import Document, to_evidence_document
from warehouse.home.excerpt_files import ExcerptFolder
from warehouse.lake.record_rows import comparison_from_row
from warehouse.records.evidence import Comparison
from warehouse.records.excerpts import ROLES, Excerpt, Role, excerpts_of

if TYPE_CHECKING:
    from pipelines.audio.explanation import Explanation
    from pipelines.audio.features.sound_features import Features

PATH = "/api/v1/sametrack/comparisons"
Form = Literal["svg", "png"]
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

type Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StoredPair:
    """A comparison as it is stored, and the hashes of its two sounds where they were heard."""

    comparison: Comparison
    job_id: str
    track_music_id: str
    reference_sha256: str | None
    candidate_sha256: str | None

    @property
    def excerpts(self) -> dict[Role, Excerpt]:
        """The stretches that a person may hear, whether they are kept or not."""
        return excerpts_of(
            self.comparison.pair,
            reference_sha256=self.reference_sha256,
            candidate_sha256=self.candidate_sha256,
        )

    @property
    def names(self) -> tuple[str, str]:
        """What reference and candidate are called in a picture."""
        pair = self.comparison
        return (
            f"work {pair.reference_aweme_id}, music {pair.reference_music_id}",
            f"work {pair.candidate_aweme_id}, music {pair.candidate_music_id}",
        )


class EvidenceDesk:
    """Answers about stored comparisons.

    Args:
        read_comparison: The row of a comparison by its id, None if there is none.
        read_comparisons: All rows of a job by its id.
        read_sounds: Rows of sounds by hash, of hashes and a feature version.
        excerpts: Where short excerpts of the sounds are kept.
        is_demo: Whether the world is an invented one.
    """

    def __init__(
        self,
        *,
        read_comparison: Callable[[str], Row | None],
        read_comparisons: Callable[[str], Sequence[Row]],
        read_sounds: Callable[[Sequence[str], str], Mapping[str, Row]],
        excerpts: ExcerptFolder,
        is_demo: bool,
    ) -> None:
        self._read_comparison = read_comparison
        self._read_comparisons = read_comparisons
        self._read_sounds = read_sounds
        self._excerpts = excerpts
        self._is_demo = is_demo

    def pair(self, comparison_id: str) -> StoredPair:
        """A comparison by its id.

        Raises:
            NotFoundError: There is none.
        """
        is_id = _UUID.fullmatch(comparison_id) is not None
        row = self._read_comparison(comparison_id) if is_id else None
        if row is None:
            raise NotFoundError(
                "No comparison has this id",
                hint="Ids stand in `evidence.comparison_id` of results",
            )
        return StoredPair(
            comparison=comparison_from_row(row),
            job_id=row["job_id"],
            track_music_id=row["track_music_id"],
            reference_sha256=row["reference_sha256"],
            candidate_sha256=row["candidate_sha256"],
        )

    def pairs_of_job(self, job_id: str) -> list[Document]:
        """The evidence of every pair that a job compared, rejected ones too."""
        return [
            to_evidence_document(comparison_from_row(row)) for row in self._read_comparisons(job_id)
        ]

    def document(self, comparison_id: str) -> Document:
        """The numbers of a comparison against their limits, and where it can be looked at.

        Raises:
            NotFoundError: There is none.
        """
        from pipelines.audio.explanation import measures_of  # noqa: PLC0415 - loads NumPy

        stored = self.pair(comparison_id)
        comparison = stored.comparison
        measures = measures_of(comparison.pair, comparison.limits)
        has_features = self._features(stored) is not None
        place = f"{PATH}/{comparison_id}"
        return {
            "comparison_id": comparison_id,
            "job_id": stored.job_id,
            "track_music_id": stored.track_music_id,
            "evidence": to_evidence_document(comparison),
            "measures": [asdict(measure) | {"is_met": measure.is_met} for measure in measures],
            "picture": {
                form: f"{place}/picture.{form}" if has_features else None for form in ("svg", "png")
            },
            "excerpts": self._excerpts_document(stored, place),
            "is_demo_data": self._is_demo,
        }

    def features(self, comparison_id: str) -> tuple[StoredPair, "Features", "Features"]:
        """A comparison with the features of its reference and its candidate.

        Raises:
            NotFoundError: There is no such comparison, or a sound was never heard.
        """
        stored = self.pair(comparison_id)
        found = self._features(stored)
        if found is None:
            raise NotFoundError(
                "The sounds of this comparison were not heard, or by another version",
                hint="Its numbers are still there; a new scan of the track listens again",
            )
        return stored, *found

    def explanation(self, comparison_id: str) -> tuple[StoredPair, "Explanation"]:
        """A comparison with what can be drawn of it.

        Raises:
            NotFoundError: As `features`.
        """
        from pipelines.audio.explanation import explain_pair  # noqa: PLC0415 - loads NumPy

        stored, reference, candidate = self.features(comparison_id)
        comparison = stored.comparison
        return stored, explain_pair(reference, candidate, comparison.pair, limits=comparison.limits)

    def picture(self, comparison_id: str, form: Form) -> bytes:
        """The picture of a comparison as a file.

        Raises:
            NotFoundError: As `features`.
        """
        from api.services.evidence.plot_files import to_file  # noqa: PLC0415 - loads Pillow

        stored, explanation = self.explanation(comparison_id)
        return to_file(
            explanation,
            form,
            reference_name=stored.names[0],
            candidate_name=stored.names[1],
        )

    def excerpt(self, comparison_id: str, role: Role) -> bytes:
        """A short stretch of one of the sounds, as an MP3 file.

        Raises:
            NotFoundError: There is no such comparison, or no excerpt was kept.
        """
        wanted = self.pair(comparison_id).excerpts.get(role)
        found = None if wanted is None else self._excerpts.read(wanted)
        if found is None:
            raise NotFoundError(
                f"No excerpt of the {role} is kept for this comparison",
                hint="Excerpts are cut while a scan listens, for pairs that carry the recording",
            )
        return found

    def _excerpts_document(self, stored: StoredPair, place: str) -> Document:
        known = stored.excerpts
        return {
            role: {
                "path": f"{place}/excerpt/{role}",
                "start_s": known[role].start_s,
                "duration_s": known[role].duration_s,
            }
            if role in known and self._excerpts.has(known[role])
            else None
            for role in ROLES
        }

    def _features(self, stored: StoredPair) -> tuple["Features", "Features"] | None:
        from pipelines.audio.features.sounds import (  # noqa: PLC0415 - loads NumPy
            FeaturesUnreadableError,
            unpack_features,
        )

        hashes = (stored.reference_sha256, stored.candidate_sha256)
        asked = [sha256 for sha256 in hashes if sha256 is not None]
        rows = self._read_sounds(asked, stored.comparison.feature_version) if asked else {}
        packed: list[Any] = [rows[sha256]["features"] for sha256 in asked if sha256 in rows]
        if len(packed) < len(hashes) or None in packed:
            return None
        try:
            reference, candidate = (unpack_features(one) for one in packed)
        except FeaturesUnreadableError:
            return None  # of another version than this one measures
        return reference, candidate
