"""How the platform treats this visitor: its User-Agent, and the Referer of its requests.

Run after a round of probes, and only where one of them was refused: a page without data or with
`isSpider` is read again in the local Chromium, a sound that was refused (403) is requested again
with other addresses that were really read, and without a Referer. Nothing is invented or stored.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

from pipelines.doctor.documents import CheckResult
from pipelines.doctor.probes.table import ProbeReader, read_sound_head
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.platform.sources.planner import SurfaceReader
from pipelines.platform.sources.table import SourceRequest, read_video_page
from warehouse.extras import missing_libraries
from warehouse.records.errors import ProviderUnsupportedError, SametrackError, UpstreamError
from warehouse.records.health import SurfaceHealth
from warehouse.records.videos import Video

PAGE = "video_page"
MEDIA = "media"
_IS_SPIDER = re.compile(rb'"isSpider"\s*:\s*(true|false)')
_STATUS_403 = f"status {HTTPStatus.FORBIDDEN.value}"


@dataclass(frozen=True, slots=True)
class PageView:
    """Result of reading a page: whether it had data, `isSpider` if it says so, or the refusal."""

    has_data: bool
    is_spider: bool | None = None
    refusal: str | None = None

    def describe(self) -> str:
        """Return it in words."""
        if self.refusal is not None:
            return f"was refused ({self.refusal})"
        crawler = ", and was taken for a crawler (`isSpider` is true)" if self.is_spider else ""
        return f"{'got the page' if self.has_data else 'got a page without data'}{crawler}"


def is_spider_in(body: bytes) -> bool | None:
    """Return the value of `isSpider` in a page; None if the page has none."""
    match = _IS_SPIDER.search(body)
    return None if match is None else match[1] == b"true"


def judge_page(plain: PageView, browser: PageView | None) -> CheckResult:
    """Judge how a page responds to our own request, compared with the local Chromium.

    Args:
        plain: Result of our own request.
        browser: Result in Chromium, or None if it was not used.
    """
    name = "user agent"
    if plain.has_data and not plain.is_spider:
        return CheckResult(name, "ok", "pages answer its own requests with data")
    says = f"our own request {plain.describe()}"
    if browser is None:
        advice = "install Chromium (`make setup-browser`) to see whether a browser gets more"
        return CheckResult(name, "warn", f"{says}; no Chromium to compare with", advice)
    says = f"{says}; the local Chromium {browser.describe()}"
    if browser.has_data:
        advice = "set DATA_PROVIDER=browser-public; the User-Agent stays honest"
    elif browser.refusal is None:
        advice = "nothing to do: the User-Agent is not the cause; scans read `slides_info` instead"
    else:
        advice = "wait some hours, or use another network: a browser is refused, too"
    return CheckResult(name, "warn", says, advice)


def judge_referers(accepted: Mapping[str, bool]) -> CheckResult:
    """Judge which kinds of Referer a media host accepts: `page`, `document` (JSON) and `none`."""
    words = {"page": "the address of a page", "document": "that of a JSON document", "none": "none"}
    parts = [f"{words[kind]}: {'works' if fine else '403'}" for kind, fine in accepted.items()]
    says = f"sounds by the Referer that is sent: {'; '.join(parts)}"
    if not any(accepted.values()):
        advice = "the Referer is not the cause: wait some hours, or use another network or video"
    elif accepted.get("page"):
        advice = "only what pages name can be heard: set DATA_PROVIDER=browser-public"
    else:
        advice = "report this: the host refuses the address that was really read"
    return CheckResult("referer", "warn", says, advice)


def referer_kind(address: str | None, profile: PlatformProfile) -> str:
    """Return the kind of a Referer: `none`, `document` for a JSON surface, else `page`."""
    if address is None:
        return "none"
    paths = profile.paths.model_dump().values()
    return "document" if urlsplit(address).path in paths else "page"


async def compare_page(
    health: SurfaceHealth,
    bodies: Mapping[str, tuple[bytes, str | None]],
    dependencies: ProviderDependencies,
) -> CheckResult | None:
    """Compare a probed page with what Chromium gets; None if the page was not requested."""
    if health.outcome == "not_asked" or health.entity_id is None:
        return None
    # How our own request was treated, from the body that the probe kept.
    body, _ = bodies.get(health.payload_sha256 or "", (b"", None))
    is_refused = health.is_broken and health.error_type != "upstream_page_without_data"
    plain = PageView(
        health.outcome == "works", is_spider_in(body), health.reason if is_refused else None
    )
    # A browser is started only if it may get more, and if there is one.
    if plain.has_data and not plain.is_spider:
        return judge_page(plain, None)
    if missing_libraries("browser"):
        return judge_page(plain, None)
    from pipelines.platform.providers import browser_public  # noqa: PLC0415  # an extra

    try:
        client = browser_public.open_browser_client(dependencies)
    except ProviderUnsupportedError:
        return judge_page(plain, None)
    request = SourceRequest(entity_id=health.entity_id)
    async with client:
        try:
            reading = await read_video_page(SurfaceReader(client), request)
        except UpstreamError as error:
            is_empty = error.type == "upstream_page_without_data"
            return judge_page(plain, PageView(False, None, None if is_empty else error.reason))
    has_data = isinstance(reading.value, Video)
    return judge_page(plain, PageView(has_data, is_spider_in(reading.payload)))


async def compare_referers(reader: ProbeReader, url: str) -> CheckResult:
    """Request a refused sound with each kind of Referer that was really read, and without one."""
    # One address of each kind, the sound's own first.
    own = reader.sound_pages.get(url)
    by_kind = {referer_kind(own, reader.profile): own}
    for address in (*reader.sound_pages.values(), None):
        by_kind.setdefault(referer_kind(address, reader.profile), address)
    accepted = {}
    for kind, address in by_kind.items():
        try:
            await read_sound_head(reader.client, url, referer=address)
        except SametrackError:
            accepted[kind] = False
        else:
            accepted[kind] = True
    return judge_referers(accepted)


def is_refused_sound(health: SurfaceHealth) -> bool:
    """Return True for a sound that its host refused."""
    return health.surface == MEDIA and (
        health.http_status == HTTPStatus.FORBIDDEN or health.reason == _STATUS_403
    )
