"""HTTP client with the operator's own cookie, which goes to one host and stays out of all data.

It is sent only in the header of requests to the platform's web host. It appears in no settings
dump, error or URL; it is removed from bodies that repeat it, since bodies are archived.
"""

import json
from dataclasses import replace
from urllib.parse import quote

import httpx2
from pydantic import SecretStr

from pipelines.platform.call_trace import Answer, open_trail
from pipelines.platform.http.client import Ask, GuestClient, HttpLimits
from pipelines.platform.http.host_policy import Manners
from pipelines.platform.http.politeness import Turns
from pipelines.platform.profiles import Profile

SHORTEST_SECRET = 6
"""A shorter value is no secret, and would occur in every text by chance."""
_REMOVED = b"-removed-"


class CookieClient(GuestClient):
    """`GuestClient` that sends a cookie to the profile's web host."""

    def __init__(
        self,
        profile: Profile,
        turns: Turns,
        *,
        cookie: SecretStr,
        limits: HttpLimits | None = None,
        manners: Manners | None = None,
    ) -> None:
        super().__init__(profile, turns, limits=limits, manners=manners)
        self._cookie = cookie
        self._client.event_hooks = {"request": [self._show]}

    async def fetch(self, ask: Ask) -> Answer:
        """Read a page or a JSON body, with values of the cookie removed."""
        with open_trail() as trail:
            answer = await super().fetch(ask)
            answer = replace(answer, body=without_secrets(answer.body, self._cookie))
            trail.last = answer
        return answer

    async def _show(self, request: httpx2.Request) -> None:
        """Add the cookie; called for each request, redirects included."""
        web = self.profile.hosts.web
        if request.url.host == web and request.url.scheme == self.profile.scheme_of(web):
            request.headers["Cookie"] = self._cookie.get_secret_value()


def without_secrets(body: bytes, cookie: SecretStr) -> bytes:
    """Return a body without the values of a cookie, in any encoding."""
    text = cookie.get_secret_value()
    values = [pair.partition("=")[2].strip() for pair in text.split(";")]
    for value in (text, *values):
        if len(value) >= SHORTEST_SECRET:
            for form in (value, json.dumps(value)[1:-1], quote(value, safe="")):
                body = body.replace(form.encode(), _REMOVED)
    return body
