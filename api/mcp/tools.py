"""The tools offered to assistants. Read-only unless the operator allows starting scans.

The docstring of a tool and the descriptions of its parameters are its documentation for the
assistant.
"""

from collections.abc import Awaitable, Mapping
from typing import Annotated, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field
from pydantic.fields import FieldInfo

from api.client import ApiResponse, AsyncClient, SortBy
from api.client.errors import ClientError, ServiceError
from api.settings import SERVICE_VERSION
from pipelines.charts.rules.history import FIRST_DAY
from pipelines.parameters import lists
from pipelines.parameters.scan import BY_NAME, Parameter
from warehouse.records.values import Document, ReadOnlyDocument

# The coverage that every tool returns with its data. Pure functions.

TOOL_COVERAGE_NOTE = (
    "Public pages only, as a guest sees them; never a full enumeration of the platform. "
    "null means unknown, never zero."
)
_COVERAGE_FIELDS = (
    "coverage_complete",
    "count_satisfied",
    "count_note_zh",
    "confirmed_count",
    "returned_count",
    "statistics_complete",
    "has_more",
    "platform_has_more",
    "public_first_screen_count",
    "public_observed_union_count",
    "observation_history",
    "observed_at",
    "data_provider",
    "is_demo_data",
    "not_collected_count",
    "coverage",
)


def coverage_of(data: ReadOnlyDocument) -> Document:
    """Collect the coverage fields of a response, with the note that always applies."""
    coverage = {name: data[name] for name in _COVERAGE_FIELDS if name in data}
    if "filter_list" in data:
        coverage["not_read"] = [
            {"aweme_id": video["aweme_id"], "reason": video["reason"]}
            for video in data["filter_list"]
        ]
    # Also where the service says nothing about it: no list of the platform is complete.
    return {**coverage, "coverage_complete": False, "note": TOOL_COVERAGE_NOTE}


def shorten_result(result: ReadOnlyDocument, *, top: int) -> Document:
    """Shorten a scan result for an assistant: at most `top` items of each list.

    The counts beside a list stay those of the whole list.
    """
    short = {name: value for name, value in result.items() if name != "aweme_list"}
    short["aweme_list"] = list(result.get("aweme_list", [])[:top])
    for name in ("candidates", "reference_works"):  # of a discovery
        if name in short:
            short[name] = short[name][:top]
    coverage = short.get("coverage") or {}
    if coverage.get("audit"):
        audit = {**coverage["audit"], "videos": coverage["audit"]["videos"][:top]}
        short["coverage"] = {**coverage, "audit": audit}
    for name in ("search_related", "variants", "versions"):
        if short.get(name):
            short[name] = {**short[name], "aweme_list": short[name]["aweme_list"][:top]}
    # The previews repeat videos of the ranking.
    if short.get("account_summary"):
        accounts = [
            {name: value for name, value in account.items() if name != "video_previews"}
            for account in short["account_summary"]["accounts"][:top]
        ]
        short["account_summary"] = {**short["account_summary"], "accounts": accounts}
    return short


INSTRUCTIONS = """\
Sametrack reads public short-video data as any guest sees it and finds, by audio matching, the
videos that really use a recording. Report the coverage of a response together with its numbers:
lists and rankings are never complete, and null means unknown. A ranking of a track is a job that
takes minutes: call job_status until it is completed, then job_result.
"""
SCANS_DISABLED = (
    "Starting scans is disabled. The operator can enable it with MCP_MAY_START_JOBS=true."
)
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=True)
_STARTS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)

_POSTS = lists.POSTS_PARAMETERS["count"]
_DAYS = lists.METRICS_PARAMETERS["days"]
_MUSIC_PAGE = lists.MUSIC_LIST_PARAMETERS["count"]
_HASHTAG_PAGE = lists.HASHTAG_LIST_PARAMETERS["count"]
_RANKED, _ORDER = BY_NAME["count"], BY_NAME["sort_by"]

ToolResult = dict[str, object]  # not a `type` alias: the protocol package evaluates the annotation
UserInput = Annotated[str, Field(description="sec_user_id, @handle, or a profile link")]
MusicId = Annotated[str, Field(description="music id, 5 to 30 digits")]
Cursor = Annotated[
    int, Field(description="0 for the first page, then the cursor of the previous page")
]
JobId = Annotated[str, Field(description="job_id of a scan")]
Top = Annotated[int, Field(ge=1, le=100, description="how many videos and accounts to return")]


def _limits(parameter: Parameter) -> FieldInfo:
    field: FieldInfo = Field(ge=parameter.minimum, le=parameter.maximum)
    return field


