"""Write the configuration of Dagster's instance, which follows from the settings alone.

`dagster.yaml` in this folder is the template. Each home has its copy in the folder `dagster`, which
is `DAGSTER_HOME` for every program of that home, so Dagster's own commands use the same instance.
This module does not load Dagster: `open_instance.py` does.
"""

from pathlib import Path
from tempfile import NamedTemporaryFile

import yaml
from sqlalchemy import make_url

from pipelines.settings import Settings
from warehouse.extras import need_extra
from warehouse.home import Home
from warehouse.records.errors import WarehouseUnavailableError, WorkerUnavailableError
from warehouse.records.values import Document

TEMPLATE = Path(__file__).with_name("dagster.yaml")
STORAGE_VARIABLE = "DAGSTER_STORAGE_URL"
STORAGES = ("run_storage", "event_log_storage", "schedule_storage")


def dagster_environment(settings: Settings, home: Home) -> dict[str, str]:
    """Write the configuration of a home's instance; return the environment that selects it.

    Example: `{"DAGSTER_HOME": "/data/sandbox/dagster"}`.

    Raises:
        WarehouseUnavailableError: `DAGSTER_STORAGE_URL` cannot be used.
        WorkerUnavailableError: `CELERY_BROKER_URL` is set without the extra `celery`.
    """
    folder = home.dagster_dir
    text = yaml.safe_dump(instance_config(settings, folder), sort_keys=False)
    path = folder / "dagster.yaml"
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        # Write to another file and move it: other programs of this home read it at any moment.
        with NamedTemporaryFile("w", encoding="utf-8", dir=folder, delete=False) as draft:
            draft.write(text)
        Path(draft.name).replace(path)
    server = dagster_server(settings)
    return {"DAGSTER_HOME": str(folder), **({STORAGE_VARIABLE: server} if server else {})}


def instance_config(settings: Settings, folder: Path) -> Document:
    """Return the template with the folder of a home, and with the storage and launcher of settings.

    Raises:
        WarehouseUnavailableError: `DAGSTER_STORAGE_URL` cannot be used.
        WorkerUnavailableError: `CELERY_BROKER_URL` is set without the extra `celery`.
    """
    config: Document = yaml.safe_load(TEMPLATE.read_text(encoding="utf-8"))
    for name in (*STORAGES, "local_artifact_storage"):
        config[name]["config"]["base_dir"] = str(folder)
    config["compute_logs"]["config"]["base_dir"] = str(folder / "storage")
    if dagster_server(settings):
        for name in STORAGES:
            del config[name]
        # Name the variable: the address contains a password, and backups contain this file.
        config["storage"] = {"postgres": {"postgres_url": {"env": STORAGE_VARIABLE}}}
    if settings.celery_broker_url is not None:
        need_extra("celery", "CELERY_BROKER_URL", error=WorkerUnavailableError)
        config["run_launcher"] = {
            "module": "pipelines.orchestration.runs.celery_runs",
            "class": "CeleryJobLauncher",
        }
    return config


def dagster_server(settings: Settings) -> str | None:
    """Return the address of Dagster's database in PostgreSQL, as its driver reads it, or None.

    Raises:
        WarehouseUnavailableError: The setting is not an address of PostgreSQL, it is the address
            of the control store (both have a table `jobs`), or the extra `postgres` is missing.
    """
    if not settings.dagster_storage_url:
        return None
    if not settings.dagster_storage_url.startswith("postgresql"):
        raise WarehouseUnavailableError(
            "DAGSTER_STORAGE_URL is no address of PostgreSQL",
            hint="DAGSTER_STORAGE_URL is postgresql://<user>:<password>@<host>/<database>",
        )
    need_extra("postgres", "DAGSTER_STORAGE_URL", error=WarehouseUnavailableError)
    url = make_url(settings.dagster_storage_url).set(drivername="postgresql")
    if settings.control_url and make_url(settings.control_url).set(drivername="postgresql") == url:
        raise WarehouseUnavailableError(
            "DAGSTER_STORAGE_URL and CONTROL_URL are the same database",
            hint="Give Dagster a database of its own: both have a table `jobs`",
        )
    return url.render_as_string(hide_password=False)
