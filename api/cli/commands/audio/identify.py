"""`sametrack audio identify`: which recording of a catalogue is a clip?

References are sound files, or the stored reference sounds of a catalogue's tracks.
"""

import csv
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import pyarrow.parquet as pq
import typer
from pyarrow import ArrowException

from api.cli.options import JsonDocumentOption, MatchThreshold
from api.cli.rendering import audio
from api.cli.stores import stored_settings
from api.cli.terminal import exit_with_input_error, out, print_json, print_message, safe
from pipelines.audio.decode.decoder_pool import DecoderPool
from pipelines.audio.decode.protocol import MAX_SECONDS
from pipelines.audio.features.sound_features import FEATURE_VERSION
from pipelines.audio.features.sounds import MeasuredSound, SoundMeasurement, judging_version
from pipelines.documents.messages import counted, sound_message
from warehouse.files import file_problem, is_url
from warehouse.records.errors import InvalidParameterError, ProfileNotChosenError
from warehouse.records.evidence import ALGORITHM, MatchThresholds
from warehouse.records.values import Row
from warehouse.sound_formats import OTHER_SUFFIXES, SUFFIXES

if TYPE_CHECKING:
    from pipelines.audio.index.identify import FileReferences, Identification
    from pipelines.catalog.sound_matches import CatalogReferenceSounds

_TABLES = frozenset({".csv", ".parquet", ".tsv"})
_CATALOG_HINT = (
    "give a folder of sounds, a CSV, TSV or Parquet file with a column `path`, or the name of a "
    "catalogue (`sametrack catalog list`)"
)
_PATH_COLUMNS, _NAME_COLUMNS = ("path", "file"), ("label", "title", "name")
_DEFAULT_WORKERS = 2
_LIMITS = MatchThresholds()
type References = FileReferences | CatalogReferenceSounds
"""What clips are looked up in."""


@dataclass(frozen=True, slots=True)
class _IdentifiedClip:
    """A clip with the references that were compared with it, the most similar first."""

    path: Path
    sound: SoundMeasurement
    candidates: list["Identification"]


def identify(
    clips: Annotated[list[Path], typer.Argument(metavar="CLIP...", help="Sound or video files.")],
    catalog: Annotated[
        str,
        typer.Option(
            "--catalog",
            metavar="FOLDER|TABLE",
            help="Folder of sounds, CSV or Parquet with a column `path`, or name of a catalogue.",
        ),
    ],
    *,
    top: Annotated[int, typer.Option(min=1, max=20, help="References shown for each clip.")] = 1,
    index_folder: Annotated[
        Path | None,
        typer.Option("--index", help="Folder that keeps the index, so that the next call is fast."),
    ] = None,
    thorough: Annotated[
        bool,
        typer.Option("--thorough", help="Compare with every reference if no likely one matches."),
    ] = False,
    match_threshold: MatchThreshold = _LIMITS.match_threshold,
    workers: Annotated[int, typer.Option(min=1, help="Decoder processes.")] = _DEFAULT_WORKERS,
    as_json: JsonDocumentOption = False,
) -> None:
    """Find the recording of a catalogue that each clip carries, also sped up or shifted.

    Of each file the first 60 s are used. A clip that cannot be read as a sound is named, and the
    exit status is then 2.
    """
    limits = MatchThresholds(match_threshold=match_threshold)
    with DecoderPool(workers) as pool:
        # Child processes decode the clips while this one loads compiled loops and the index.
        futures = [pool.submit(clip) for clip in clips]
        from pipelines.audio.index.identify import identify as identify_sound  # noqa: PLC0415 -- loads Numba, 0.4 s

        with _open_references(catalog, pool, index_folder) as references:
            # Look up one clip after the other, in the order of the arguments.
            identified = []
            with audio.audio_progress() as progress:
                task = progress.add_task("identifying", total=len(clips))
                for clip, future in zip(clips, futures, strict=True):
                    sound = future.result()
                    candidates = identify_sound(
                        sound,
                        references.index,
                        references.read_sound,
                        limits=limits,
                        gone_count=references.index.count - references.count,
                        is_thorough=thorough,
                    )
                    identified.append(_IdentifiedClip(clip, sound, candidates))
                    progress.advance(task)
            if as_json:
                print_json(_document(identified, references, limits, catalog=catalog, top=top))
            else:
                _show(identified, references, top=top)
    # At the end, because the other clips are identified anyway.
    audio.exit_if_any(audio.sound_problems((clip.path, clip.sound) for clip in identified))


