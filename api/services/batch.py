"""Endpoint 6: several tracks at once, each processed independently. Not here: HTTP, scanning."""

from pydantic import TypeAdapter, ValidationError

from api.params.scan import InputText
from api.responses.errors import with_hint
from api.schemas.result import BatchItem, BatchResult
from api.services.batch_inputs import BatchInput, BatchInputs
from api.services.job_document import notes, poll_url, ranking_of
from pipelines.captures.inputs import ACCEPTED_INPUT_HINT
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.service.service import ScanService
from warehouse.records.errors import (
    CapacityExhaustedError,
    InputError,
    InvalidMusicInputError,
    WarehouseError,
)

_TEXT = TypeAdapter[str](InputText)
_ITEM_ERRORS = (InputError, CapacityExhaustedError, WarehouseError)
"""Errors of a single item; any other error fails the whole request."""


def to_batch(
    scan_service: ScanService, inputs: BatchInputs, parameters: ScanParameters
) -> BatchResult:
    """Request a scan for each track and return the `data` of endpoint 6.

    Raises:
        ProviderUnsupportedError: The configured source does not support scans.
    """
    items = [_to_item(scan_service, one, parameters) for one in inputs.tracks]
    ok_count = sum(item["ok"] for item in items)
    return {
        "items": items,
        "lists": list(inputs.lists),
        "ok_count": ok_count,
        "error_count": len(items) - ok_count,
        "notes": [*notes(parameters), *inputs.notes()],
        "is_demo_data": scan_service.world.is_demo,
    }


def _to_item(scan_service: ScanService, one: BatchInput, parameters: ScanParameters) -> BatchItem:
    error = one.error
    scan = None
    try:
        if error is None:
            scan = scan_service.ask(_checked_input(one.asked), parameters, origin="api")
    except _ITEM_ERRORS as raised:
        error = raised
    return {
        "input": one.shown,
        "label": one.label,
        "list_input": one.list_input,
        "ok": error is None,
        "status": scan and scan.job.status,
        "job_id": scan and scan.job.job_id,
        "poll_url": scan and poll_url(scan.job.job_id),
        "result": scan and ranking_of(scan, parameters),
        "error": None if error is None else with_hint(error.to_document()),
    }


def _checked_input(text: str) -> str:
    try:
        return _TEXT.validate_python(text)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[0]
        raise InvalidMusicInputError(str(found["msg"]), hint=ACCEPTED_INPUT_HINT) from error
