"""Dagster's storages of the extra `postgres` work with the SQLAlchemy that is installed.

SQLAlchemy 2.1 reads `postgresql://` as psycopg 3, which refuses the parameter that dagster-postgres
gives to NOTIFY with every new event; `pyproject.toml` holds it below.
"""

import subprocess
import sys
from pathlib import Path

import orjson

RUN = """
import json, sys
import dagster as dg

@dg.asset
def songs():
    return 7

with dg.DagsterInstance.from_config(sys.argv[1]) as instance:
    result = dg.materialize([songs], instance=instance)
    kept = instance.get_latest_materialization_event(dg.AssetKey("songs"))
    print(json.dumps({
        "storage": type(instance.event_log_storage).__name__,
        "success": result.success,
        "is_kept": kept is not None,
        "runs": instance.get_runs_count(),
        "ticks": len(instance.get_ticks("none", "none")),
    }))
"""


def test_a_run_leaves_its_events_in_postgresql(postgres_url: str, tmp_path: Path) -> None:
    address = postgres_url.replace("postgresql+psycopg://", "postgresql://")
    config = (
        f"telemetry: {{enabled: false}}\nstorage: {{postgres: {{postgres_url: '{address}'}}}}\n"
    )
    (tmp_path / "dagster.yaml").write_text(config)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN, str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert orjson.loads(done.stdout.splitlines()[-1]) == {
        "storage": "PostgresEventLogStorage",
        "success": True,
        "is_kept": True,
        "runs": 1,
        "ticks": 0,
    }


def test_the_launcher_of_the_extra_celery_is_importable() -> None:
    code = "from dagster_celery.launcher import CeleryRunLauncher as l; print(l.__name__)"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "CeleryRunLauncher\n"