@contextmanager
def _open_references(
    catalog: str, pool: DecoderPool, index_folder: Path | None
) -> Iterator[References]:
    """Open a folder or a table of files, or else a catalogue of the store."""
    path = Path(catalog)
    if path.is_dir():
        # Sounds of formats that cannot be read are included, so that they are reported.
        suffixes = SUFFIXES | OTHER_SUFFIXES
        sounds = sorted(
            file for file in path.rglob("*") if file.suffix.lower() in suffixes and file.is_file()
        )
        files = [(str(file.relative_to(path)), file) for file in sounds]
        yield _indexed(files, pool, index_folder, what=catalog)
    elif path.suffix.lower() in _TABLES:
        if problem := file_problem(path):
            exit_with_input_error(f"--catalog: {problem.detail}", hint=_CATALOG_HINT)
        yield _indexed(_table_files(path), pool, index_folder, what=catalog)
    elif path.exists() or path.is_symlink() or "/" in catalog:
        # It exists, or is written as a path: the user means a file or a folder.
        problem = file_problem(path)
        exit_with_input_error(
            f"--catalog: {catalog} is neither a folder nor a table"
            if problem is None
            else f"--catalog: {problem.detail}",
            hint=_CATALOG_HINT,
        )
    else:
        with _stored_references(catalog, index_folder) as stored:
            yield stored


def _table_files(table: Path) -> list[tuple[str, Path]]:
    """Return name and path of each row; relative paths begin in the folder of the table."""
    rows: list[Row]
    if table.suffix.lower() == ".parquet":
        try:
            rows = pq.read_table(table).to_pylist()
        except (OSError, ArrowException) as error:
            exit_with_input_error(f"{table.name} cannot be read as Parquet: {error}")
    else:
        delimiter = "\t" if table.suffix.lower() == ".tsv" else ","
        try:
            with table.open(encoding="utf-8-sig", newline="") as file:
                rows = list(csv.DictReader(file, delimiter=delimiter))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            exit_with_input_error(f"{table.name} cannot be read as a table: {error}")
    if not rows or not (columns := [name for name in _PATH_COLUMNS if name in rows[0]]):
        exit_with_input_error(f"{table.name} has no column `path`, or no rows")
    # The label of a row is its first known name column that is not empty, else its path.
    names = [name for name in _NAME_COLUMNS if name in rows[0]]
    files = []
    for row in rows:
        path = str(row[columns[0]] or "").strip()
        if path:
            label = next((str(row[name]) for name in names if row[name]), path)
            files.append((label, Path(path) if is_url(path) else table.parent / path))
    return files


def _indexed(
    files: list[tuple[str, Path]], pool: DecoderPool, folder: Path | None, *, what: str
) -> References:
    from pipelines.audio.index.identify import FileReferences  # noqa: PLC0415 -- loads Numba, 0.4 s

    try:
        references = FileReferences(files, pool, folder)
        with audio.audio_progress() as progress:
            task = progress.add_task("measuring references", total=None)
            references.add_missing(
                lambda done, total: progress.update(task, completed=done, total=total)
            )
    except (OSError, ValueError) as error:
        exit_with_input_error(f"the index cannot be kept: {error}")
    if not references.count:
        audio.print_problems(_unusable(references))
        exit_with_input_error(f"{what} has no sound that can be compared", hint=_CATALOG_HINT)
    return references


def _unusable(references: References) -> list[str]:
    """Return a sentence for each reference that cannot be compared."""
    return [f"{name}: {sound_message(reason).en}" for name, reason in references.unusable]


