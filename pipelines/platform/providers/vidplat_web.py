"""Provider `vidplat-web` (experimental): the desktop surfaces beside those of `vidplat-public`.

It computes no signature and solves no challenge. The operator's own cookie is sent only in the
header of requests to the platform's web host. It appears in no settings dump, error or URL; it is
removed from bodies that repeat it, since bodies are archived. What the web host sets in return
belongs to the operator's session, too: no host is sent it.
"""

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from http.cookiejar import Cookie, DefaultCookiePolicy
from typing import override
from urllib.parse import quote, unquote, urlsplit
from urllib.request import Request

import httpx2
from pydantic import SecretStr

from pipelines.platform.call_trace import HttpResponse, open_call_trace
from pipelines.platform.http.client import GuestClient, HttpLimits, HttpRequest
from pipelines.platform.http.host_policy import HostPolicy
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.platform.providers.vidplat_public import VidplatPublic

MIN_SECRET_LENGTH = 6
"""A shorter value is no secret, and would occur in every text by chance."""
RENEWED_KEPT = 64
"""More than the cookies of one session, in several answers that are under way."""
_REMOVED = b"-removed-"


def build(name: str, dependencies: ProviderDependencies) -> VidplatPublic:
    """Build the source, with the operator's cookie if one is set."""
    cookie = dependencies.settings.vidplat_cookie
    if cookie is None:
        return VidplatPublic(dependencies.guest(), name=name, is_web=True)
    client = CookieClient(
        dependencies.profile,
        # never revalidate what an account sees
        replace(dependencies, engine=None).host_policy(),
        cookie=cookie,
        limits=dependencies.limits,
    )
    return VidplatPublic(client, name=name, is_web=True)


class GuestCookies(DefaultCookiePolicy):
    """Keeps the cookies that a guest is given, but none that the web host sets.

    `renewed` are the latest of its values that take the place of one of the operator's.
    """

    def __init__(self, web: str, cookie: SecretStr) -> None:
        super().__init__()
        self.renewed: deque[SecretStr] = deque(maxlen=RENEWED_KEPT)
        self._web = web
        self._names = {name for name, _ in _pairs(cookie)}

    @override
    def set_ok(self, cookie: Cookie, request: Request) -> bool:
        if urlsplit(request.full_url).hostname != self._web:
            return super().set_ok(cookie, request)
        # The session is the operator's: its renewed values are noted as secrets, and not sent.
        renewed = SecretStr(f"{cookie.name}={cookie.value}")
        if cookie.name in self._names and renewed not in self.renewed:
            self.renewed.append(renewed)
        return False


class CookieClient(GuestClient):
    """`GuestClient` that sends a cookie to the profile's web host."""

    def __init__(
        self,
        profile: PlatformProfile,
        policy: HostPolicy,
        *,
        cookie: SecretStr,
        limits: HttpLimits | None = None,
    ) -> None:
        super().__init__(profile, policy, limits=limits)
        self._cookie = cookie
        self._client.event_hooks = {"request": [self._add_cookie]}
        self._guest_cookies = GuestCookies(profile.hosts.web, cookie)
        self._client.cookies.jar.set_policy(self._guest_cookies)

    async def fetch(self, request: HttpRequest) -> HttpResponse:
        """Read a page or a JSON body, with values of the cookie removed."""
        with open_call_trace() as call_trace:
            response = await super().fetch(request)
            for cookie in (self._cookie, *self._guest_cookies.renewed):
                response = replace(response, body=without_secrets(response.body, cookie))
            call_trace.last = response
        return response

    async def _add_cookie(self, request: httpx2.Request) -> None:
        """Add the cookie for the web host; called for each request, redirects included."""
        web = self.profile.hosts.web
        scheme, _ = self.profile.scheme_and_port(web)
        if (request.url.scheme, request.url.host) == (scheme, web):
            request.headers["Cookie"] = self._cookie.get_secret_value()


def without_secrets(body: bytes, cookie: SecretStr) -> bytes:
    """Return a body without the values of a cookie, in any encoding."""
    for value in (cookie.get_secret_value(), *(value for _, value in _pairs(cookie))):
        # Pages repeat cookies in JSON and in URLs, with each of the usual escapes.
        for plain in (value, unquote(value)):
            if len(plain) >= MIN_SECRET_LENGTH:
                for form in _forms(plain):
                    body = body.replace(form.encode(), _REMOVED)
    return body


def _pairs(cookie: SecretStr) -> Iterator[tuple[str, str]]:
    """Yield name and value of each part of a cookie."""
    for pair in cookie.get_secret_value().split(";"):
        name, _, value = pair.partition("=")
        yield name.strip(), value.strip()


def _forms(text: str) -> list[str]:
    """Return a text as it is and in JSON, with each form of a slash, all of them in a URL, too."""
    escaped = json.dumps(text)[1:-1]
    forms = [text, *(escaped.replace("/", slash) for slash in ("/", r"\/", r"\u002F", r"\u002f"))]
    return [*forms, *(quote(form, safe="") for form in forms)]
