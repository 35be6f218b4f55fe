"""`sametrack audio annotate` and `audio annotations`: user judgements, for calibration."""

import csv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.options import ServiceOption
from api.cli.stores import call_service_or_stores, stored_settings
from api.cli.terminal import exit_with_input_error, out, safe
from api.params.notes import AnnotationVerdict
from api.settings import ApiSettings
from pipelines.documents.messages import counted
from warehouse.records.errors import ProfileNotChosenError

if TYPE_CHECKING:
    from api.services.evidence.annotations import AnnotationService


class AnnotationChoice(StrEnum):
    """Judgements of a pair on the command line."""

    same = "same"
    not_the_same = "not-the-same"


def annotate(
    comparison_id: Annotated[str, typer.Argument(metavar="ID", help="Id of a comparison.")],
    judgement: Annotated[AnnotationChoice, typer.Argument(metavar="heard", help="Your judgement.")],
    *,
    note: Annotated[str | None, typer.Option(help="Free text.")] = None,
    api: ServiceOption = None,
) -> None:
    """Record whether a compared pair is the same recording. Changes no verdict."""
    verdict: AnnotationVerdict = "same" if judgement is AnnotationChoice.same else "not_the_same"

    def add_here() -> Mapping[str, Any]:
        with _open_annotations() as service:
            return service.add(comparison_id, verdict, note=note, origin="cli")

    counts = call_service_or_stores(
        api, lambda client: client.annotate(comparison_id, verdict, note=note), add_here
    )["counts"]
    totals = ", ".join(f"{times} x {name.replace('_', ' ')}" for name, times in counts.items())
    out.print(f"[bold]{safe(comparison_id)}[/] {totals}")


def annotations(
    *, path: Annotated[Path | None, typer.Option("--out", help="CSV file. Default: stdout.")] = None
) -> None:
    """Write all annotations with the measured values as CSV, to calibrate the limits."""
    with _open_annotations(reads=True) as service:
        text = service.to_csv()
    if path is None:
        typer.echo(text.encode(), nl=False)  # as it is in a file: rich would change line ends
        return
    try:
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        exit_with_input_error(f"{path.name} cannot be written: {error.strerror}")
    count = sum(1 for _ in csv.DictReader(StringIO(text, newline="")))  # notes may have line breaks
    out.print(f"{counted(count, 'annotation')} in {safe(path)}")


@contextmanager
def _open_annotations(*, reads: bool = False) -> Iterator["AnnotationService"]:
    from api.process import open_services  # noqa: PLC0415 -- loads the service, 1.6 s

    with open_services(stored_settings() if reads else ApiSettings()) as opened:
        if opened.annotations is None:
            raise ProfileNotChosenError("No platform profile is chosen, so there are no stores")
        yield opened.annotations
