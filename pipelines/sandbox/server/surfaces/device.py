"""The world's own door to the stand-in device: what is to go wrong on it, and what was done.

Path `/_world/device`: GET tells, POST sets what is given, DELETE restores. No guest sees it.
"""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from pipelines.sandbox.server.device.phone import StandInPhone


def routes(phone: StandInPhone) -> list[BaseRoute]:
    """The door of one device."""

    async def door(request: Request) -> Response:
        if request.method == "DELETE":
            phone.restore()
        elif request.method == "POST":
            try:
                phone.script.change(**await request.json())
            except (TypeError, ValueError) as exc:
                return JSONResponse({"error": str(exc)}, status_code=400)
        return JSONResponse({"serial": phone.serial, "log": phone.log.to_document()})

    return [Route("/_world/device", door, methods=["GET", "POST", "DELETE"], name="control")]
