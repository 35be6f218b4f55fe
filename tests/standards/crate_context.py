"""Fills the cache of the RO-Crate validator, which otherwise asks a public host for each package.

Runs in the environment of the validator: `python crate_context.py CACHE`. The published context
has thousands of terms; `crate_context.json` has those that data packages use, each with the meaning
that RO-Crate 1.3 gives it. A term that is not there fails the validation, so it is added when a
package begins to use it.
"""

import io
import sys
from pathlib import Path
from typing import override

from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter
from requests_cache import CachedSession
from urllib3 import HTTPResponse

ADDRESS = "https://w3id.org/ro/crate/1.3/context"
CONTEXT = Path(__file__).with_name("crate_context.json")


class FileAdapter(HTTPAdapter):
    """Answers each request with the file; nothing is sent."""

    @override
    def send(self, request: PreparedRequest, *_: object, **__: object) -> Response:
        raw = HTTPResponse(
            body=io.BytesIO(CONTEXT.read_bytes()),
            headers={"Content-Type": "application/ld+json"},
            status=200,
            preload_content=False,
        )
        return self.build_response(request, raw)


def main() -> None:
    """Keep the context as the answer of the public host."""
    session = CachedSession(cache_name=sys.argv[1], backend="sqlite", expire_after=-1)
    session.mount("https://", FileAdapter())
    session.get(ADDRESS, headers={"Accept": "application/ld+json, application/json"})


if __name__ == "__main__":
    main()
