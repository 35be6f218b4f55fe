"""The asset of the canaries: one probe per surface, each with its own check.

It starts no scan and stores no observation. Not here: probing (`pipelines/doctor`).
"""

from collections.abc import Sequence

import dagster as dg

from pipelines.doctor.documents import to_surface_documents
from pipelines.orchestration.assets.decorators import OWNERS, READS_PLATFORM
from pipelines.orchestration.failures import reasons_as_failures
from pipelines.orchestration.resources import HealthResource
from warehouse.records.health import SURFACE_USES
from warehouse.records.values import ReadOnlyDocument

SURFACE_HEALTH = dg.AssetKey(["marts", "surface_health"])
GROUP = "health"
_ERROR_OUTCOMES = frozenset({"changed", "unreachable"})
_COLUMNS = ("surface", "words", "error_type", "reason_words", "last_worked_at", "advice")
_LISTS = ("keys_came", "keys_went")


def check_name(surface: str) -> str:
    """Return the check name of a surface."""
    return f"{surface}_answers"


@dg.asset(
    key=SURFACE_HEALTH,
    group_name=GROUP,
    owners=OWNERS,
    kinds=READS_PLATFORM,
    check_specs=[
        dg.AssetCheckSpec(check_name(surface), asset=SURFACE_HEALTH, description=use.label)
        for surface, use in SURFACE_USES.items()
    ],
)
def surface_health(health: dg.ResourceParam[HealthResource]) -> dg.MaterializeResult:  # type: ignore[type-arg]  # beside checks Dagster takes the bare class only
    """Whether each surface of the platform still responds as expected, with one probe each."""
    with reasons_as_failures():
        surfaces, last_worked = health.ask_all()
    documents: Sequence[ReadOnlyDocument] = to_surface_documents(surfaces, last_worked=last_worked)
    results = [
        dg.AssetCheckResult(
            check_name=check_name(surface.surface),
            asset_key=SURFACE_HEALTH,
            passed=surface.outcome == "works",
            # A refusal is a warning, a changed or missing surface an error.
            severity=dg.AssetCheckSeverity.ERROR
            if surface.outcome in _ERROR_OUTCOMES
            else dg.AssetCheckSeverity.WARN,
            metadata=_check_metadata(document),
        )
        for surface, document in zip(surfaces, documents, strict=True)
    ]
    columns = (*_COLUMNS, *_LISTS)
    records = [
        dg.TableRecord(
            {name: str(document[name] or "") for name in _COLUMNS}
            | {name: ", ".join(document[name]) for name in _LISTS}
        )
        for document in documents
    ]
    schema = dg.TableSchema(columns=[dg.TableColumn(name, "string") for name in columns])
    return dg.MaterializeResult(
        metadata={
            "surfaces": dg.MetadataValue.table(records=records, schema=schema),
            "works": sum(surface.outcome == "works" for surface in surfaces),
            "broken": sum(surface.is_broken for surface in surfaces),
        },
        check_results=results,
    )


def _check_metadata(document: ReadOnlyDocument) -> dict[str, dg.MetadataValue]:
    """Convert to metadata; text from outside is shown as text, never as markup."""
    values = {name: str(document[name]) for name in _COLUMNS if document[name]}
    values |= {name: ", ".join(document[name]) for name in _LISTS if document[name]}
    suffering = [f"{entry['number']} {entry['name']}" for entry in document["suffering"]]
    if suffering:
        values["endpoints that suffer"] = ", ".join(suffering)
    return {name: dg.MetadataValue.text(value) for name, value in values.items()}
