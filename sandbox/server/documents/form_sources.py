"""Where each form that the sandbox serves is publicly known from: a recorded body, or its readers.

A surface names its source in `Surface.source`, a builder of documents in `@form`, and a fault in
`FAULT_SOURCES` of `faults.py`. What only the sandbox has is `OWN`.
"""

from collections.abc import Callable

OWN = "own"
SHARE_PAGE = "share page recorded on 2025-11-03, nichuanfang/gymdl; wujunwei928/parse-video"
CLIENT_PAGE = "share page of 2026-08 and its item info, wujunwei928/parse-video PR 106"
DESKTOP_DETAIL = "app.videoDetail of a desktop page, jiuhunwl/short_videos, 2026-09"
DESKTOP_ROUTE = "C_14.aweme.detail of a desktop page, readers of 2021 to 2023; Johnserf-Seed/f2"
DESKTOP_STREAM = "__pace_f of a desktop page with aweme.detail, public readers and tests of 2026"
DETAIL = "detail bodies of 2026-08, sokoko-org/nonebot-plugin-parser-lite"
SLIDES = "slides info of 2026-08, wujunwei928/parse-video-py PR 95"
FILTERED = "filter lists and details, wujunwei928/parse-video; parse-video-py PR 95"
WEB_LISTS = "types of recorded answers of 2026-09, ikenxuan/amagi"
ROUNDED_COUNTS = "counts as texts with a unit (1.2万), public readers of pages and app screens"
TRENDS = "trends list with complete items, a public collector of 2026 by music or trends id"
SEARCH = "guest search, NanmiCoder/MediaCrawler"
MUSIC_SERVICE = "public track and list pages with _ROUTER_DATA, several public readers of 2026"
CHART = "rank/vol and rank/song with a recorded rank/list, lyswhut/lx-music-desktop"
CHART_PAGES = "rank/info and rank pages, lyswhut/lx-music-desktop"
REFUSALS = "wujunwei928/parse-video issue 98; vacacia/astrbot_plugin_link_resolver issue 23"
JSON_REFUSALS = "status codes, ikenxuan/amagi; wujunwei928/parse-video PR 106"
SHORT_LINKS = "short and share links, wujunwei928/parse-video"
ROBOTS = "robots.txt, RFC 9309"

FORMS: dict[str, str] = {}
"""Source of each builder of documents, by its qualified name."""


def form[**P, R](source: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Register the source of the form that a function builds."""

    def register(build: Callable[P, R]) -> Callable[P, R]:
        FORMS[f"{build.__module__}.{build.__qualname__}"] = source
        return build

    return register
