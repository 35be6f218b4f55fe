"""Watchlists, their runs and digests, channels for alerts. No operation starts a scan here."""

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Path, Query, Request
from starlette.responses import Response

from api.params.watchlists import (
    AlertChannelBody,
    WatchlistBody,
    WatchlistChange,
    WatchlistRunsQuery,
)
from api.responses.envelope import conditional_response, record_parameters, success_response
from api.routes.dependencies import SourcesDep, built_from, check_query
from api.schemas import responses
from api.schemas.extensions import watchlists as schemas
from api.server.json_body import JsonRoute
from api.services.watchlists.alerts import ALERTS_PATH, AlertService
from api.services.watchlists.service import PATH, WatchlistService
from pipelines.watchlists.alerts import AlertSender

router = APIRouter(tags=["Sametrack"], route_class=JsonRoute, dependencies=[Depends(check_query)])

_ONE = f"{PATH}/{{name}}"
_LIST_ERRORS = (*responses.PARAMETER_ERRORS, *responses.STORE_ERRORS)
_ERRORS = (*_LIST_ERRORS, "not_found")
WatchlistName = Annotated[str, Path(description="name of a watchlist. 监控清单名称")]
RunId = Annotated[str, Path(description="id of a run. 运行 ID")]


async def _watchlist_service(sources: SourcesDep) -> WatchlistService:
    return built_from(
        sources,
        lambda chosen: WatchlistService(
            chosen.control, find_target=chosen.profile.find_target, is_demo=chosen.is_demo
        ),
    )


WatchlistsDep = Annotated[WatchlistService, Depends(_watchlist_service)]


@router.post(
    PATH,
    summary="Create a watchlist",
    responses=responses.action_responses(
        schemas.WatchlistDocument,
        "New watchlist",
        *responses.BODY_ERRORS,
        *responses.STORE_ERRORS,
        "invalid_music_input",
    ),
)
def sametrack_watchlist_create(
    request: Request, body: Annotated[WatchlistBody, Body()], watchlists: WatchlistsDep
) -> Response:
    """Create a watchlist. Its first run is due at the next scheduled time. 创建监控清单."""
    plan = body.to_plan()
    record_parameters(request.scope, plan.to_document())
    return success_response(request.scope, watchlists.create(plan))


@router.patch(
    _ONE,
    summary="Change a watchlist",
    responses=responses.action_responses(
        schemas.WatchlistDocument,
        "Changed watchlist",
        *responses.BODY_ERRORS,
        *responses.STORE_ERRORS,
        "invalid_music_input",
        "not_found",
    ),
)
def sametrack_watchlist_change(
    request: Request,
    name: WatchlistName,
    body: Annotated[WatchlistChange, Body()],
    watchlists: WatchlistsDep,
) -> Response:
    """Replace the given fields. A new schedule starts now. 修改监控清单."""
    fields = body.to_fields()
    record_parameters(request.scope, {"name": name, **fields})
    return success_response(request.scope, watchlists.change(name, fields))


@router.get(
    PATH,
    summary="List watchlists",
    responses=responses.read_responses(schemas.WatchlistList, "Watchlists", *_LIST_ERRORS),
)
def sametrack_watchlists(request: Request, watchlists: WatchlistsDep) -> Response:
    """Return all watchlists with their last run and next due time. 监控清单列表."""
    return conditional_response(request.scope, watchlists.listed())


@router.get(
    _ONE,
    summary="Get a watchlist",
    responses=responses.read_responses(schemas.WatchlistDocument, "Watchlist", *_ERRORS),
)
def sametrack_watchlist(
    request: Request, name: WatchlistName, watchlists: WatchlistsDep
) -> Response:
    """Return a watchlist. 查询监控清单."""
    record_parameters(request.scope, {"name": name})
    return conditional_response(request.scope, watchlists.read(name))


@router.delete(
    _ONE,
    summary="Delete a watchlist",
    responses=responses.action_responses(schemas.WatchlistDeleted, "Deleted watchlist", *_ERRORS),
)
def sametrack_watchlist_delete(
    request: Request, name: WatchlistName, watchlists: WatchlistsDep
) -> Response:
    """Delete a watchlist and its runs. Observations are kept. 删除监控清单."""
    record_parameters(request.scope, {"name": name})
    return success_response(request.scope, watchlists.delete(name))


@router.post(
    f"{_ONE}/runs",
    summary="Run a watchlist now",
    responses=responses.action_responses(schemas.WatchRunDetail, "Started or joined run", *_ERRORS),
)
def sametrack_watchlist_run(
    request: Request, name: WatchlistName, watchlists: WatchlistsDep
) -> Response:
    """Request a run now, or return the run in progress. 立即执行监控清单.

    The orchestrator's sensor starts it within half a minute.
    """
    record_parameters(request.scope, {"name": name})
    return success_response(request.scope, watchlists.run(name, origin="api"))