@contextmanager
def _stored_references(name: str, index_folder: Path | None) -> Iterator[References]:
    """Open the stored reference sounds of a catalogue.

    Raises:
        InvalidParameterError: There is no such catalogue, or no profile that could have one.
    """
    from pipelines.catalog.open_service import open_catalog_sounds  # noqa: PLC0415 -- loads SQLAlchemy, 0.3 s

    with ExitStack() as stack:
        try:
            sounds = stack.enter_context(open_catalog_sounds(stored_settings(), name))
        except (InvalidParameterError, ProfileNotChosenError) as error:
            # The user may have meant a folder, a table or a catalogue: name all three.
            needs_profile = isinstance(error, ProfileNotChosenError)
            raise InvalidParameterError(
                f"--catalog: there is no folder or table {name!r}, and no catalogue of this name"
                + (" can be looked up, because no profile is chosen" if needs_profile else ""),
                hint=_CATALOG_HINT,
            ) from error
        if index_folder is not None:
            exit_with_input_error(
                "--index is for files; the index of a catalogue is in the data home"
            )
        # Add what scans have stored since the last call; the bar ends before the clips' own.
        progress = stack.enter_context(audio.audio_progress())
        task = progress.add_task("indexing references", total=None)
        sounds.add_missing(lambda done, total: progress.update(task, completed=done, total=total))
        progress.stop()
        if not sounds.count:
            exit_with_input_error(
                f"the tracks of {name} have no stored reference sound",
                hint=f"`sametrack catalog run {name}` scans them",
            )
        yield sounds


def _document(
    identified: list[_IdentifiedClip],
    references: References,
    limits: MatchThresholds,
    *,
    catalog: str,
    top: int,
) -> dict[str, object]:
    clips = []
    for clip in identified:
        best, sound = clip.candidates[0] if clip.candidates else None, clip.sound
        clips.append(
            {
                "file": str(clip.path),
                "sha256": sound.sha256,
                "not_comparable_reason": (
                    None if isinstance(sound, MeasuredSound) else sound.reason
                ),
                "recording": references.name(best.reference) if best and best.is_match else None,
                "compared_count": len(clip.candidates),
                "references": [
                    {"recording": references.name(candidate.reference), "votes": candidate.votes}
                    | audio.evidence_document(candidate.evidence)
                    for candidate in clip.candidates[:top]
                ],
            }
        )
    return {
        "catalog": catalog,
        "reference_count": references.count,
        "unusable_references": Counter(reason for _, reason in references.unusable),
        "unusable_files": [
            {"reference": name, "not_comparable_reason": reason}
            for name, reason in references.unusable
        ],
        "clips": clips,
        "limits": asdict(limits),
        "max_seconds": MAX_SECONDS,
        "algorithm": ALGORITHM,
        "feature_version": FEATURE_VERSION,
        "library_version": judging_version(),
    }


def _show(identified: list[_IdentifiedClip], references: References, *, top: int) -> None:
    """Print the best references of each clip, and what the comparisons looked for."""
    table = audio.verdict_table(
        "clip", "recording", numbers=("score", "at s", "speed", "semitones")
    )
    names_by_search: dict[str, list[str]] = {}
    for clip in identified:
        for position, candidate in enumerate(clip.candidates[:top]):
            evidence = candidate.evidence
            is_best = position == 0
            table.add_row(
                safe(clip.path.name) if is_best else "",
                safe(references.name(candidate.reference)) if candidate.is_match else "–",
                audio.styled_verdict(evidence),
                audio.format_number(evidence.score, ".3f"),
                audio.format_number(evidence.reference_start_s, ".1f"),
                audio.format_number(evidence.speed, "g"),
                audio.format_number(evidence.semitones, "g"),
                style=None if is_best else "dim",
            )
        if not clip.candidates:
            if isinstance(clip.sound, MeasuredSound):
                outcome = "nothing alike"
            elif clip.sound.reason in audio.READ_REASONS:
                outcome = safe(sound_message(clip.sound.reason).en)
            else:
                outcome = "not read"
            table.add_row(safe(clip.path.name), "–", outcome)
        elif clip.candidates[0].evidence.searched is not None:
            search = audio.searched_text(clip.candidates[0].evidence.searched)
            names_by_search.setdefault(search, []).append(clip.path.name)
    out.print(table)
    # Clips of similar length were searched alike, so each line is printed once.
    for search, clip_names in names_by_search.items():
        names = "" if len(identified) == 1 else f"[dim]{safe(', '.join(clip_names))}[/]  "
        out.print(f"{names}{search}", soft_wrap=True)
    print_message(f"[dim]looked up in {counted(references.count, 'reference')}[/]")
    audio.print_problems(_unusable(references))
