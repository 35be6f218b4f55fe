"""`sametrack audio explain`: explain a verdict with its measures and an evidence plot.

Works on two files, or on a stored comparison, which is measured again.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer
from rich.table import Table

from api.cli import terminal
from api.cli.options import JsonDocumentOption
from api.cli.rendering import audio
from api.cli.stores import stored_settings
from api.responses.errors import NotFoundError
from api.services.evidence.plot import PlotTexts, draw_pair, to_picture
from pipelines.audio.decode.decoder_pool import DecoderPool
from pipelines.audio.decode.protocol import MAX_SECONDS
from pipelines.audio.explanation import Explanation, explain_pair
from pipelines.audio.features.sounds import MeasuredSound
from pipelines.documents.messages import reason_message
from warehouse.records.evidence import ALGORITHM, EXCERPT_ROLES, ExcerptRole, MatchThresholds
from warehouse.records.values import Document

if TYPE_CHECKING:
    from api.services.evidence.service import EvidenceService

_Sound = Annotated[Path | None, typer.Option(help="Sound file.")]


@dataclass(frozen=True, slots=True, eq=False)
class _Explained:
    """A pair with its document for `--json`, and the names of both sounds."""

    explanation: Explanation
    document: Document
    names: tuple[str, str]


def explain(
    comparison_id: Annotated[
        str | None, typer.Argument(help="Stored comparison: `evidence.comparison_id` of a result.")
    ] = None,
    reference: _Sound = None,
    candidate: _Sound = None,
    out_file: Annotated[
        Path | None, typer.Option("--out", help="Evidence plot to write: NAME.svg or NAME.png.")
    ] = None,
    excerpts: Annotated[
        Path | None, typer.Option(help="Folder for the stored excerpts of both sounds.")
    ] = None,
    as_json: JsonDocumentOption = False,
) -> None:
    """Explain the verdict on two sounds: measures, limits and an evidence plot."""
    # Check the options before anything is measured.
    form = "svg" if out_file is None else out_file.suffix.lower().removeprefix(".")
    if form not in {"svg", "png"}:
        terminal.exit_with_input_error(
            "an evidence plot is a .svg or a .png file", hint="for example --out pair.svg"
        )
    has_files = reference is not None and candidate is not None
    if has_files == (comparison_id is not None) or (reference is None) != (candidate is None):
        terminal.exit_with_input_error(
            "give either a COMPARISON_ID, or both --reference and --candidate"
        )
    if has_files and excerpts is not None:
        terminal.exit_with_input_error("--excerpts works for stored comparisons only")

    if comparison_id is not None:
        explained = _explain_stored(comparison_id, excerpts)
    else:
        explained = _explain_files(cast("Path", reference), cast("Path", candidate))
    # The plot is written before anything is printed, so that a failure prints only the error.
    if out_file is not None:
        picture = draw_pair(explained.explanation, explained.names)
        plot = to_picture(picture, cast('Literal["svg", "png"]', form))
        try:
            out_file.parent.mkdir(parents=True, exist_ok=True)
            out_file.write_bytes(plot)
        except OSError as error:
            terminal.exit_with_input_error(f"{out_file.name} cannot be written: {error.strerror}")
    if as_json:
        terminal.print_json(explained.document)
        return
    _print_measures(explained.explanation)
    again = explained.document.get("measured_again")
    if again is not None and again["is_equal"]:
        terminal.out.print("measured again from the stored features: all values are equal")
    elif again is not None:
        fields = ", ".join(again["deviations"])
        terminal.err.print(
            f"[yellow]measured again; these values differ:[/] {terminal.safe(fields)}"
        )
    if out_file is not None:
        terminal.print_written(out_file)


def _explain_files(reference: Path, candidate: Path) -> _Explained:
    """Decode and compare two files; an unreadable file is an error."""
    limits = MatchThresholds()
    with DecoderPool(1) as pool:  # starting a second child takes longer than five files
        futures = [pool.submit(path) for path in (reference, candidate)]
        # load compiled loops while the child decodes
        from pipelines.audio.matching.verify import compare_pair  # noqa: PLC0415 -- loads Numba, 0.4 s

        sounds = [future.result() for future in futures]
    audio.exit_if_any(
        audio.sound_problems(zip((reference, candidate), sounds, strict=True), allowed=frozenset())
    )
    first, second = (cast("MeasuredSound", sound).features for sound in sounds)
    evidence = compare_pair(sounds[0], sounds[1], limits=limits)
    explanation = explain_pair(first, second, evidence, limits=limits)
    document = {
        "evidence": audio.evidence_document(explanation.evidence) | {"limits": asdict(limits)},
        "measures": [
            asdict(measure) | {"lower_is_better": measure.lower_is_better, "is_met": measure.is_met}
            for measure in explanation.measures
        ],
        "max_seconds": MAX_SECONDS,
        "algorithm": ALGORITHM,
    }
    return _Explained(explanation, document, (reference.name, candidate.name))


def _explain_stored(comparison_id: str, excerpts: Path | None) -> _Explained:
    """Read a stored comparison and measure it again, unless nothing of it was measured."""
    from api.process import open_services  # noqa: PLC0415 -- loads the service, 1.6 s
    from pipelines.audio.manifest import deviations, recompute  # noqa: PLC0415 -- loads Numba, 0.4 s

    with open_services(stored_settings()) as opened:
        assert opened.evidence is not None, "a world is chosen"
        # Excerpts and features are read while the stores are open.
        document = opened.evidence.document(comparison_id)
        stored, first, second = opened.evidence.features(comparison_id)
        if excerpts is not None:
            try:
                excerpts.mkdir(parents=True, exist_ok=True)
                for role in EXCERPT_ROLES:
                    _write_excerpt(opened.evidence, comparison_id, role, excerpts / f"{role}.mp3")
            except OSError as error:
                terminal.exit_with_input_error(
                    f"{excerpts.name} cannot be written: {error.strerror}"
                )
    comparison = stored.comparison
    pair, limits = comparison.pair, comparison.limits
    explanation = explain_pair(first, second, pair, limits=limits)
    # The stored features must give the stored values. A pair without a score was not compared.
    again = None
    if pair.score is not None:
        changed = deviations(pair, recompute(first, second, pair, limits=limits))
        again = {"is_equal": not changed, "deviations": changed}
    return _Explained(explanation, {**document, "measured_again": again}, stored.names())


def _write_excerpt(
    evidence_service: "EvidenceService", comparison_id: str, role: ExcerptRole, path: Path
) -> None:
    """Write the excerpt of one sound; say so if it is not stored."""
    try:
        excerpt = evidence_service.excerpt(comparison_id, role)
    except NotFoundError as error:
        terminal.err.print(f"[yellow]{terminal.safe(error.detail)}[/]")
    else:
        path.write_bytes(excerpt)


def _print_measures(explanation: Explanation) -> None:
    """Print each measure with its limit, and the verdict."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("measure", "value", "limit", ""):
        table.add_column(name, justify="right" if name in {"value", "limit"} else "left")
    states = {True: "[green]met[/]", False: "[red]not met[/]", None: ""}
    texts = PlotTexts("en")
    for measure in explanation.measures:
        sign = "≤" if measure.lower_is_better else "≥"
        value = audio.format_number(measure.value, ".6f")
        limit = "–" if measure.limit is None else f"{sign} {measure.limit:g}"
        table.add_row(texts.of(measure.name), value, limit, states[measure.is_met])
    terminal.out.print(table)
    evidence = explanation.evidence
    terminal.out.print(
        f"[bold]{audio.verdict_words(evidence)}[/]  "
        f"{terminal.safe(reason_message(evidence.reason).en)}"
    )
    if evidence.searched is not None:
        terminal.out.print(audio.searched_text(evidence.searched), soft_wrap=True)
