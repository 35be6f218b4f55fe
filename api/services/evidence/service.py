"""Stored evidence: the measurements of a comparison, its plot and its excerpts.

Blocks: routes run it in a thread, the command line directly. A plot is drawn from stored features;
nothing is decoded. Not here: HTTP, matching.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from api.responses.errors import NotFoundError
from api.schemas.extensions import exports
from api.services.evidence.plot import PlotLanguage, PlotTexts, draw_pair, to_picture
from api.services.evidence.waveforms import song_time, waveform_of
from pipelines.audio.explanation import Explanation, explain_pair, measures_of
from pipelines.audio.features.sound_features import Features
from pipelines.audio.features.sounds import FeaturesUnreadableError, unpack_features
from pipelines.documents.result_types import EvidenceDocument
from pipelines.documents.verdicts import verdict_sentence
from pipelines.documents.videos import to_document, to_evidence_document
from warehouse.caches import ExcerptFolder
from warehouse.lake.record_rows import comparison_from_row
from warehouse.records.evidence import Comparison, Excerpt, ExcerptRole, find_excerpts
from warehouse.records.values import ReadOnlyRow, is_own_id

PATH = "/api/v1/sametrack/comparisons"
PlotFormat = Literal["svg", "png"]
type ReadComparison = Callable[[str], ReadOnlyRow | None]
"""Returns the row of a comparison by id, None if there is none."""


def find_comparison(read_comparison: ReadComparison, comparison_id: str) -> ReadOnlyRow:
    """Return the row of a comparison.

    Raises:
        NotFoundError: The comparison does not exist.
    """
    # Any text may come in a path; only what looks like an id of ours reaches the store.
    row = read_comparison(comparison_id) if is_own_id(comparison_id) else None
    if row is None:
        raise NotFoundError(
            f"Comparison {comparison_id[:64]!r} was not found",
            hint="Use `evidence.comparison_id` of a result",
        )
    return row


@dataclass(frozen=True, slots=True)
class StoredComparison:
    """A stored comparison with the hashes of its two sounds, None where a sound was not
    analysed.
    """

    comparison: Comparison
    job_id: str
    track_music_id: str
    reference_sha256: str | None
    candidate_sha256: str | None

    @property
    def excerpts(self) -> dict[ExcerptRole, Excerpt]:
        """The excerpts of both sounds, whether their files are stored or not."""
        return find_excerpts(
            self.comparison.pair,
            reference_sha256=self.reference_sha256,
            candidate_sha256=self.candidate_sha256,
        )

    def names(self, language: PlotLanguage = "en") -> tuple[str, str]:
        """Labels of reference and candidate in a plot."""
        pair, texts = self.comparison, PlotTexts(language)
        return (
            texts.of("name", video=pair.reference_aweme_id, music=pair.reference_music_id),
            texts.of("name", video=pair.candidate_aweme_id, music=pair.candidate_music_id),
        )


@dataclass(frozen=True, slots=True)
class MissingExcerpt:
    """An excerpt that no file holds, and the video or the song whose sound it belongs to.

    `is_song`: `entity_id` is that of a song of the music service.
    """

    entity_id: str
    excerpt: Excerpt
    is_song: bool = False


@dataclass(frozen=True, eq=False)
class EvidenceService:
    """Returns stored comparisons with their plots and excerpts.

    Every method with a `comparison_id` raises `NotFoundError` if the comparison does not exist.

    Attributes:
        read_comparison: Returns the row of a comparison by id, None if there is none.
        read_comparisons: Returns all rows of a job by id.
        read_captions: Returns caption, link and account of videos by id.
        read_sounds: Returns rows of sounds by hash, for hashes and a feature version.
        excerpts: Folder with short excerpts of the sounds.
        is_demo: True if the stored data is demo data.
    """

    read_comparison: ReadComparison
    read_comparisons: Callable[[str], Sequence[ReadOnlyRow]]
    read_captions: Callable[[Sequence[str]], Mapping[str, ReadOnlyRow]]
    read_sounds: Callable[[Sequence[str], str], Mapping[str, ReadOnlyRow]]
    excerpts: ExcerptFolder
    is_demo: bool

    def pair(self, comparison_id: str) -> StoredComparison:
        """Return a comparison by id."""
        row = find_comparison(self.read_comparison, comparison_id)
        return StoredComparison(
            comparison=comparison_from_row(row),
            job_id=row["job_id"],
            track_music_id=row["track_music_id"],
            reference_sha256=row["reference_sha256"],
            candidate_sha256=row["candidate_sha256"],
        )

    def pairs_of_job(self, job_id: str) -> list[EvidenceDocument]:
        """Return the evidence of every pair that a job compared, rejected ones included."""
        return [
            to_evidence_document(comparison_from_row(row)) for row in self.read_comparisons(job_id)
        ]

    def videos_of(self, pairs: Sequence[EvidenceDocument]) -> dict[str, exports.ComparedVideo]:
        """Return caption, link and account of the videos of pairs, by id.

        Unknown videos are left out.
        """
        ids = {
            aweme_id
            for pair in pairs
            for aweme_id in (
                pair["reference_aweme_id"] or pair["reference_service_track_id"],
                pair["candidate_aweme_id"],
            )
            if aweme_id is not None
        }
        captions = self.read_captions(sorted(ids))
        return {
            aweme_id: to_document(exports.ComparedVideo, row) for aweme_id, row in captions.items()
        }

    def document(self, comparison_id: str) -> exports.ComparisonDocument:
        """Return the verdict of a comparison as a sentence, its measurements with their limits,
        both waveforms, and the paths of plot and excerpts.
        """
        stored = self.pair(comparison_id)
        comparison = stored.comparison
        measures = measures_of(comparison.pair, comparison.limits)
        # Without features of this version there is neither a plot nor a waveform.
        features = self._features(stored)
        has_features = features is not None
        reference, candidate = features or (None, None)
        path = f"{PATH}/{comparison_id}"
        evidence = to_evidence_document(comparison)
        sentence = verdict_sentence(comparison.pair)
        # The excerpts whose files are stored now; `fetch=true` may add another one later.
        excerpts: exports.Excerpts = {"reference": None, "candidate": None}
        for role, excerpt in stored.excerpts.items():
            if self.excerpts.has(excerpt):
                excerpts[role] = to_document(
                    exports.ExcerptDocument, excerpt, path=f"{path}/excerpt/{role}"
                )
        return {
            "comparison_id": comparison_id,
            "job_id": stored.job_id,
            "track_music_id": stored.track_music_id,
            "verdict_text": sentence.en,
            "verdict_text_zh": sentence.zh,
            "evidence": evidence,
            "measures": [to_document(exports.MeasureDocument, measure) for measure in measures],
            "picture": {
                "svg": f"{path}/picture.svg" if has_features else None,
                "png": f"{path}/picture.png" if has_features else None,
            },
            "excerpts": excerpts,
            "sounds": {
                "reference": self._sound(stored, "reference", reference),
                "candidate": self._sound(stored, "candidate", candidate),
            },
            "videos": self.videos_of([evidence]),
            "is_demo_data": self.is_demo,
        }

    def features(self, comparison_id: str) -> tuple[StoredComparison, Features, Features]:
        """Return a comparison with the features of its reference and its candidate.

        Raises:
            NotFoundError: A sound was never analysed.
        """
        stored = self.pair(comparison_id)
        features = self._features(stored)
        if features is None:
            raise NotFoundError(
                f"Comparison {comparison_id} has no stored audio features of this version",
                hint="Its measurements are still available; a new scan analyses the sounds again",
            )
        return stored, *features

    def explanation(self, comparison_id: str) -> tuple[StoredComparison, Explanation]:
        """Return a comparison with the data of its plot.

        Raises:
            NotFoundError: As `features`.
        """
        stored, reference, candidate = self.features(comparison_id)
        comparison = stored.comparison
        return stored, explain_pair(reference, candidate, comparison.pair, limits=comparison.limits)

    def picture(
        self, comparison_id: str, form: PlotFormat, *, language: PlotLanguage = "en"
    ) -> bytes:
        """Return the plot of a comparison as a file, with its texts in a language.

        Raises:
            NotFoundError: As `features`.
        """
        stored, explanation = self.explanation(comparison_id)
        return to_picture(draw_pair(explanation, stored.names(language), language=language), form)

    def excerpt(self, comparison_id: str, role: ExcerptRole) -> bytes:
        """Return a short excerpt of one of the sounds as an MP3 file.

        Raises:
            NotFoundError: It has no stored excerpt.
        """
        excerpt = self.pair(comparison_id).excerpts.get(role)
        sound = None if excerpt is None else self.excerpts.read(excerpt)
        if sound is None:
            raise NotFoundError(
                f"Comparison {comparison_id} has no stored excerpt of the {role}",
                hint="A scan keeps excerpts of matches and of close rejections, of the sounds that "
                "it downloads; `fetch=true` reads the sound of another video again",
            )
        return sound

    def missing_excerpt(self, comparison_id: str, role: ExcerptRole) -> MissingExcerpt | None:
        """Return the excerpt that has to be cut from its sound, None if it is stored.

        Raises:
            NotFoundError: This sound cannot be read again.
        """
        stored = self.pair(comparison_id)
        state = self._excerpt_state(stored, role)
        if state == "stored":
            return None
        if state != "readable":
            raise NotFoundError(
                f"The {role} of comparison {comparison_id} cannot be read again",
                hint="Only an aligned sound can be, and not with EXCERPTS_MAX_MB=0",
            )
        pair = stored.comparison
        if role == "candidate":
            return MissingExcerpt(pair.candidate_aweme_id, stored.excerpts[role])
        is_song = pair.reference_source == "music_service"
        return MissingExcerpt(pair.reference_aweme_id, stored.excerpts[role], is_song=is_song)

    def store_excerpt(self, excerpt: Excerpt, encoded: bytes) -> None:
        """Store an excerpt as MP3, within the size of all."""
        self.excerpts.write(excerpt, encoded)
        self.excerpts.delete_surplus()

    def _excerpt_state(self, stored: StoredComparison, role: ExcerptRole) -> exports.ExcerptState:
        """Return how a sound can be heard, or why it cannot."""
        excerpt = stored.excerpts.get(role)
        if excerpt is None:
            return "not_aligned"
        if self.excerpts.has(excerpt):
            return "stored"
        return "readable" if self.excerpts.max_bytes else "excerpts_off"

    def _sound(
        self, stored: StoredComparison, role: ExcerptRole, features: Features | None
    ) -> exports.ComparedSound:
        """Return how a sound looks on the time axis of the song, and how it can be heard."""
        pair, excerpt = stored.comparison.pair, stored.excerpts.get(role)
        state = self._excerpt_state(stored, role)
        path = f"{PATH}/{stored.comparison.comparison_id}/excerpt/{role}"
        paths = {"stored": path, "readable": f"{path}?fetch=true"}
        start_s = None if excerpt is None else round(song_time(pair, role, excerpt.start_s), 3)
        return {
            "excerpt_state": state,
            "excerpt_path": paths.get(state),
            "excerpt_song_start_s": start_s,
            "waveform": None if features is None else waveform_of(features, pair, role),
        }

    def _features(self, stored: StoredComparison) -> tuple[Features, Features] | None:
        """Return the stored features of both sounds, or None if those of one are missing."""
        if stored.reference_sha256 is None or stored.candidate_sha256 is None:
            return None
        hashes = (stored.reference_sha256, stored.candidate_sha256)
        rows = self.read_sounds(hashes, stored.comparison.feature_version)
        packed = [rows[sha256]["features"] for sha256 in hashes if sha256 in rows]
        if len(packed) < len(hashes) or None in packed:
            return None
        try:
            return unpack_features(packed[0]), unpack_features(packed[1])
        except FeaturesUnreadableError:
            return None  # another release has written them
