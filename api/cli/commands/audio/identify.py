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
from api.cli.rendering.audio import (
    READ_REASONS,
    audio_progress,
    exit_if_any,
    format_number,
    print_problems,
    searched_text,
    sound_problems,
    styled_verdict,
    verdict_table,
)
from api.cli.stores import stored_settings
from api.cli.terminal import exit_with_input_error, out, print_json, print_message, safe
from pipelines.audio.decode.decoder_pool import DecoderPool
from pipelines.audio.decode.protocol import MAX_SECONDS
from pipelines.audio.features.sound_features import FEATURE_VERSION
from pipelines.audio.features.sounds import MeasuredSound, SoundMeasurement, judging_version
from pipelines.documents.messages import counted, sound_message
from warehouse.input_files import file_problem, is_url
from warehouse.records.errors import InvalidParameterError, ProfileNotChosenError
from warehouse.records.evidence import ALGORITHM, MatchThresholds
from warehouse.records.values import Row
from warehouse.sound_formats import OTHER_SUFFIXES, SUFFIXES

if TYPE_CHECKING:
    from pipelines.audio.index.file_references import FileReferences
    from pipelines.audio.index.identify import Identification
    from pipelines.catalog.reference_sounds import CatalogReferenceSounds

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
class _Answer:
    """What was found for one clip."""

    clip: Path
    sound: SoundMeasurement
    found: list["Identification"]


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
        futures = [pool.submit(clip) for clip in clips]
        from pipelines.audio.index.identify import identify as identify_sound  # noqa: PLC0415 -- loads Numba, 0.4 s

        with _open_references(catalog, pool, index_folder) as references:
            answers = []
            with audio_progress() as progress:
                task = progress.add_task("identifying", total=len(clips))
                for clip, future in zip(clips, futures, strict=True):
                    sound = future.result()
                    found = identify_sound(
                        sound,
                        references.index,
                        references.read_sound,
                        limits=limits,
                        gone_count=references.index.count - references.count,
                        is_thorough=thorough,
                    )
                    answers.append(_Answer(clip, sound, found))
                    progress.advance(task)
            if as_json:
                print_json(_document(answers, references, limits, catalog=catalog, top=top))
            else:
                _show(answers, references, top=top)
    exit_if_any(sound_problems((answer.clip, answer.sound) for answer in answers))


@contextmanager
def _open_references(
    catalog: str, pool: DecoderPool, index_folder: Path | None
) -> Iterator[References]:
    """Open a folder or a table of files, or else a catalogue of the store."""
    path = Path(catalog)
    if path.is_dir():
        files = [(str(file.relative_to(path)), file) for file in _sound_files(path)]
        yield _indexed(files, pool, index_folder, what=catalog)
    elif path.suffix.lower() in _TABLES:
        if problem := file_problem(path):
            exit_with_input_error(f"--catalog: {problem.detail}", hint=_CATALOG_HINT)
        yield _indexed(_table_files(path), pool, index_folder, what=catalog)
    elif path.exists() or path.is_symlink() or "/" in catalog:
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


def _sound_files(folder: Path) -> list[Path]:
    """Return the sounds in a folder, those of formats that cannot be read included."""
    found = (f for f in folder.rglob("*") if f.suffix.lower() in SUFFIXES | OTHER_SUFFIXES)
    return sorted(file for file in found if file.is_file())


def _table_files(table: Path) -> list[tuple[str, Path]]:
    """Return name and path of each row; relative paths begin in the folder of the table."""
    rows = _table_rows(table)
    if not rows or not (columns := [name for name in _PATH_COLUMNS if name in rows[0]]):
        exit_with_input_error(f"{table.name} has no column `path`, or no rows")
    names = [name for name in _NAME_COLUMNS if name in rows[0]]
    given = [(row, str(row[columns[0]] or "").strip()) for row in rows]
    return [
        (
            next((str(row[name]) for name in names if row[name]), path),
            Path(path) if is_url(path) else table.parent / path,
        )
        for row, path in given
        if path
    ]


