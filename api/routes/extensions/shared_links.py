"""Read-only links: create, list and revoke. Their pages are served by `api/server/access`."""

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Path, Query, Request
from starlette.responses import Response

from api.params.shared_links import SharedLinkBody, SharedLinksQuery
from api.responses.envelope import record_parameters, success_response
from api.routes.dependencies import SharedLinksDep, check_query
from api.schemas import responses
from api.schemas.extensions import shared_links as schemas
from api.server.access.policy import Caller
from api.server.json_body import JsonRoute
from api.services.shared_links import PATH

router = APIRouter(tags=["Sametrack"], route_class=JsonRoute, dependencies=[Depends(check_query)])

LinkId = Annotated[str, Path(description="`link_id` of a read-only link. 只读链接的 ID")]


@router.post(
    PATH,
    summary="Create a read-only link",
    responses=responses.action_responses(
        schemas.SharedLinkDocument,
        "New link",
        *responses.BODY_ERRORS,
        "job_not_found",
        "not_found",
        *responses.STORE_ERRORS,
    ),
)
def sametrack_shared_create(
    request: Request, body: Annotated[SharedLinkBody, Body()], links: SharedLinksDep
) -> Response:
    """Create the address of a page for readers without a token. 创建只读链接.

    It shows the report of a job, which is kept until the link ends, or the page of a track as it is
    stored when it is opened.
    """
    record_parameters(request.scope, body.model_dump())
    caller: Caller | None = getattr(request.state, "caller", None)
    created_by = None if caller is None else caller.name or caller.role.word
    link = links.create(body.kind, body.id, days=body.days, created_by=created_by)
    return success_response(request.scope, link)


# Not a conditional read: the answer holds addresses that open without a token.
@router.get(
    PATH,
    summary="List read-only links",
    responses=responses.action_responses(
        schemas.SharedLinkList, "Valid links", "invalid_parameter", *responses.READ_ERRORS
    ),
)
def sametrack_shared_list(
    request: Request, query: Annotated[SharedLinksQuery, Query()], links: SharedLinksDep
) -> Response:
    """Return the valid links: who created them, until when, their last use. 只读链接列表."""
    record_parameters(request.scope, query.model_dump(exclude_none=True))
    return success_response(request.scope, links.listed(query.kind, query.id))


@router.delete(
    f"{PATH}/{{link_id}}",
    summary="Revoke a read-only link",
    responses=responses.action_responses(
        schemas.SharedLinkRevoked, "Revoked link", *responses.READ_ERRORS, "not_found"
    ),
)
def sametrack_shared_revoke(request: Request, link_id: LinkId, links: SharedLinksDep) -> Response:
    """End a link at once. Its address then shows what an unknown one shows. 撤销只读链接."""
    record_parameters(request.scope, {"link_id": link_id})
    return success_response(request.scope, links.revoke(link_id))
