"""A bare FastAPI route that answers 27 kB: `python -m benchmarks.load.bare PORT`."""

import sys

import uvicorn
from fastapi import FastAPI
from starlette.responses import Response

BODY = b"x" * 27_000


def main() -> None:
    app = FastAPI()

    @app.get("/")
    async def bare() -> Response:
        return Response(BODY)

    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False)


if __name__ == "__main__":
    main()
