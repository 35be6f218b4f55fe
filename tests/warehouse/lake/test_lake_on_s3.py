"""A lake on a real S3 server on loopback: written by the writer, read by `open_warehouse`."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx2
import pytest

from api.cli.processes.child_processes import find_port
from tests.deployment import wait_for
from warehouse import open_warehouse
from warehouse.lake.store import Lake, open_lake
from warehouse.records.errors import InvalidParameterError

pytestmark = pytest.mark.full

LAKE = "s3://analysts/lake"
START = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    port = find_port()
    server = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: _has_bucket(address, server))
        yield address
    finally:
        server.kill()
        server.wait()


def _has_bucket(address: str, server: "subprocess.Popen[bytes]") -> bool:
    assert server.poll() is None, "the server has stopped"
    try:
        return httpx2.put(f"{address}/analysts", timeout=60, verify=False).is_success
    except httpx2.TransportError:
        return False


@pytest.fixture(autouse=True)
def credentials(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "tester")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")


@pytest.mark.soak
def test_a_lake_on_s3_is_written_and_read_as_one_in_a_folder(endpoint: str) -> None:
    with pytest.raises(InvalidParameterError, match="there is no lake"):
        open_warehouse(LAKE)
    lake = open_lake(LAKE, world="sandbox")
    _add(lake, rank=1, comment_count=None)
    before = _objects(endpoint)
    with open_warehouse(LAKE) as opened:
        assert (opened.world, opened.address) == ("sandbox", LAKE)
        assert opened.is_demo_data
        found = opened.sql("select rank, comment_count from marts.rankings order by rank")
        assert found.rows() == [{"rank": 1, "comment_count": None}]
        assert str(found.df()["comment_count"].dtype) == "Int64"
        assert len(opened.marts.coverage) == 0
        assert _objects(endpoint) == before
        _add(lake, rank=2, comment_count=18)
        assert wait_for(lambda: found.rows()[1:]) == [{"rank": 2, "comment_count": 18}]


def _add(lake: Lake, *, rank: int, comment_count: int | None) -> None:
    row: dict[str, object] = {
        "job_id": "one", "rank": rank, "aweme_id": f"740000000000000{rank:04}",
        "music_id": "7361729694329545668", "link_type": "exact_music_id", "digg_count": 7,
        "comment_count": comment_count, "collect_count": 3, "share_count": 4, "hot_score": None,
        "statistics_complete": False, "create_time": 1_760_000_000, "committed_at": START,
    }  # fmt: skip
    lake.append("marts.rankings", [row])


def _objects(endpoint: str) -> str:
    address = f"{endpoint}/analysts?list-type=2"
    return httpx2.get(address, timeout=60, verify=False).text.split("<Contents>", 1)[1]
