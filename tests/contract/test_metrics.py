"""Figures for Prometheus: complete, without ids in labels, behind the token."""

from functools import partial
from typing import Any

from starlette.testclient import TestClient

from api.server.metrics import BUCKETS_S, Metrics, StoreMetrics
from api.settings import ApiSettings
from warehouse.control import jobs
from warehouse.records.errors import WarehouseUnavailableError

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
TEMPLATE = f"{JOBS}/{{job_id}}"


def values(text: str, name: str) -> dict[str, float]:
    """Samples of one name: labels as they stand, and the value."""
    lines = [line for line in text.splitlines() if line.startswith(name) and line[0] != "#"]
    return {key.removeprefix(name): float(value) for key, _, value in
            (line.rpartition(" ") for line in lines)}  # fmt: skip


def test_requests_are_counted_by_template_and_status(client: TestClient) -> None:
    for number in range(3):
        client.get(f"{JOBS}/none-{number}")
    client.get("/nowhere/at/all")
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    counted = values(answer.text, "sametrack_http_requests_total")
    asked = {labels: count for labels, count in counted.items() if TEMPLATE in labels}
    assert list(asked.values()) == [3]
    assert 'status="404"' in next(iter(asked))
    assert any('route="none"' in labels for labels in counted)
    assert "none-1" not in answer.text
    assert "nowhere" not in answer.text
    seconds = values(answer.text, "sametrack_http_request_seconds_count")
    assert seconds[f'{{route="{TEMPLATE}"}}'] == 3
    within = values(answer.text, "sametrack_http_request_seconds_bucket")
    counts = [count for labels, count in within.items() if TEMPLATE in labels]
    assert counts == sorted(counts)
    assert (len(counts), counts[-1]) == (len(BUCKETS_S) + 1, 3)


def test_an_invented_method_makes_no_label(client: TestClient) -> None:
    client.request("BREW", "/healthz")
    assert "BREW" not in client.get("/metrics").text


def test_a_token_guards_them_and_other_sites_may_not_read_them(service: Any) -> None:
    client = service.client(own_api_token="sesam")
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", headers={"x-api-key": "sesam"}).status_code == 200
    open_client = service.client()
    assert open_client.get("/metrics", headers={"sec-fetch-site": "cross-site"}).status_code == 403


def test_the_queue_and_its_workers_are_told(service: Any) -> None:
    jobs.beat(service.control, "worker", [])
    service.client().post(JOBS, json={"input": "12345"})
    service.now = service.now.replace(minute=service.now.minute + 2)
    text = Metrics(figures(service)).text().decode()
    counts = values(text, "sametrack_jobs")
    assert counts['{status="queued"}'] == 1
    assert counts['{status="completed"}'] == 0
    assert values(text, "sametrack_queue_age_seconds") == {"": 120}
    assert values(text, "sametrack_workers_alive") == {"": 1}
    assert values(text, "sametrack_upstream_requests_today") == {'{host="a.example"}': 7}
    assert values(text, "sametrack_stores_readable") == {"": 1}


def test_a_figure_that_cannot_be_read_is_left_out_and_told(service: Any) -> None:
    def gone() -> dict[str, int]:
        raise WarehouseUnavailableError("no")

    text = Metrics(figures(service, upstream_requests=gone)).text().decode()
    assert values(text, "sametrack_stores_readable") == {"": 0}
    assert "sametrack_workers_alive" in text
    assert "sametrack_upstream" not in text


def figures(service: Any, **others: Any) -> StoreMetrics:
    control, settings = service.control, ApiSettings(_env_file=None)
    parts: dict[str, Any] = {
        "jobs": partial(jobs.counts, control),
        "queue_age_s": partial(jobs.queue_age_s, control),
        "workers": lambda: len(jobs.live_workers(control, settings.worker_lost_after_s * 100)),
        "upstream_requests": lambda: {"a.example": 7},
        "surfaces": lambda: [{"surface": "music_list", "outcome": "ok"}],
    }
    return StoreMetrics(**(parts | others))