@router.get(
    f"{_ONE}/runs/{{run_id}}",
    summary="Run of a watchlist",
    responses=responses.read_responses(schemas.WatchRunDetail, "Run", *_ERRORS),
)
def sametrack_watchlist_run_of(
    request: Request, name: WatchlistName, run_id: RunId, watchlists: WatchlistsDep
) -> Response:
    """Return a run with the outcome of each entry and, once finished, its digest. 单次运行详情."""
    record_parameters(request.scope, {"name": name, "run_id": run_id})
    return conditional_response(request.scope, watchlists.run_of(name, run_id))


@router.get(
    f"{_ONE}/runs",
    summary="Runs of a watchlist",
    responses=responses.read_responses(schemas.WatchRunList, "Newest runs", *_ERRORS),
)
def sametrack_watchlist_runs(
    request: Request,
    name: WatchlistName,
    query: Annotated[WatchlistRunsQuery, Query()],
    watchlists: WatchlistsDep,
) -> Response:
    """Return the newest runs with due time and outcome. 监控清单的运行记录."""
    record_parameters(request.scope, {"name": name, **query.model_dump()})
    return conditional_response(request.scope, watchlists.runs(name, limit=query.limit))


@router.get(
    f"{_ONE}/digests",
    summary="Digests of a watchlist",
    responses=responses.read_responses(schemas.WatchDigestList, "Newest digests", *_ERRORS),
)
def sametrack_watchlist_digests(
    request: Request,
    name: WatchlistName,
    query: Annotated[WatchlistRunsQuery, Query()],
    watchlists: WatchlistsDep,
) -> Response:
    """Return the changes per entry with their numbers, newest first. 监控清单摘要."""
    record_parameters(request.scope, {"name": name, **query.model_dump()})
    return conditional_response(request.scope, watchlists.digests(name, limit=query.limit))


_CHANNEL = f"{ALERTS_PATH}/{{name}}"
ChannelName = Annotated[str, Path(description="name of a channel. 渠道名称")]


async def _alert_service(sources: SourcesDep) -> AlertService:
    return built_from(
        sources,
        lambda chosen: AlertService(
            chosen.control,
            sender=AlertSender(networks=chosen.settings.alert_networks),
            is_demo=chosen.is_demo,
        ),
    )


AlertsDep = Annotated[AlertService, Depends(_alert_service)]


@router.get(
    ALERTS_PATH,
    summary="List alert channels",
    responses=responses.read_responses(schemas.AlertChannelList, "Channels", *_LIST_ERRORS),
)
def sametrack_alert_channels(request: Request, alerts: AlertsDep) -> Response:
    """Return all channels with their newest test, without their URLs. 提醒渠道列表."""
    return conditional_response(request.scope, alerts.listed())


@router.post(
    ALERTS_PATH,
    summary="Create an alert channel",
    responses=responses.action_responses(
        schemas.AlertChannelDocument,
        "New channel",
        *responses.BODY_ERRORS,
        *responses.STORE_ERRORS,
    ),
)
def sametrack_alert_channel_create(
    request: Request, body: Annotated[AlertChannelBody, Body()], alerts: AlertsDep
) -> Response:
    """Create a channel that messages about runs go to. Nothing is sent yet. 创建提醒渠道."""
    record_parameters(request.scope, {"name": body.name, "language": body.language})
    channel = alerts.create(body.name, body.url.get_secret_value(), body.language)
    return success_response(request.scope, channel)


@router.post(
    f"{_CHANNEL}/test",
    summary="Test an alert channel",
    responses=responses.action_responses(
        schemas.AlertChannelDocument, "Channel with the outcome", *_ERRORS
    ),
)
def sametrack_alert_channel_test(
    request: Request, name: ChannelName, alerts: AlertsDep
) -> Response:
    """Send a test message and return how it ended. 发送测试消息."""
    record_parameters(request.scope, {"name": name})
    return success_response(request.scope, alerts.test(name))


@router.delete(
    _CHANNEL,
    summary="Delete an alert channel",
    responses=responses.action_responses(schemas.AlertChannelDeleted, "Deleted channel", *_ERRORS),
)
def sametrack_alert_channel_delete(
    request: Request, name: ChannelName, alerts: AlertsDep
) -> Response:
    """Delete a channel, and what waits to be sent to it. 删除提醒渠道."""
    record_parameters(request.scope, {"name": name})
    return success_response(request.scope, alerts.delete(name))
