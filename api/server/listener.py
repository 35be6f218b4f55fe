"""How the server listens: the options of uvicorn that every listener passes."""

from collections.abc import Mapping
from typing import Any

from api.settings import ApiSettings

MAX_HEADER_BYTES = 64 * 1024


def server_options(settings: ApiSettings) -> Mapping[str, Any]:
    """Return the options that every listener passes to the server."""
    return {
        "http": "h11",  # the only one with a limit of headers, and no slower with our bodies
        "h11_max_incomplete_event_size": MAX_HEADER_BYTES,
        "timeout_keep_alive": settings.idle_timeout_s,
        "log_level": "warning",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
    }
