"""Provider `vidplat-web` (experimental): the desktop surfaces beside those of `vidplat-public`.

It computes no signature and solves no challenge. The operator's own cookie is sent only in the
header of requests to the platform's web host. It appears in no settings dump, error or URL; it is
removed from bodies that repeat it, since bodies are archived.
"""

import json
from dataclasses import replace
from urllib.parse import quote

import httpx2
from pydantic import SecretStr

from pipelines.platform.call_trace import HttpResponse, open_call_trace
from pipelines.platform.http.client import GuestClient, HttpLimits, HttpRequest
from pipelines.platform.http.host_policy import HostPolicy
from pipelines.platform.http.rate_limiter import HostRateLimiter
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers.dependencies import ProviderDependencies
from pipelines.platform.providers.vidplat_public import VidplatPublic

MIN_SECRET_LENGTH = 6
"""A shorter value is no secret, and would occur in every text by chance."""
_REMOVED = b"-removed-"


def build_vidplat_web(name: str, dependencies: ProviderDependencies) -> VidplatPublic:
    """Build the source, with the operator's cookie if one is set."""
    cookie = dependencies.settings.vidplat_cookie
    if cookie is None:
        return VidplatPublic(
            dependencies.guest(), name=name, is_web=True, sick_policy=dependencies.sick_policy
        )
    client = CookieClient(
        dependencies.profile,
        dependencies.turns(),
        cookie=cookie,
        limits=dependencies.limits,
        host_policy=replace(
            dependencies, bodies=None
        ).host_policy(),  # never revalidate what an account sees
    )
    return VidplatPublic(client, name=name, is_web=True, sick_policy=dependencies.sick_policy)


class CookieClient(GuestClient):
    """`GuestClient` that sends a cookie to the profile's web host."""

    def __init__(
        self,
        profile: PlatformProfile,
        turns: HostRateLimiter,
        *,
        cookie: SecretStr,
        limits: HttpLimits | None = None,
        host_policy: HostPolicy | None = None,
    ) -> None:
        super().__init__(profile, turns, limits=limits, host_policy=host_policy)
        self._cookie = cookie
        self._client.event_hooks = {"request": [self._show]}

    async def fetch(self, ask: HttpRequest) -> HttpResponse:
        """Read a page or a JSON body, with values of the cookie removed."""
        with open_call_trace() as call_trace:
            answer = await super().fetch(ask)
            answer = replace(answer, body=without_secrets(answer.body, self._cookie))
            call_trace.last = answer
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
        if len(value) >= MIN_SECRET_LENGTH:
            for form in (value, json.dumps(value)[1:-1], quote(value, safe="")):
                body = body.replace(form.encode(), _REMOVED)
    return body
