"""The operator's own cookie: a client that shows it to one host and keeps it out of all answers.

It travels in the header of requests to the platform's web host alone. It is in no setting's text,
no error and no address; a body that repeats it comes without it, since bodies are kept.
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
"""A shorter value is no secret, and would be found in every text."""
_REMOVED = b"-removed-"


class CookieClient(GuestClient):
    """A `GuestClient` that shows a cookie to the profile's web host."""

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
        """Read a page or a JSON body; what it repeats of the cookie is taken out."""
        with open_trail() as trail:
            answer = await super().fetch(ask)
            answer = replace(answer, body=without_secrets(answer.body, self._cookie))
            trail.last = answer
        return answer

    async def _show(self, request: httpx2.Request) -> None:
        """Called for each request as it leaves, redirects included."""
        web = self.profile.hosts.web
        if request.url.host == web and request.url.scheme == self.profile.scheme_of(web):
            request.headers["Cookie"] = self._cookie.get_secret_value()


def without_secrets(body: bytes, cookie: SecretStr) -> bytes:
    """A body without the values of a cookie, however they are written."""
    text = cookie.get_secret_value()
    values = [pair.partition("=")[2].strip() for pair in text.split(";")]
    for value in (text, *values):
        if len(value) >= SHORTEST_SECRET:
            for form in (value, json.dumps(value)[1:-1], quote(value, safe="")):
                body = body.replace(form.encode(), _REMOVED)
    return body
