"""`sametrack audio explain`: explain a verdict with its measures and an evidence plot.

Works on two files, or on a stored comparison, which is measured again.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer
from rich.table import Table

from api.cli.options import JsonDocumentOption
from api.cli.rendering.audio import (
    exit_if_any,
    format_number,
    searched_text,
    sound_problems,
    verdict_words,
)
from api.cli.stores import stored_settings
from api.cli.terminal import (
    err,
    exit_with_input_error,
    out,
    print_json,
    print_written,
    safe,
)
from api.responses.errors import NotFoundError
from api.services.evidence.plot import PlotTexts, draw_pair
from api.services.evidence.scene import to_picture
from pipelines.audio.decode.decoder_pool import DecoderPool
from pipelines.audio.decode.limits import MAX_SECONDS
from pipelines.audio.explanation import Explanation, explain_pair
from pipelines.audio.features.sounds import MeasuredSound
from pipelines.documents.verdict_reasons import reason_message
from warehouse.records.evidence import ALGORITHM, EXCERPT_ROLES, ExcerptRole, MatchThresholds
from warehouse.records.values import Document

if TYPE_CHECKING:
    from api.services.evidence.service import EvidenceService

_FORMS = ("svg", "png")
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
    form = _form(out_file)
    _check_choice(comparison_id, reference, candidate, excerpts)
    if comparison_id is not None:
        told = _explain_stored(comparison_id, excerpts)
    else:
        told = _explain_files(cast("Path", reference), cast("Path", candidate))
    if out_file is not None:
        _write(out_file, told, form)
    if as_json:
        print_json(told.document)
        return
    _show(told.explanation, told.document.get("measured_again"))
    if out_file is not None:
        print_written(out_file)


def _check_choice(
    comparison_id: str | None, reference: Path | None, candidate: Path | None, excerpts: Path | None
) -> None:
    """Exit with an input error unless either a stored comparison or two files are named."""
    has_files = reference is not None and candidate is not None
    if has_files == (comparison_id is not None) or (reference is None) != (candidate is None):
        exit_with_input_error("give either a COMPARISON_ID, or both --reference and --candidate")
    if has_files and excerpts is not None:
        exit_with_input_error("--excerpts works for stored comparisons only")


def _form(out_file: Path | None) -> Literal["svg", "png"]:
    form = "svg" if out_file is None else out_file.suffix.lower().removeprefix(".")
    if form not in _FORMS:
        exit_with_input_error(
            "an evidence plot is a .svg or a .png file", hint="for example --out pair.svg"
        )
    return cast('Literal["svg", "png"]', form)


def _explain_files(reference: Path, candidate: Path) -> _Explained:
    """Decode and compare two files; an unreadable file is an error."""
    limits = MatchThresholds()
    with DecoderPool(1) as pool:  # starting a second child takes longer than five files
        futures = [pool.submit(path) for path in (reference, candidate)]
        # load compiled loops while the child decodes
        from pipelines.audio.matching.verify import compare_pair  # noqa: PLC0415 -- loads Numba, 0.4 s

        heard = [future.result() for future in futures]
    exit_if_any(
        sound_problems(zip((reference, candidate), heard, strict=True), allowed=frozenset())
    )
    first, second = (cast("MeasuredSound", sound).features for sound in heard)
    explanation = explain_pair(
        first, second, compare_pair(heard[0], heard[1], limits=limits), limits=limits
    )
    document = {
        "evidence": asdict(explanation.evidence) | {"limits": asdict(limits)},
        "measures": [
            asdict(one) | {"lower_is_better": one.lower_is_better, "is_met": one.is_met}
            for one in explanation.measures
        ],
        "max_seconds": MAX_SECONDS,
        "algorithm": ALGORITHM,
    }
    return _Explained(explanation, document, (reference.name, candidate.name))


def _explain_stored(comparison_id: str, excerpts: Path | None) -> _Explained:
    """Read a stored comparison and measure it again, unless nothing of it was measured."""
    from api.process import open_services  # noqa: PLC0415 -- loads the service, 1.6 s
    from pipelines.audio.recompute import deviations, recompute  # noqa: PLC0415 -- loads Numba, 0.4 s

    with open_services(stored_settings()) as opened:
        assert opened.evidence is not None, "a world is chosen"
        document = opened.evidence.document(comparison_id)
        stored, first, second = opened.evidence.features(comparison_id)
        if excerpts is not None:
            _write_excerpts(opened.evidence, comparison_id, excerpts)
    comparison = stored.comparison
    pair, limits = comparison.pair, comparison.limits
    explanation = explain_pair(first, second, pair, limits=limits)
    again = None
    if pair.score is not None:
        changed = deviations(pair, recompute(first, second, pair, limits=limits))
        again = {"is_equal": not changed, "deviations": changed}
    return _Explained(explanation, {**document, "measured_again": again}, stored.names())


def _write(path: Path, told: _Explained, form: Literal["svg", "png"]) -> None:
    # they load Pillow
    plot = to_picture(draw_pair(told.explanation, told.names), form)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(plot)
    except OSError as error:
        exit_with_input_error(f"{path.name} cannot be written: {error.strerror}")


def _write_excerpts(evidence_service: "EvidenceService", comparison_id: str, folder: Path) -> None:
    """Write `reference.mp3` and `candidate.mp3`, as far as they are stored."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for role in EXCERPT_ROLES:
            _write_excerpt(evidence_service, comparison_id, role, folder / f"{role}.mp3")
    except OSError as error:
        exit_with_input_error(f"{folder.name} cannot be written: {error.strerror}")


def _write_excerpt(
    evidence_service: "EvidenceService", comparison_id: str, role: ExcerptRole, path: Path
) -> None:
    try:
        excerpt = evidence_service.excerpt(comparison_id, role)
    except NotFoundError as error:
        err.print(f"[yellow]{safe(error.detail)}[/]")
    else:
        path.write_bytes(excerpt)


def _show(explanation: Explanation, again: Document | None) -> None:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("measure", "value", "limit", ""):
        table.add_column(name, justify="right" if name in {"value", "limit"} else "left")
    states = {True: "[green]met[/]", False: "[red]not met[/]", None: ""}
    texts = PlotTexts("en")
    for one in explanation.measures:
        sign = "≤" if one.lower_is_better else "≥"
        value = format_number(one.value, ".6f")
        name = texts.of(one.name)
        limit = "–" if one.limit is None else f"{sign} {one.limit:g}"
        table.add_row(name, value, limit, states[one.is_met])
    out.print(table)
    evidence = explanation.evidence
    out.print(f"[bold]{verdict_words(evidence)}[/]  {safe(reason_message(evidence.reason).en)}")
    if evidence.searched is not None:
        out.print(searched_text(evidence.searched), soft_wrap=True)
    if again is not None and again["is_equal"]:
        out.print("measured again from the stored features: all values are equal")
    elif again is not None:
        fields = ", ".join(again["deviations"])
        err.print(f"[yellow]measured again; these values differ:[/] {safe(fields)}")
