"""The tools for assistants, asked by a client of the protocol: in process, by HTTP, by pipes."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client as ToolClient
from mcp import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from starlette.types import ASGIApp

from api.app import create_app
from api.client import AsyncClient, Connection
from api.mcp.tools import build_server, shorten_result
from api.settings import ApiSettings
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.rules.results import view_result
from sandbox.mock.provider import open_world
from tests.scripted_reads import ReadService
from tests.stored_results import MUSIC_ID, result

pytestmark = pytest.mark.full

HERE = "http://127.0.0.1"
READING = {
    "profile", "posts", "metrics", "music_videos", "hashtag_videos", "videos", "chart_history",
    "jobs", "job_status", "job_result",
}  # fmt: skip


@asynccontextmanager
async def tools_of(service: Any, *, may_start_jobs: bool = False) -> AsyncIterator[ToolClient]:
    transport: Any = httpx2.ASGITransport(service.app(), raise_app_exceptions=False)
    async with AsyncClient(Connection(base_url=HERE), transport=transport) as client:
        server = build_server(client, may_start_jobs=may_start_jobs)
        async with ToolClient(server) as tools:
            yield tools


def tool_result(answer: Any) -> Any:
    assert not answer.is_error, answer.content
    return answer.structured_content


async def test_an_assistant_only_reads_unless_the_operator_allows_more(service: Any) -> None:
    async with tools_of(service) as tools:
        listed = (await tools.list_tools()).tools
        assert {tool.name for tool in listed} == READING
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in listed)
        assert all(tool.description for tool in listed)
        refused = await tools.call_tool("start_scan", {"track": MUSIC_ID})
        assert refused.is_error
    async with tools_of(service, may_start_jobs=True) as tools:
        assert "start_scan" in {tool.name for tool in (await tools.list_tools()).tools}
        started = tool_result(await tools.call_tool("start_scan", {"track": MUSIC_ID}))
        job_id = started["data"]["job_id"]
        assert tool_result(await tools.call_tool("job_status", {"job_id": job_id}))["data"][
            "status"
        ]


async def test_a_result_comes_short_and_with_its_coverage(service: Any) -> None:
    job = service.stored()
    async with tools_of(service) as tools:
        answer = tool_result(await tools.call_tool("job_result", {"job_id": job.job_id, "top": 3}))
        assert len(answer["data"]["aweme_list"]) == 3
        coverage = answer["coverage"]
        assert coverage["coverage_complete"] is False
        assert coverage["confirmed_count"] == 40
        assert coverage["coverage"]["sources"]
        listed = tool_result(await tools.call_tool("jobs", {}))
        assert [one["job_id"] for one in listed["data"]["jobs"]] == [job.job_id]


async def test_a_refusal_tells_the_assistant_why_and_what_to_do(service: Any) -> None:
    async with tools_of(service) as tools:
        for name, given, words in (
            ("job_status", {"job_id": "none"}, "job_not_found"),
            ("job_result", {"job_id": "none"}, "deleted after their retention"),
            ("job_result", {"job_id": "x", "top": 0}, "top"),
            ("videos", {"aweme_ids": []}, "aweme_ids"),
        ):
            refused = await tools.call_tool(name, given)
            assert refused.is_error
            assert words in refused.content[0].text  # type: ignore[union-attr]  # a refusal is text


async def test_a_scan_that_is_not_over_has_no_result_yet(service: Any) -> None:
    async with tools_of(service, may_start_jobs=True) as tools:
        started = tool_result(await tools.call_tool("start_scan", {"track": MUSIC_ID}))
        job_id = started["data"]["job_id"]
        refused = await tools.call_tool("job_result", {"job_id": job_id})
    assert refused.is_error
    (text,) = refused.content
    assert f"{job_id} is queued and has no result. Call job_status." in text.text  # type: ignore[union-attr]  # a refusal is text


async def test_an_account_is_read_by_its_id_or_by_what_leads_to_it(reads: ReadService) -> None:
    sec_uid = open_world(11, 0.1).sec_uid(3)
    async with tools_of(reads) as tools:
        for whom in (sec_uid, f"look at {sec_uid}"):
            profile = tool_result(await tools.call_tool("profile", {"user": whom}))
            assert profile["data"]["user"]["sec_uid"] == sec_uid
            assert profile["coverage"]["data_provider"] == "mock"
        posts = tool_result(await tools.call_tool("posts", {"user": sec_uid, "count": 2}))
        assert {one["author"]["sec_uid"] for one in posts["data"]["aweme_list"]} == {sec_uid}
        metrics = tool_result(await tools.call_tool("metrics", {"user": sec_uid, "days": 30}))
        assert metrics["coverage"]["is_demo_data"] is True


async def test_videos_that_are_not_there_are_named_in_the_coverage(reads: ReadService) -> None:
    nothing = "7300000000000000001"
    async with tools_of(reads) as tools:
        answer = tool_result(await tools.call_tool("videos", {"aweme_ids": [nothing]}))
    assert answer["data"]["aweme_list"] == []
    (left_out,) = answer["coverage"]["not_read"]
    assert (left_out["aweme_id"], bool(left_out["reason"])) == (nothing, True)


def test_long_lists_are_cut_and_previews_left_out() -> None:
    cut = shorten_result(view_result(result(40), ScanParameters()), top=2)
    assert len(cut["aweme_list"]) == 2
    assert all("video_previews" not in one for one in cut["account_summary"]["accounts"])


@asynccontextmanager
async def served(service: Any, **settings: Any) -> AsyncIterator[ASGIApp]:
    """The service with its tools mounted, started and stopped as a server does it."""
    app = service.app(mcp_http=True, **settings)
    orders: asyncio.Queue[Any] = asyncio.Queue()
    reports: asyncio.Queue[Any] = asyncio.Queue()
    life = asyncio.create_task(app({"type": "lifespan", "state": {}}, orders.get, reports.put))
    await orders.put({"type": "lifespan.startup"})
    assert (await reports.get())["type"] == "lifespan.startup.complete"
    yield app
    await orders.put({"type": "lifespan.shutdown"})
    await life


@asynccontextmanager
async def over_http(app: ASGIApp, **headers: str) -> AsyncIterator[ToolClient]:
    transport: Any = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with (
        httpx2.AsyncClient(transport=transport, headers=headers) as http,
        ToolClient(streamable_http_client(f"{HERE}/mcp", http_client=http)) as tools,
    ):
        yield tools


async def test_the_mounted_tools_stand_behind_the_same_door(service: Any) -> None:
    word = "a-word-nobody-knows"
    job = service.stored()
    async with served(service, own_api_token=word) as app:
        transport: Any = httpx2.ASGITransport(app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url=HERE) as stranger:
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            for headers, status in (
                ({}, 401),
                ({"x-api-key": "wrong"}, 401),
                ({"x-api-key": word, "Host": "elsewhere.example"}, 421),
                ({"x-api-key": word, "Origin": "http://elsewhere.example"}, 403),
            ):
                answer = await stranger.post("/mcp", json=call, headers=headers)
                assert (answer.status_code, answer.json()["code"]) == (status, status)
            big = await stranger.post(
                "/mcp", json={**call, "params": "x" * 70_000}, headers={"x-api-key": word}
            )
            assert big.status_code == 413
        async with over_http(app, Authorization=f"Bearer {word}") as tools:
            assert {tool.name for tool in (await tools.list_tools()).tools} == READING
            found = tool_result(await tools.call_tool("job_status", {"job_id": job.job_id}))
            assert found["data"]["status"] == "completed"


def test_mcp_is_not_mounted_by_default(service: Any) -> None:
    answer = service.client().post("/mcp", json={})
    assert (answer.status_code, answer.json()["data"]["error"]["type"]) == (404, "not_found")
    program = "import sys, api.process; print('mcp' in sys.modules)"
    assert create_app.__module__ == "api.app"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
    assert ApiSettings(_env_file=None).mcp_may_start_jobs is False


async def test_the_command_speaks_over_its_pipes(tmp_path: Path) -> None:
    server = StdioServerParameters(
        command=str(Path(sys.executable).parent / "sametrack"),
        args=["mcp"],
        cwd=tmp_path,
        env={
            **os.environ,
            "DATA_HOME": str(tmp_path / "data"),
            "DATA_PROVIDER": "mock",
            "MOCK_SIZE": "0.2",
            "API_PORT": "1",
        },
    )
    async with ToolClient(server) as tools:
        assert {tool.name for tool in (await tools.list_tools()).tools} == READING
        span = {"start_date": "2025-09-20", "end_date": "2025-09-20"}
        answer = tool_result(await tools.call_tool("chart_history", span))
        assert len(answer["data"]["snapshots"][0]["songs"]) == 20
        assert answer["coverage"]["is_demo_data"] is True
        assert json.dumps(answer, ensure_ascii=False)
