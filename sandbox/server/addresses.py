"""Every host name and URL of the sandbox, in one place.

The names are those of the `sandbox` platform profile. Surfaces never write an address themselves.
"""

from dataclasses import dataclass
from typing import Literal

DOMAIN = "vidplat.localhost"
WEB = f"www.{DOMAIN}"
SHARE = f"share.{DOMAIN}"
MOBILE = f"m.{DOMAIN}"
FEATURED = f"featured.{DOMAIN}"
SHORT = f"v.{DOMAIN}"
MEDIA = f"media.{DOMAIN}"
PLAY = f"play.{DOMAIN}"
OVERSEAS = f"overseas.{DOMAIN}"
MUSIC = f"music.{DOMAIN}"
"""Pages of the platform's music service."""
MUSIC_SHORT = f"songs.{DOMAIN}"
"""Older short links of the music service; newer ones are on `SHORT`."""
CDN_DOMAIN = "cdnplat.localhost"
OTHER_MEDIA = f"v3.{CDN_DOMAIN}"
"""A second media host, outside of the platform's domain."""
PAGE_SCRIPTS = f"scripts.{CDN_DOMAIN}"
PAGE_STYLES = f"styles.{CDN_DOMAIN}"
"""Where the files of pages are under `page_scripts_elsewhere`; no profile lists the second."""
CHART_DOMAIN = "chartsrc.localhost"
CHART = f"chart.{CHART_DOMAIN}"
CHART_MOBILE = f"m.{CHART_DOMAIN}"
CHART_WEB = f"www.{CHART_DOMAIN}"
CHART_OLD = f"old.{CHART_DOMAIN}"
FOREIGN = "elsewhere.example"
"""Target of the short link that leaves the platform; never contacted."""

GONE_MARK = "web_video_404_link"
"""What the page for deleted videos names as the page before it."""
PAGE_HOSTS = (WEB, SHARE, MOBILE, FEATURED, MUSIC)
"""Hosts with pages that show media."""

LinkKind = Literal[
    "video", "music", "user", "hashtag", "music_query", "modal", "trends", "track", "odd"
]  # fmt: skip
"""Target of a short link; `music_query` has the id in the query, `modal` is a desktop page, `track`
a page of the music service."""

_DIGITS = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_LETTERS: dict[LinkKind, str] = {
    "video": "i", "music": "m", "user": "u", "hashtag": "h", "music_query": "n", "modal": "d",
    "trends": "t", "track": "s", "odd": "x",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SandboxUrls:
    """URLs of a server on a port."""

    port: int

    def on(self, host: str, path: str) -> str:
        """Return the URL of a path on one of the hosts."""
        return f"http://{host}:{self.port}{path}"

    def short_link(self, kind: LinkKind, number: int) -> str:
        """Return the short link of a video, a music id, a hashtag or an account (by its row)."""
        return self.on(SHORT, f"/{to_code(kind, number)}/")

    def play(self, video_id: str) -> str:
        """Return the play URL of a video, which redirects to the media host."""
        return self.on(PLAY, f"/aweme/v1/playwm/?video_id={video_id}&ratio=720p&line=0")

    def gone(self, aweme_id: str) -> str:
        """Return the page for deleted videos, which shows an unrelated one."""
        return self.on(WEB, f"/jingxuan?previous_page={GONE_MARK}&modal_id={aweme_id}")

    def image(self, name: str) -> str:
        """A cover or an avatar."""
        return self.on(MEDIA, f"/img/{name}.png")


def to_code(kind: LinkKind, number: int) -> str:
    """Code of a short link: a letter for the kind, then the number."""
    digits = ""
    while number:
        number, rest = divmod(number, len(_DIGITS))
        digits = _DIGITS[rest] + digits
    return _LETTERS[kind] + digits.rjust(8, "0")


def read_code(code: str) -> tuple[LinkKind, int] | None:
    """Decode a short link's code; None if it is none of ours."""
    kinds = {letter: kind for kind, letter in _LETTERS.items()}
    kind = kinds.get(code[:1])
    if kind is None or not code[1:] or any(digit not in _DIGITS for digit in code[1:]):
        return None
    number = 0
    for digit in code[1:]:
        number = number * len(_DIGITS) + _DIGITS.index(digit)
    return kind, number
