"""Fault injection: which requests get a faulty response, and which.

What belongs here: the list of active faults and the bodies of their responses. They are applied in
`gateway.py`.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from sandbox.server.documents import form_sources as forms

FaultKind = Literal[
    "empty", "blocked", "shell", "challenge", "captcha", "argus", "no_container", "403", "404",
    "429", "500", "timeout", "reset",
    "region", "gone", "verify_redirect", "text_body", "wrong_id", "robots_deny",
    "substitution", "slow", "huge",
    "structure", "verify_check", "verify_then_healthy", "login_2483", "nil", "empty_ambiguous",
    "empty_but_more", "stalled_cursor", "no_new_items", "cold_edge", "timestamp_only",
    "chart_status", "chart_errcode", "chart_1002", "res_tag", "overseas", "empty_detail",
    "hit_shark", "antispam_check", "params_check", "invalid_app",
    "status_code_8", "captcha_json", "code_10001010A", "signature_demanded",
]  # fmt: skip
KINDS: tuple[str, ...] = get_args(FaultKind)
FAULT_SOURCES: dict[FaultKind, str] = {
    **dict.fromkeys(
        ("empty", "blocked", "shell", "challenge", "captcha", "argus", "no_container", "403", "404",
         "verify_redirect", "region", "gone", "overseas", "empty_detail"),
        forms.REFUSALS,
    ),
    **dict.fromkeys(
        ("login_2483", "nil", "empty_ambiguous", "verify_check", "verify_then_healthy",
         "hit_shark", "antispam_check", "params_check", "invalid_app"),
        forms.SEARCH,
    ),
    **dict.fromkeys(
        ("status_code_8", "captcha_json", "code_10001010A", "signature_demanded"),
        forms.JSON_REFUSALS,
    ),
    **dict.fromkeys(
        ("text_body", "wrong_id", "cold_edge", "timestamp_only", "chart_status", "chart_errcode",
         "chart_1002", "res_tag"),
        forms.CHART,
    ),
    "stalled_cursor": forms.WEB_LISTS,
    "robots_deny": forms.ROBOTS,
    # Faults of any server, and changes that nobody has seen yet.
    **dict.fromkeys(
        ("429", "500", "timeout", "reset", "slow", "huge", "substitution", "structure",
         "empty_but_more", "no_new_items"),
        forms.OWN,
    ),
}  # fmt: skip
"""Where each fault is publicly known from, see `form_sources.py`."""
CHALLENGES = frozenset({
    "challenge", "captcha", "argus", "captcha_json", "403", "verify_redirect", "verify_check",
    "hit_shark", "antispam_check", "login_2483", "status_code_8",
})  # fmt: skip
"""Kinds that demand a verification or an account: a polite client asks no further."""

SHELL_TEXT = "抱歉出错了 请尝试在应用内观看"
_PADDING = "<!-- " + "shell " * 5000 + "-->"
SHELL_PAGE = (
    "<!doctype html><html><head><title>分享</title></head><body><script>window._SSR_DATA = {};"
    '</script><script>window._ROUTER_DATA = {"loaderData":{"video_layout":null,'
    '"video_(id)\\u002Fpage":{"ua":"","isSpider":false,"abParams":{}}},"errors":null}</script>'
    f'<div class="error">{SHELL_TEXT}</div><script src="/captcha-sdk.js"></script>{_PADDING}'
    "</body></html>"
)
"""What the platform sends instead of data: some 32 KB with the container, without `videoInfoRes`.
Every page has the script tag of the captcha, so it proves nothing."""
CHALLENGE_PAGE = (
    "<html><head><script>document.cookie='__ac_nonce=0655f0e8b00f2;path=/';"
    "/* waf-jschallenge */ location.reload()</script></head><body></body></html>"
)
CAPTCHA_PAGE = (
    "<!doctype html><html><head><title>验证码中间页</title></head><body>"
    '<div id="verify_page"></div></body></html>'
)
ARGUS_PAGE = (
    '<!doctype html><html><head><meta name="argus-csp-token" content="dG9rZW4">'
    "<script>var _$jsvmprt=function(b,e,f){return b};_$jsvmprt('484e4f4a');</script></head>"
    "<body></body></html>"
)
"""An obfuscated script in place of the page. The token alone also stands on healthy pages."""
NO_CONTAINER_PAGE = (
    "<!doctype html><html><head><title>分享</title></head><body>"
    '<div id="root"></div><script src="/captcha-sdk.js"></script></body></html>'
)
MISSING_PAGE = "<html><head><title>404</title></head><body>404</body></html>"
FORBIDDEN_PAGE = "<html><head><title>访问受限</title></head><body>访问受限</body></html>"
DENIED_TEXT = "Access Deny ! No Actions !"
WRONG_ID_TEXT = "You need get the right classid!"
ROBOTS_DENY = "User-agent: *\nDisallow: /\n"
_ROUTE_NAMES = {
    "note_page": "note_(id)/page", "slides_page": "slides_(id)/page",
    "user_page": "user_(id)/page", "music_page": "music_(id)/page",
    "hashtag_page": "challenge_(id)/page",
}  # fmt: skip
_DESKTOP = (
    "<!doctype html><html><head><title>分享</title></head><body>"
    '<script id="RENDER_DATA" type="application/json">%7B%22app%22%3A%7B%7D%7D</script>'
    f'<div class="error">{SHELL_TEXT}</div>{_PADDING}</body></html>'
)


def shell_page(surface: str) -> str:
    """Return the page of a surface without its data."""
    if surface.startswith(("web_", "search_")):
        return _DESKTOP
    key = _ROUTE_NAMES.get(surface, "video_(id)/page")
    return SHELL_PAGE.replace("video_(id)\\u002Fpage", key.replace("/", "\\u002F"))


@dataclass(slots=True, kw_only=True)
class Fault:
    """A fault to inject.

    Attributes:
        surface: Name of the surface, `*` for all.
        kind: Kind of the fault.
        host: Only requests to this host.
        entity: Only requests whose path or query contains this text.
        nth: Number of the first matching request that is affected, from 1.
        times: Number of affected requests; 0 for all that follow.
        retry_after: `Retry-After` of a 429, in seconds.
        seconds: Duration of a timeout or a slow body.
        seen: Matching requests so far.
    """

    surface: str
    kind: FaultKind
    host: str | None = None
    entity: str | None = None
    nth: int = 1
    times: int = 1
    retry_after: float = 1.0
    seconds: float = 60.0
    seen: int = 0

    def matches(self, surface: str, host: str, target: str) -> bool:
        """Return True if the fault applies to a request."""
        return (
            self.surface in ("*", surface)
            and (self.host is None or self.host == host)
            and (self.entity is None or self.entity in target)
        )

    def takes(self) -> bool:
        """Count a matching request; return True if it is affected."""
        self.seen += 1
        past = self.seen - self.nth
        return past >= 0 and (self.times == 0 or past < self.times)


class ActiveFaults:
    """The active faults; the first match applies."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []

    def add(self, fault: Fault) -> None:
        """Activate a fault.

        Raises:
            ValueError: Its kind is unknown or a count is out of range.
        """
        if fault.kind not in KINDS:
            raise ValueError(f"unknown fault {fault.kind!r}; known are {', '.join(KINDS)}")
        if fault.nth < 1 or fault.times < 0:
            raise ValueError("nth must be at least 1 and times at least 0")
        self._faults.append(fault)

    def clear(self) -> None:
        """Remove all faults."""
        self._faults.clear()

    def due(self, surface: str, host: str, target: str) -> Fault | None:
        """Return the fault for this request. Every matching fault counts the request."""
        matching = [fault for fault in self._faults if fault.matches(surface, host, target)]
        struck = [fault for fault in matching if fault.takes()]
        return struck[0] if struck else None

    def __len__(self) -> int:
        return len(self._faults)
