"""What the doctor says of this visitor: its User-Agent, and the Referer of its requests."""

from collections.abc import Mapping

import pytest

from pipelines.doctor.probes.visitor import (
    PageView,
    is_refused_sound,
    is_spider_in,
    judge_page,
    judge_referers,
    referer_kind,
)
from pipelines.platform.profiles import load_profile
from warehouse.records.health import SurfaceHealth
from warehouse.records.times import observed_now

DATA, SHELL = PageView(has_data=True, is_spider=False), PageView(has_data=False)
CRAWLER = PageView(has_data=False, is_spider=True)
REFUSED = PageView(has_data=False, refusal="status 403")


@pytest.mark.parametrize(
    ("plain", "browser", "state", "says", "advice"),
    [
        (DATA, None, "ok", "with data", None),
        (SHELL, None, "warn", "no Chromium to compare with", "install Chromium"),
        (CRAWLER, DATA, "warn", "taken for a crawler (`isSpider` is true)", "browser-public"),
        (SHELL, DATA, "warn", "the local Chromium got the page", "browser-public"),
        (SHELL, SHELL, "warn", "Chromium got a page without data", "is not the cause"),
        (REFUSED, REFUSED, "warn", "was refused (status 403)", "another network"),
        (PageView(has_data=True, is_spider=True), DATA, "warn", "crawler", "browser-public"),
    ],
)
def test_own_requests_are_compared_with_those_of_a_browser(
    plain: PageView, browser: PageView | None, state: str, says: str, advice: str | None
) -> None:
    found = judge_page(plain, browser)
    assert (found.name, found.state) == ("user agent", state)
    assert says in found.says
    assert advice is None or advice in (found.advice or "")


@pytest.mark.parametrize(
    ("accepted", "says", "advice"),
    [
        (
            {"document": False, "page": True, "none": False},
            "that of a JSON document: 403; the address of a page: works; none: 403",
            "only what pages name",
        ),
        ({"document": False, "none": True}, "none: works", "report this"),
        ({"document": False, "none": False}, "none: 403", "is not the cause"),
    ],
)
def test_a_refused_sound_is_told_apart_by_the_referer_that_its_host_accepts(
    accepted: Mapping[str, bool], says: str, advice: str
) -> None:
    found = judge_referers(accepted)
    assert (found.name, found.state) == ("referer", "warn")
    assert says in found.says
    assert advice in (found.advice or "")


def test_a_referer_is_the_address_of_a_page_of_a_document_or_none() -> None:
    profile = load_profile("sandbox", sandbox_port=8790)
    page, document = (
        profile.address("video_page", aweme_id="7568123456789012345"),
        f"{profile.address('slides_info')}?aweme_ids=[1]",
    )
    found = [referer_kind(address, profile) for address in (page, document, None)]
    assert found == ["page", "document", "none"]


@pytest.mark.parametrize(
    ("body", "is_spider"),
    [(b'{"isSpider":true}', True), (b'"isSpider": false', False), (b"<html>", None)],
)
def test_a_page_says_whether_it_takes_the_visitor_for_a_crawler(
    body: bytes, is_spider: bool | None
) -> None:
    assert is_spider_in(body) is is_spider


def test_only_a_sound_that_its_host_refused_is_asked_for_again() -> None:
    refused = SurfaceHealth(
        surface="media", outcome="refused", observed_at=observed_now(), reason="status 403"
    )
    expired = SurfaceHealth(
        surface="media", outcome="refused", observed_at=observed_now(), reason="status 410"
    )
    assert [is_refused_sound(health) for health in (refused, expired)] == [True, False]