class Tools:
    """Each public method is a tool. `client` calls the service."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def profile(self, user: UserInput) -> ToolResult:
        """Profile of an account: name, followers, likes received, number of videos."""
        return await _tool_result(self._client.user_profile(await self._id_of(user)))

    async def posts(
        self,
        user: UserInput,
        max_cursor: Cursor = 0,
        count: Annotated[int, _limits(_POSTS)] = _POSTS.default,
        order: Literal["newest", "hottest"] = "newest",
    ) -> ToolResult:
        """Videos of an account with their four counts, one page at a time."""
        return await _tool_result(
            self._client.user_posts(
                await self._id_of(user),
                max_cursor=max_cursor,
                count=count,
                sort_type=int(order == "hottest"),
            )
        )

    async def metrics(
        self, user: UserInput, days: Annotated[int, _limits(_DAYS)] = _DAYS.default
    ) -> ToolResult:
        """Followers, likes, and the average and most liked video of an account's last days."""
        return await _tool_result(self._client.user_metrics(await self._id_of(user), days=days))

    async def music_videos(
        self,
        music_id: MusicId,
        cursor: Cursor = 0,
        count: Annotated[int, _limits(_MUSIC_PAGE)] = _MUSIC_PAGE.default,
        refresh: Annotated[
            bool, Field(description="read the platform again before answering")
        ] = False,
    ) -> ToolResult:
        """Videos observed under one music id. Not a ranking, and without audio matching."""
        return await _tool_result(
            self._client.music_videos(music_id, cursor=cursor, count=count, refresh=refresh)
        )

    async def hashtag_videos(
        self,
        ch_id: Annotated[str, Field(description="hashtag id, 5 to 30 digits")],
        cursor: Cursor = 0,
        count: Annotated[int, _limits(_HASHTAG_PAGE)] = _HASHTAG_PAGE.default,
        refresh: Annotated[
            bool, Field(description="read the platform again before answering")
        ] = False,
    ) -> ToolResult:
        """Videos observed under one hashtag."""
        return await _tool_result(
            self._client.hashtag_videos(ch_id, cursor=cursor, count=count, refresh=refresh)
        )

    async def videos(
        self, aweme_ids: Annotated[list[str], Field(min_length=1, max_length=50)]
    ) -> ToolResult:
        """Videos by id. Videos that cannot be read are listed in coverage.not_read."""
        return await _tool_result(self._client.videos(aweme_ids))

    async def chart_history(
        self,
        start_date: Annotated[str, Field(description=f"YYYY-MM-DD, not before {FIRST_DAY}")],
        end_date: Annotated[str, Field(description="YYYY-MM-DD")],
    ) -> ToolResult:
        """First 20 songs of one chart issue for every 10 days of a date range."""
        return await _tool_result(self._client.chart_history(start_date, end_date))

    async def jobs(self, limit: Annotated[int, Field(ge=1, le=50)] = 10) -> ToolResult:
        """The newest scans and their status."""
        return await _tool_result(self._client.jobs(limit=limit))

    async def job_status(self, job_id: JobId) -> ToolResult:
        """Status, stage and counts of a scan, without its result."""
        job = (await _await_response(self._client.job(job_id))).data
        return _with_coverage({**job, "result": None})

    async def job_result(self, job_id: JobId, top: Top = 10) -> ToolResult:
        """Result of a completed scan: ranking with evidence, accounts, coverage."""
        job = (await _await_response(self._client.job(job_id))).data
        if job["result"] is None:
            raise ToolError(f"Job {job_id} is {job['status']} and has no result. Call job_status.")
        return _with_coverage(shorten_result(job["result"], top=top))

    async def start_scan(
        self,
        track: Annotated[str, Field(description="music id, link to a track, or link to a video")],
        count: Annotated[int, _limits(_RANKED)] = _RANKED.default,
        sort_by: SortBy = _ORDER.default,
    ) -> ToolResult:
        """Start a scan of a track, or return the job of a stored result; then call job_status."""
        created = self._client.create_job(track, count=count, sort_by=sort_by)
        job = (await _await_response(created)).data
        # A stored result may be large: `job_result` returns a part of it.
        return _with_coverage({**job, "result": None})

    async def _id_of(self, user: str) -> str:
        """Return an id unchanged; resolve `@` and a handle, a link, or text with a link in it."""
        user = user.strip()
        if "/" not in user and " " not in user and not user.startswith("@"):
            return user
        return (await _await_response(self._client.sec_user_id(user))).data["sec_user_id"]


def build_server(client: AsyncClient, *, may_start_jobs: bool) -> MCPServer[object]:
    """Build a server with the tools; `start_scan` only if the operator allows it."""
    server: MCPServer[object] = MCPServer(
        "sametrack",
        title="Sametrack",
        instructions=INSTRUCTIONS if may_start_jobs else f"{INSTRUCTIONS}{SCANS_DISABLED}\n",
        version=SERVICE_VERSION,
        log_level="ERROR",
    )
    tools = Tools(client)
    # Named one by one, so that a new method is not offered by accident.
    for read_tool in (
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
        server.add_tool(read_tool, annotations=_READS)
    if may_start_jobs:
        server.add_tool(tools.start_scan, annotations=_STARTS)
    return server


async def _tool_result(response: Awaitable[ApiResponse[Mapping[str, object]]]) -> ToolResult:
    return _with_coverage((await _await_response(response)).data)


async def _await_response[Data](response: Awaitable[ApiResponse[Data]]) -> ApiResponse[Data]:
    """Await a response; turn a service error into a tool error with its hint."""
    try:
        return await response
    except ServiceError as error:
        wait = f" Try again after {error.retry_after:g} s." if error.retry_after else ""
        raise ToolError(f"{error.type}: {error.detail}. {error.hint or ''}{wait}") from error
    except ClientError as error:
        raise ToolError(str(error)) from error


def _with_coverage(data: Mapping[str, object]) -> ToolResult:
    return {"data": dict(data), "coverage": coverage_of(data)}
