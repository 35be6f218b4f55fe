"""The tools: what an assistant may ask, in words that it reads. Reading only, unless allowed.

The docstring of a tool and the descriptions of its parameters are its documentation.
"""

from collections.abc import Awaitable, Mapping
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from api.client import Answer, AsyncClient, SortBy
from api.client.errors import ClientError, ServiceError
from api.mcp.coverage import coverage_of, shorter
from api.settings import SERVICE_VERSION

INSTRUCTIONS = """\
Sametrack reads public short-video data as any guest sees it, and finds the videos that really carry
a recording by listening to them. Give the coverage of an answer with its numbers: lists and
rankings are never complete, null means not shown. A ranking of a track is a job: it takes minutes;
ask job_status until it is completed, then job_result.
"""
NO_START = (
    "Starting scans is not allowed here: the operator sets MCP_MAY_START_JOBS=true to allow it."
)
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=True)
_STARTS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)

Told = dict[str, Any]  # not a `type`: the protocol package reads the annotation
User = Annotated[str, Field(description="sec_user_id, or a profile link")]
MusicId = Annotated[str, Field(description="music id, 5 to 30 digits")]
Cursor = Annotated[int, Field(description="0 first; then the cursor of the page before")]
JobId = Annotated[str, Field(description="job_id of a scan")]
Top = Annotated[int, Field(ge=1, le=100, description="how many videos and accounts to return")]


class Tools:
    """Each public method is a tool. `client` asks the service."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def profile(self, user: User) -> Told:
        """An account: name, followers, likes received, number of works."""
        return await _told(self._client.user_profile(await self._id_of(user)))

    async def posts(
        self,
        user: User,
        max_cursor: Cursor = 0,
        count: Annotated[int, Field(ge=1, le=20)] = 20,
        order: Literal["newest", "hottest"] = "newest",
    ) -> Told:
        """Works of an account, a page at a time, with their four counts."""
        return await _told(
            self._client.user_posts(
                await self._id_of(user),
                max_cursor=max_cursor,
                count=count,
                sort_type=int(order == "hottest"),
            )
        )

    async def metrics(self, user: User, days: Annotated[int, Field(ge=1, le=365)] = 10) -> Told:
        """Followers, likes, and the average and best work of an account's last days."""
        return await _told(self._client.user_metrics(await self._id_of(user), days=days))

    async def music_videos(
        self,
        music_id: MusicId,
        cursor: Cursor = 0,
        count: Annotated[int, Field(ge=1, le=20)] = 10,
        refresh: Annotated[bool, Field(description="read the platform again first")] = False,
    ) -> Told:
        """Works observed under one music id. Not a ranking, and nothing is listened to."""
        return await _told(
            self._client.music_videos(music_id, cursor=cursor, count=count, refresh=refresh)
        )

    async def hashtag_videos(
        self,
        ch_id: Annotated[str, Field(description="hashtag id, 5 to 30 digits")],
        cursor: Cursor = 0,
        count: Annotated[int, Field(ge=1, le=15)] = 10,
        refresh: Annotated[bool, Field(description="read the platform again first")] = False,
    ) -> Told:
        """Works observed of one hashtag."""
        return await _told(
            self._client.hashtag_videos(ch_id, cursor=cursor, count=count, refresh=refresh)
        )

    async def videos(
        self, aweme_ids: Annotated[list[str], Field(min_length=1, max_length=50)]
    ) -> Told:
        """Videos by their ids; those that cannot be read are in coverage.not_read."""
        return await _told(self._client.videos(aweme_ids))

    async def chart_history(
        self,
        start_date: Annotated[str, Field(description="YYYY-MM-DD, from 2021-01-01 on")],
        end_date: Annotated[str, Field(description="YYYY-MM-DD")],
    ) -> Told:
        """First twenty songs of one chart issue for every ten days of a range."""
        return await _told(self._client.chart_history(start_date, end_date))

    async def jobs(self, limit: Annotated[int, Field(ge=1, le=50)] = 10) -> Told:
        """The newest scans and how they stand."""
        return await _told(self._client.jobs(limit=limit))

    async def job_status(self, job_id: JobId) -> Told:
        """How a scan stands: status, stage, counts so far. Without its result."""
        answer = await _asked(self._client.job(job_id))
        return _with_coverage({**answer.data, "result": None})

    async def job_result(self, job_id: JobId, top: Top = 10) -> Told:
        """The result of a completed scan: the ranking with its evidence, accounts, coverage."""
        job: Mapping[str, Any] = (await _asked(self._client.job(job_id))).data
        if job["result"] is None:
            raise ToolError(f"job {job_id} is {job['status']} and has no result; ask job_status")
        return _with_coverage(shorter(job["result"], top=top))

    async def start_scan(
        self,
        track: Annotated[str, Field(description="music id, link of a track or of a video")],
        count: Annotated[int, Field(ge=1, le=500)] = 30,
        sort_by: SortBy = "hot_score",
    ) -> Told:
        """Start a scan of a track, or get the stored result's job; then ask job_status."""
        answer = await _asked(self._client.create_job(track, count=count, sort_by=sort_by))
        return _with_coverage({**answer.data, "result": None})

    async def _id_of(self, user: str) -> str:
        if "/" not in user and " " not in user.strip():
            return user.strip()
        found: str = (await _asked(self._client.sec_user_id(user))).data["sec_user_id"]
        return found


def build_server(client: AsyncClient, *, may_start_jobs: bool) -> MCPServer[Any]:
    """A server with the tools; `start_scan` among them only where the operator allows it."""
    server: MCPServer[Any] = MCPServer(
        "sametrack",
        title="Sametrack",
        instructions=INSTRUCTIONS if may_start_jobs else f"{INSTRUCTIONS}{NO_START}\n",
        version=SERVICE_VERSION,
        log_level="ERROR",
    )
    tools = Tools(client)
    for reading in (
        tools.profile,
        tools.posts,
        tools.metrics,
        tools.music_videos,
        tools.hashtag_videos,
        tools.videos,
        tools.chart_history,
        tools.jobs,
        tools.job_status,
        tools.job_result,
    ):
        server.add_tool(reading, annotations=_READS)
    if may_start_jobs:
        server.add_tool(tools.start_scan, annotations=_STARTS)
    return server


async def _told(asked: Awaitable[Answer[Any]]) -> Told:
    return _with_coverage((await _asked(asked)).data)


async def _asked[Data](asked: Awaitable[Answer[Data]]) -> Answer[Data]:
    """The answer, or the service's refusal in words that lead on."""
    try:
        return await asked
    except ServiceError as error:
        wait = f" Try again after {error.retry_after:g} s." if error.retry_after else ""
        raise ToolError(f"{error.type}: {error.detail}. {error.hint or ''}{wait}") from error
    except ClientError as error:
        raise ToolError(str(error)) from error


def _with_coverage(data: Mapping[str, Any]) -> Told:
    return {"data": dict(data), "coverage": coverage_of(data)}
