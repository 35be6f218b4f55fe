"""What Dagster loads by `workspace.yaml`, `dagster dev` and `dagster definitions validate`."""

from pipelines.orchestration.definitions import build_definitions
from pipelines.orchestration.schedules import SCHEDULES
from pipelines.settings import Settings

_settings = Settings()
defs = build_definitions(
    hours={spec.name: getattr(_settings, f"{spec.name}_every_h") for spec in SCHEDULES},
    chart_daily=_settings.chart_daily,
    console_url=_settings.console_url,
)
