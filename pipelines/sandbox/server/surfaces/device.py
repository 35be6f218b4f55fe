"""Control endpoint of the simulated device: faults to inject, and the actions performed on it.

Path `/_world/device`: GET returns, POST sets the given fields, DELETE resets. Hidden from guests.
"""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from pipelines.sandbox.server.device.phone import SimulatedPhone


def routes(phone: SimulatedPhone) -> list[BaseRoute]:
    """The door of one device."""

    async def handle(request: Request) -> Response:
        if request.method == "DELETE":
            phone.restore()
        elif request.method == "POST":
            try:
                phone.script.change(**await request.json())
            except (TypeError, ValueError) as exc:
                return JSONResponse({"error": str(exc)}, status_code=400)
        return JSONResponse({"serial": phone.serial, "log": phone.log.to_document()})

    return [Route("/_world/device", handle, methods=["GET", "POST", "DELETE"], name="control")]
