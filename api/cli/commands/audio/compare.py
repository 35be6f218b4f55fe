"""`sametrack audio`: compare sound files, and score a manifest of pairs."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, override

import typer
from typer.core import TyperCommand

from api.cli.commands.audio.annotate import annotate, annotations
from api.cli.commands.audio.common_sounds import common_sounds, dismiss_sound
from api.cli.commands.audio.explain import explain
from api.cli.commands.audio.identify import identify
from api.cli.options import JsonDocumentOption, MatchThreshold
from api.cli.rendering import audio
from api.cli.terminal import exit_with_input_error, out, print_json, print_message, safe
from pipelines.audio.decode.decoder_pool import DecoderPool
from pipelines.audio.decode.protocol import MAX_SECONDS
from pipelines.audio.features.sound_features import FEATURE_VERSION
from pipelines.audio.features.sounds import MeasuredSound, SoundMeasurement, judging_version
from pipelines.audio.matching import group_verdict
from pipelines.documents.messages import counted, reason_message
from warehouse.records.evidence import ALGORITHM, MatchThresholds

audio_app = typer.Typer(name="audio", help="Compare sound files.", no_args_is_help=True)
audio_app.command("identify")(identify)
audio_app.command("explain")(explain)
audio_app.command("annotate")(annotate)
audio_app.command("annotations")(annotations)
audio_app.command("common-sounds")(common_sounds)
audio_app.command("dismiss-sound")(dismiss_sound)
_LIMITS = MatchThresholds()
_LIST_OPTIONS = ("--reference", "--candidate")
_DEFAULT_WORKERS = os.cpu_count() or 1


class _ManyFilesCommand(TyperCommand):
    """Accepts `--reference a b c` for `--reference a --reference b --reference c`."""

    @override
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        spread: list[str] = []
        option = None
        for position, arg in enumerate(args):
            if arg.startswith("-"):
                option = arg if arg in _LIST_OPTIONS else None
            elif option is not None and args[position - 1] != option:
                spread.append(option)
            spread.append(arg)
        return super().parse_args(ctx, spread)


@audio_app.command("compare", cls=_ManyFilesCommand)
def compare(
    reference: Annotated[list[Path], typer.Option(help="Up to 3 sounds of the recording.")],
    candidate: Annotated[list[Path], typer.Option(help="Up to 2 sounds of the candidate.")],
    match_threshold: MatchThreshold = _LIMITS.match_threshold,
    as_json: JsonDocumentOption = False,
) -> None:
    """Decide whether the candidate has the same recording as the references.

    Of each sound or video the first 60 s are used. If a file cannot be read as a sound, the command
    says why and ends with status 2. A sound that is silent or shorter than 2 s is not comparable.
    """
    if (
        len(reference) > group_verdict.MOST_REFERENCES
        or len(candidate) > group_verdict.MOST_CANDIDATES
    ):
        exit_with_input_error(
            f"at most {group_verdict.MOST_REFERENCES} references and "
            f"{group_verdict.MOST_CANDIDATES} candidates are compared",
            hint="for many candidates write a manifest and use `sametrack audio bench`",
        )
    limits = MatchThresholds(match_threshold=match_threshold)
    with DecoderPool(1) as pool:  # starting a second child takes longer than five files
        futures = [pool.submit(path) for path in (*reference, *candidate)]
        # load compiled loops while the children decode
        from pipelines.audio.matching.verify import verify_group, warm_up  # noqa: PLC0415 -- loads Numba, 0.4 s

        warm_up()
        sounds = [future.result() for future in futures]
    references, candidates = sounds[: len(reference)], sounds[len(reference) :]
    # every pair of the given files is shown, also after one has decided
    verdict = verify_group(references, candidates, limits=limits, stops_when_sure=False)
    paths = [*reference, *candidate]
    problems = audio.sound_problems(zip(paths, sounds, strict=True))
    if as_json:
        print_json(_document(verdict, limits, paths, sounds))
    elif not problems:
        _show(verdict, reference, candidate)
    audio.exit_if_any(problems)


@audio_app.command("bench")
def bench(
    manifest: Annotated[Path, typer.Argument(help="CSV with pair_id, refs (a;b;c), candidate.")],
    out_path: Annotated[Path, typer.Option("--out", dir_okay=False, help="CSV file to write.")],
    match_threshold: MatchThreshold = _LIMITS.match_threshold,
    workers: Annotated[int, typer.Option(min=1, help="Decoder processes.")] = _DEFAULT_WORKERS,
) -> None:
    """Score every row of a manifest. Rows with an unreadable file state the reason.

    `cpu_ms` is the CPU time to compare the features of a row. Every file is decoded once; that time
    is part of the summary.
    """
    # loads compiled loops
    from pipelines.audio.manifest import (  # noqa: PLC0415 -- loads Numba, 0.4 s
        crowded_count,
        measure_files,
        prepare_scores,
        read_manifest,
        verify_rows,
        write_scores,
    )

    # A file that stands in several rows is decoded once.
    rows = read_manifest(manifest)
    # before the work, so that it is not lost to a file that cannot be written
    with _writing(out_path):
        prepare_scores(out_path)
    paths = [path for row in rows for path in (*row.references, row.candidate)]
    with audio.audio_progress() as progress, DecoderPool(workers) as pool:
        decoding = progress.add_task("decoding", total=len(set(paths)))
        sounds = measure_files(
            pool, paths, on_measured=lambda done: progress.update(decoding, completed=done)
        )
        comparing = progress.add_task("comparing", total=len(rows))
        scores = []
        limits = MatchThresholds(match_threshold=match_threshold)
        for score in verify_rows(rows, sounds, limits=limits):
            scores.append(score)
            progress.advance(comparing)
    with _writing(out_path):
        write_scores(out_path, scores)
    audio.print_problems(audio.sound_problems(sounds.items()))
    # Summary: the verdicts, and the processor time of both steps
    verdicts = Counter(score.verdict.verdict for score in scores)
    print_message(
        "  ".join(
            f"[{style}]{name.replace('_', ' ')}[/] {verdicts[name]}"
            for name, style in audio.VERDICT_STYLE.items()
        )
    )
    decode_ms = [sound.cpu_ms for sound in sounds.values() if isinstance(sound, MeasuredSound)]
    compare_ms = sum(score.cpu_ms for score in scores)
    print_message(
        f"{counted(len(sounds), 'file')}, {sum(decode_ms) / max(1, len(decode_ms)):.0f} ms of CPU "
        f"time each to decode and measure; {counted(len(scores), 'row')}, "
        f"{compare_ms / max(1, len(scores)):.1f} ms each to compare"
    )
    if crowded := crowded_count(rows):
        print_message(
            f"[yellow]more than {group_verdict.MOST_REFERENCES} references in "
            f"{counted(crowded, 'row')}:[/] the cleanest {group_verdict.MOST_REFERENCES} of each "
            "were compared"
        )
    print_message(f"wrote {safe(out_path)}")


def _show(
    verdict: group_verdict.GroupVerdict, references: list[Path], candidates: list[Path]
) -> None:
    """Print every pair, then the verdict with its reason."""
    assert verdict.best is not None, "there is at least one pair"
    numbers = ("score", "chroma", "mfcc", "peaks", "overlap s", "at s", "speed")
    table = audio.verdict_table("reference", "candidate", numbers=numbers)
    for pair in verdict.pairs:
        evidence = pair.evidence
        starts = "–"
        if evidence.reference_start_s is not None and evidence.candidate_start_s is not None:
            starts = f"{evidence.reference_start_s:.1f}/{evidence.candidate_start_s:.1f}"
        table.add_row(
            safe(references[pair.reference_index].name),
            safe(candidates[pair.candidate_index].name),
            audio.styled_verdict(evidence),
            audio.format_number(evidence.score, ".3f"),
            audio.format_number(evidence.chroma_distance, ".3f"),
            audio.format_number(evidence.mfcc_distance, ".3f"),
            audio.format_number(evidence.peak_agreement, ".3f"),
            audio.format_number(evidence.overlap_s, ".1f"),
            starts,
            audio.format_number(evidence.speed, "g"),
            style=None if pair is verdict.best else "dim",
        )
    out.print(table)
    evidence = verdict.best.evidence
    # The verdict of the group is that of its best pair.
    score = "" if evidence.score is None else f"score {evidence.score:.3f}"
    reason = safe(reason_message(evidence.reason).en)
    out.print(f"{audio.styled_verdict(evidence)}  {reason}  {score}".rstrip(), soft_wrap=True)
    if evidence.searched:
        out.print(audio.searched_text(evidence.searched), soft_wrap=True)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Exit with an input error if the file cannot be written."""
    try:
        yield
    except OSError as error:
        exit_with_input_error(f"{path.name} cannot be written: {error.strerror}")