def _table_rows(table: Path) -> list[Row]:
    if table.suffix.lower() == ".parquet":
        try:
            rows: list[Row] = pq.read_table(table).to_pylist()
        except (OSError, ArrowException) as error:
            exit_with_input_error(f"{table.name} cannot be read as Parquet: {error}")
        return rows
    delimiter = "\t" if table.suffix.lower() == ".tsv" else ","
    try:
        with table.open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file, delimiter=delimiter))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        exit_with_input_error(f"{table.name} cannot be read as a table: {error}")


def _indexed(
    files: list[tuple[str, Path]], pool: DecoderPool, folder: Path | None, *, what: str
) -> References:
    from pipelines.audio.index.file_references import FileReferences  # noqa: PLC0415 -- loads Numba, 0.4 s

    try:
        references = FileReferences(files, pool, folder)
        with audio_progress() as progress:
            task = progress.add_task("measuring references", total=None)
            references.add_missing(
                lambda done, total: progress.update(task, completed=done, total=total)
            )
    except (OSError, ValueError) as error:
        exit_with_input_error(f"the index cannot be kept: {error}")
    if not references.count:
        print_problems(_unusable(references))
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
        progress = stack.enter_context(audio_progress())
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
    answers: list[_Answer],
    references: References,
    limits: MatchThresholds,
    *,
    catalog: str,
    top: int,
) -> dict[str, object]:
    return {
        "catalog": catalog,
        "reference_count": references.count,
        "unusable_references": Counter(reason for _, reason in references.unusable),
        "unusable_files": [
            {"reference": name, "not_comparable_reason": reason}
            for name, reason in references.unusable
        ],
        "clips": [_clip_document(answer, references, top) for answer in answers],
        "limits": asdict(limits),
        "max_seconds": MAX_SECONDS,
        "algorithm": ALGORITHM,
        "feature_version": FEATURE_VERSION,
        "library_version": judging_version(),
    }


def _clip_document(answer: _Answer, references: References, top: int) -> dict[str, object]:
    best = answer.found[0] if answer.found else None
    sound = answer.sound
    return {
        "file": str(answer.clip),
        "sha256": sound.sha256,
        "not_comparable_reason": None if isinstance(sound, MeasuredSound) else sound.reason,
        "recording": references.name(best.reference) if best and best.is_match else None,
        "compared_count": len(answer.found),
        "references": [
            {"recording": references.name(one.reference), "votes": one.votes} | asdict(one.evidence)
            for one in answer.found[:top]
        ],
    }


def _show(answers: list[_Answer], references: References, *, top: int) -> None:
    table = verdict_table("clip", "recording", numbers=("score", "at s", "speed", "semitones"))
    for answer in answers:
        for place, one in enumerate(answer.found[:top]):
            clip = safe(answer.clip.name) if place == 0 else ""
            table.add_row(clip, *_cells(one, references), style=None if place == 0 else "dim")
        if not answer.found:
            table.add_row(safe(answer.clip.name), "–", _no_match(answer.sound))
    out.print(table)
    for text, clips in _searched(answers).items():
        names = "" if len(answers) == 1 else f"[dim]{safe(', '.join(clips))}[/]  "
        out.print(f"{names}{text}", soft_wrap=True)
    print_message(f"[dim]looked up in {counted(references.count, 'reference')}[/]")
    print_problems(_unusable(references))


def _no_match(sound: SoundMeasurement) -> str:
    """Return what stands in the column of verdicts for a clip without a reference."""
    if isinstance(sound, MeasuredSound):
        return "nothing alike"
    return safe(sound_message(sound.reason).en) if sound.reason in READ_REASONS else "not read"


def _searched(answers: list[_Answer]) -> dict[str, list[str]]:
    """Return the lines that say what was looked for, each with the names of its clips."""
    lines: dict[str, list[str]] = {}
    for answer in answers:
        searched = answer.found[0].evidence.searched if answer.found else None
        if searched is not None:
            lines.setdefault(searched_text(searched), []).append(answer.clip.name)
    return lines


def _cells(found: "Identification", references: References) -> list[str]:
    evidence = found.evidence
    return [
        safe(references.name(found.reference)) if found.is_match else "–",
        styled_verdict(evidence),
        format_number(evidence.score, ".3f"),
        format_number(evidence.reference_start_s, ".1f"),
        format_number(evidence.speed, "g"),
        format_number(evidence.semitones, "g"),
    ]
