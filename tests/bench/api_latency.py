"""How fast the service answers: a new job, a poll, a repeat from the stored result.

`python -m tests.bench.api_latency`. A real service over real stores, no worker and no platform.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import httpx2
from rich.console import Console
from rich.table import Table

from api.cli.processes import find_port
from pipelines.domain.evidence import ALGORITHM
from pipelines.domain.parameters import ScanParameters, scan_key
from tests.documents import MUSIC_ID, PROVIDER, result
from tests.stage import Stage, open_stage, wait_for
from warehouse.documents import pack_document
from warehouse.lake import open_lake

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
ROUNDS = 200
CONFIRMED = 150


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, open_stage(Path(folder), Path(folder)) as stage:
        port = find_port()
        stage._start("serve", [], API_PORT=str(port))
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            wait_for(lambda: _is_alive(client))
            Console().print(_measure(stage, client))


def _measure(stage: Stage, client: httpx2.Client) -> Table:
    fresh = count(7_400_000_000_000_000_000)
    first = client.post(JOBS, json={"input": MUSIC_ID}).json()["data"]
    _complete(stage, first["job_id"])
    table = Table(title=f"API, {ROUNDS} requests one after another, in ms")
    for name in ("request", "answer", "median", "p95", "bar (p95)"):
        table.add_column(name, justify="left" if name == "request" else "right")
    table.add_row(*_timed("POST a new job", lambda: _ask(client, str(next(fresh)))), "50")
    table.add_row(*_timed("POST again, stored result", lambda: _ask(client, MUSIC_ID)), "30")
    table.add_row(*_timed("GET the job", lambda: client.get(first["poll_url"])), "")
    return table


def _timed(name: str, ask: Callable[[], httpx2.Response]) -> tuple[str, str, str, str]:
    times: list[float] = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        answer = ask()
        times.append((time.perf_counter() - started) * 1000)
    p95 = statistics.quantiles(times, n=20)[-1]
    return name, str(answer.status_code), f"{statistics.median(times):.1f}", f"{p95:.1f}"


def _ask(client: httpx2.Client, text: str) -> httpx2.Response:
    return client.post(JOBS, json={"input": text})


def _complete(stage: Stage, job_id: str) -> None:
    """What a worker does at the end of a scan."""
    row = {
        "job_id": job_id, "music_id": MUSIC_ID, "document": pack_document(result(CONFIRMED)),
        "confirmed_count": CONFIRMED, "algorithm": ALGORITHM,
    }  # fmt: skip
    stage.control.claim("bench")
    key = scan_key(MUSIC_ID, stage.home.world, PROVIDER, ALGORITHM, ScanParameters())
    stage.control.set_target(job_id, music_id=MUSIC_ID, scan_key=key)
    open_lake(stage.home.lake_url, world=stage.home.world).append("marts.job_results", [row])
    stage.control.finish(job_id, "completed", expires_at=datetime.now(UTC) + timedelta(days=1))


def _is_alive(client: httpx2.Client) -> bool:
    try:
        return client.get("/healthz").is_success
    except httpx2.TransportError:
        return False


if __name__ == "__main__":
    main()