def _pair_document(pair: group_verdict.GroupPair) -> dict[str, object]:
    return {**asdict(pair), "evidence": audio.evidence_document(pair.evidence)}


def _document(
    verdict: group_verdict.GroupVerdict,
    limits: MatchThresholds,
    paths: list[Path],
    measured: list[SoundMeasurement],
) -> dict[str, object]:
    """Return the comparison for `--json`: the verdict, all pairs, and what was measured."""
    sounds: list[dict[str, object]] = []
    for path, sound in zip(paths, measured, strict=True):
        document: dict[str, object] = {"file": str(path), "sha256": sound.sha256}
        if isinstance(sound, MeasuredSound):
            document |= {
                "duration_s": round(sound.duration_s, 3),
                "sample_rate_hz": sound.sample_rate_hz,
                "codec": sound.codec,
                "cpu_ms": round(sound.cpu_ms, 1),
            }
        else:
            document["not_comparable_reason"] = sound.reason
        sounds.append(document)
    best = verdict.best
    return {
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "score": best.evidence.score if best else None,
        "best": _pair_document(best) if best else None,
        # all pairs, so that a program can decide with other limits
        "pairs": [_pair_document(pair) for pair in verdict.pairs],
        "sounds": sounds,
        "limits": asdict(limits),
        "max_seconds": MAX_SECONDS,
        "algorithm": ALGORITHM,
        "feature_version": FEATURE_VERSION,
        "library_version": judging_version(),
    }
