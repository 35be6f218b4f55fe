"""What Dagster loads by `workspace.yaml`, `dagster dev` and `dagster definitions validate`."""

import logging
import os
from pathlib import Path

import yaml

from pipelines.orchestration.definitions import build_definitions
from pipelines.orchestration.schedules import SCHEDULES
from pipelines.settings import Settings

_settings = Settings()
defs = build_definitions(
    hours={spec.name: getattr(_settings, f"{spec.name}_every_h") for spec in SCHEDULES},
    chart_daily=_settings.chart_daily,
    console_url=_settings.console_url,
)

_config = Path("dagster.yaml")
if not os.environ.get("DAGSTER_HOME") and _config.is_file():
    # Dagster itself only names a temporary folder then, in which it stores nothing.
    _folder = yaml.safe_load(_config.read_text("utf-8"))["run_storage"]["config"]["base_dir"]
    logging.getLogger(__name__).warning("Runs are stored in %s", Path(_folder).resolve())
