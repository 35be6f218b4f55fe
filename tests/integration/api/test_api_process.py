"""The API as a real process over real stores: what it loads, serves, survives and leaves."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from socket import socket
from typing import Any

import httpx2
import pytest

from pipelines.domain.accounts import to_account_summary
from pipelines.domain.documents import Document, to_ranked_document, to_track_document
from pipelines.domain.evidence import ALGORITHM
from pipelines.domain.parameters import ScanParameters, scan_key
from pipelines.domain.records import Author, Statistics, Track, Video
from pipelines.domain.results import ResultDocument
from warehouse.control import open_control
from warehouse.documents import pack_document
from warehouse.home import open_home
from warehouse.lake import open_lake

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
MUSIC_ID = "7300000000000000001"
SERVE = "import api.server, api.settings; api.server.run_server(api.settings.ApiSettings())"
HEAVY = {"dagster", "librosa", "numba", "scipy", "av", "pebble", "playwright"}
FORBIDDEN = ("pipelines.audio", "pipelines.sandbox", "pipelines.world", "pipelines.scan")
START_S = 60.0


def free_port() -> int:
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment(data_home: Path, port: int, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {
        **kept, "PROFILE": "sandbox", "DATA_HOME": str(data_home), "API_PORT": str(port), **more
    }  # fmt: skip


@contextmanager
def serving(
    data_home: Path, **more: str
) -> Iterator[tuple[httpx2.Client, subprocess.Popen[bytes]]]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE],
        env=environment(data_home, port, **more),
        cwd=data_home,
        stderr=subprocess.PIPE,
    )
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as client:
            wait_until_alive(client, process)
            yield client, process
    finally:
        process.kill()
        process.communicate()


def wait_until_alive(client: httpx2.Client, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end and process.poll() is None:
        try:
            client.get("/healthz").raise_for_status()
        except httpx2.TransportError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"the service did not start: {process.poll()}")


def result() -> Document:
    now = datetime.now(UTC)
    works = [
        to_ranked_document(
            Video(
                aweme_id=str(7_350_000_000 + number),
                surface="video_page",
                observed_at=now,
                author=Author(sec_uid=f"user{number}"),
                statistics=Statistics(
                    digg_count=number, comment_count=1, collect_count=1, share_count=1
                ),
            ),
            link_type="exact_music_id",
            source_music_id=MUSIC_ID,
        )
        for number in range(40)
    ]
    return ResultDocument(
        music=to_track_document(Track(music_id=MUSIC_ID, surface="music_info", observed_at=now)),
        music_id=MUSIC_ID, ranked=works, candidate_pool_size=60, unique_account_count=40,
        account_summary=to_account_summary(works), discovery={},
        parameters=ScanParameters().to_document(),
        coverage={"sources": [], "not_reached": [], "unseen_estimate": None},
        sources_ended_by_exhaustion={"music": False}, is_demo_data=True,
        data_provider="public-graph", created_at="2026-01-31T12:00:00Z",
    ).to_document()  # fmt: skip


def finish_as_a_worker_does(data_home: Path, job_id: str) -> None:
    home = open_home(data_home, "sandbox")
    row = {
        "job_id": job_id, "music_id": MUSIC_ID, "document": pack_document(result()),
        "confirmed_count": 40, "algorithm": ALGORITHM,
    }  # fmt: skip
    with closing(open_control(home.control_url, world=home.world)) as control:
        control.claim("worker")
        key = scan_key(MUSIC_ID, "sandbox", "public-graph", ALGORITHM, ScanParameters())
        control.set_target(job_id, music_id=MUSIC_ID, scan_key=key)
        open_lake(home.lake_url, world=home.world).append("marts.job_results", [row])
        control.finish(job_id, "completed", expires_at=datetime.now(UTC) + timedelta(days=1))


def ask(client: httpx2.Client, **body: Any) -> httpx2.Response:
    return client.post(JOBS, json={"input": MUSIC_ID, **body})


def test_a_result_of_another_process_is_served_and_outlives_a_kill(tmp_path: Path) -> None:
    with serving(tmp_path) as (client, process):
        started = ask(client)
        job_id = started.json()["data"]["job_id"]
        assert started.status_code == 202
        process.kill()
    with serving(tmp_path) as (client, process):
        assert client.get(f"{JOBS}/{job_id}").json()["data"]["status"] == "queued"
        finish_as_a_worker_does(tmp_path, job_id)
        done = client.get(f"{JOBS}/{job_id}").json()["data"]
        assert (done["status"], done["result"]["returned_count"]) == ("completed", 30)
        again = ask(client, count=5)
        assert (again.status_code, again.json()["data"]["job_id"]) == (200, job_id)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


def test_links_of_the_profile_are_read_and_foreign_ones_refused(tmp_path: Path) -> None:
    with serving(tmp_path) as (client, _):
        prose = f"听听 https://www.vidplat.localhost:8790/music/{MUSIC_ID}。好听"
        assert ask(client, input=prose).json()["data"]["music_id"] == MUSIC_ID
        refused = ask(client, input=f"https://evil.example/music/{MUSIC_ID}")
        assert refused.json()["data"]["error"]["type"] == "invalid_music_input"


def test_readiness_names_the_missing_worker(tmp_path: Path) -> None:
    with serving(tmp_path) as (client, _):
        answer = client.get("/readyz")
        reasons = {check["name"]: check["reason"] for check in answer.json()["checks"]}
        assert answer.status_code == 503
        assert set(reasons) == {"control_store", "lake", "workers", "disk"}
        assert [name for name, reason in reasons.items() if reason] == ["workers"]
        assert str(tmp_path) not in answer.text


def test_without_a_profile_the_service_says_what_is_missing(tmp_path: Path) -> None:
    with serving(tmp_path, PROFILE="") as (client, _):
        answer = ask(client)
        assert answer.status_code == 503
        assert answer.json()["data"]["error"]["type"] == "profile_not_chosen"
        assert client.get("/readyz").status_code == 503
        assert list(tmp_path.iterdir()) == []


def test_each_request_leaves_one_json_line_with_its_id(tmp_path: Path) -> None:
    with serving(tmp_path, OWN_API_TOKEN="sesam-42") as (client, process):
        answer = client.get(f"{JOBS}/none", headers={"x-api-key": "sesam-42"})
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=20)
    lines = [json.loads(line) for line in log.decode().splitlines()]
    found = [line for line in lines if line["request_id"] == answer.json()["request_id"]]
    assert [(line["status"], line["method"]) for line in found] == [(404, "GET")]
    assert b"sesam-42" not in log


def test_a_wider_bind_without_a_token_does_not_start(tmp_path: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-c", SERVE],
        env=environment(tmp_path, free_port(), API_HOST="0.0.0.0"),
        cwd=tmp_path,
        capture_output=True,
        timeout=START_S,
        check=False,
    )
    assert found.returncode != 0
    assert b"OWN_API_TOKEN" in found.stderr


@pytest.mark.parametrize("module", ["api.server", "api.app"])
def test_the_process_loads_neither_the_orchestrator_nor_what_decodes_sound(module: str) -> None:
    look = f"import {module}, sys; print('\\n'.join(sys.modules))"
    found = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    loaded = found.stdout.split()
    assert module in loaded
    assert HEAVY.isdisjoint(name.partition(".")[0] for name in loaded)
    assert [name for name in loaded if name.startswith(FORBIDDEN)] == []
